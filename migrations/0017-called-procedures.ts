import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Which active versions call a procedure: whoever changes what it takes or gives must find them, among any number of
 * versions that serve.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A search inside the definitions would read all of them: under row-level security no index of their insides is used.
  await sql`
    CREATE TABLE public.version_calls (
      tenant_id text COLLATE "C" NOT NULL,
      called_key text COLLATE "C" NOT NULL CHECK (char_length(called_key) <= 64),
      version_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, called_key, version_id),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id)
    )`.execute(db)
  await sql`
    CREATE INDEX version_calls_version ON public.version_calls (tenant_id, version_id)`.execute(db)
  await sql`
    ALTER TABLE public.version_calls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.version_calls
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`GRANT SELECT, INSERT, DELETE ON public.version_calls TO stepwarden_app`.execute(db)

  await sql`
    CREATE FUNCTION public.forget_calls() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM public.version_calls WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_forget_calls AFTER UPDATE OF status ON public.procedure_versions
      FOR EACH ROW WHEN (OLD.status = 'active' AND NEW.status <> 'active')
      EXECUTE FUNCTION public.forget_calls()`.execute(db)

  await takeInWhatServes(db)
}

/** The active versions of all tenants. Only without FORCE does their owner see them. */
async function takeInWhatServes(db: Kysely<unknown>): Promise<void> {
  const tables = ['procedure_versions', 'version_calls']
  for (const table of tables) {
    await sql`ALTER TABLE ${sql.table(`public.${table}`)} NO FORCE ROW LEVEL SECURITY`.execute(db)
  }
  // What stands elsewhere under the name `call` is no call, and whoever looks up a key looks at the steps as well.
  await sql`
    INSERT INTO public.version_calls (tenant_id, called_key, version_id)
    SELECT DISTINCT v.tenant_id, c.called #>> '{}', v.id
    FROM public.procedure_versions v
    CROSS JOIN LATERAL jsonb_path_query(v.definition, '$.steps.**.call') AS c (called)
    WHERE v.status = 'active' AND c.called #>> '{}' ~ '^[A-Z][A-Z0-9_]{1,63}$'`.execute(db)
  for (const table of tables) {
    await sql`ALTER TABLE ${sql.table(`public.${table}`)} FORCE ROW LEVEL SECURITY`.execute(db)
  }
}
