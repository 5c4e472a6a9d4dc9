import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What search reads: the vectors and the issue patterns of the versions that serve, apart from those of all others, so
 * that neither drafts nor history cost it anything.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Search reads one table and one index, so that it needs no join of all that serve, for which the planner, without
  // statistics, would compare every version with every vector.
  await sql`ALTER TABLE public.version_embeddings ADD COLUMN served_in text COLLATE "C"`.execute(db)
  await sql`
    CREATE INDEX version_embeddings_served ON public.version_embeddings (tenant_id, model, served_in)
      WHERE served_in IS NOT NULL`.execute(db)

  // Patterns are looked up by their ends and then compared whole. They are folded by the service, because a database
  // folds by its locale.
  await sql`
    CREATE TABLE public.literal_patterns (
      tenant_id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      position integer NOT NULL CHECK (position >= 1),
      tail text COLLATE "C" NOT NULL CHECK (tail <> ''),
      pattern text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, version_id, position),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id)
    )`.execute(db)
  await sql`
    CREATE INDEX literal_patterns_tail ON public.literal_patterns (tenant_id, tail)`.execute(db)
  await sql`
    ALTER TABLE public.literal_patterns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.literal_patterns
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`GRANT SELECT, INSERT, DELETE ON public.literal_patterns TO stepwarden_app`.execute(db)

  await followStatus(db)
  await takeInWhatServes(db)
}

async function followStatus(db: Kysely<unknown>): Promise<void> {
  // Whatever is written here, the trigger says what it becomes.
  await sql`GRANT UPDATE (served_in) ON public.version_embeddings TO stepwarden_app`.execute(db)
  // The lock on the version orders a vector that is stored and an activation: whichever comes second sees the other.
  await sql`
    CREATE FUNCTION public.serve_vector() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      SELECT CASE WHEN v.status = 'active' AND NOT v.internal THEN v.category END INTO NEW.served_in
      FROM public.procedure_versions v
      WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id
      FOR SHARE;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER version_embeddings_serve BEFORE INSERT OR UPDATE ON public.version_embeddings
      FOR EACH ROW EXECUTE FUNCTION public.serve_vector()`.execute(db)
  await sql`
    CREATE FUNCTION public.serve_version() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- The trigger of the vectors sets the value.
      UPDATE public.version_embeddings SET served_in = NULL
        WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      IF NEW.status <> 'active' THEN
        DELETE FROM public.literal_patterns WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_serve AFTER UPDATE OF status ON public.procedure_versions
      FOR EACH ROW WHEN (NEW.status <> OLD.status)
      EXECUTE FUNCTION public.serve_version()`.execute(db)
}

/** The versions of all tenants that serve already. Only without FORCE does their owner see them. */
async function takeInWhatServes(db: Kysely<unknown>): Promise<void> {
  const tables = ['procedure_versions', 'version_embeddings', 'literal_patterns']
  for (const table of tables) {
    await sql`ALTER TABLE ${sql.table(`public.${table}`)} NO FORCE ROW LEVEL SECURITY`.execute(db)
  }
  await sql`UPDATE public.version_embeddings SET served_in = NULL`.execute(db)
  await sql`
    INSERT INTO public.literal_patterns (tenant_id, version_id, position, tail, pattern)
    SELECT v.tenant_id, v.id, p.position, right(p.folded, CASE WHEN char_length(p.folded) < 8 THEN 4 ELSE 8 END), p.folded
    FROM public.procedure_versions v
    CROSS JOIN LATERAL (
      SELECT position, lower(normalize(btrim(value), NFC)) AS folded
      FROM jsonb_array_elements_text(v.issue_patterns) WITH ORDINALITY AS e (value, position)) p
    WHERE v.status = 'active' AND NOT v.internal AND char_length(p.folded) >= 4`.execute(db)
  for (const table of tables) {
    await sql`ALTER TABLE ${sql.table(`public.${table}`)} FORCE ROW LEVEL SECURITY`.execute(db)
  }
}
