import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Tenants, the function that every guard trigger calls, and the tenant of an installation that needs only one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A guard is a trigger whose WHEN clause names what is forbidden, so it costs nothing when it does not fire, and
  // the error carries the name of the trigger in its `constraint` field.
  await sql`
    CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING
        ERRCODE = 'restrict_violation',
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME,
        CONSTRAINT = TG_NAME,
        MESSAGE = TG_ARGV[0];
    END
    $$`.execute(db)

  await sql`
    CREATE TABLE public.tenants (
      id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
      name text NOT NULL,
      created_at timestamptz(3) NOT NULL
    )`.execute(db)
  await sql`ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.tenants
      USING (id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`GRANT SELECT, INSERT, UPDATE (name) ON public.tenants TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER tenants_identity BEFORE UPDATE OF id, created_at ON public.tenants
      FOR EACH ROW EXECUTE FUNCTION public.refuse('The id of a tenant never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER tenants_kept BEFORE DELETE OR TRUNCATE ON public.tenants
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A tenant is never deleted.')`.execute(db)

  // The policy holds the owner too, so even this row needs its tenant named.
  await sql`SELECT set_config('stepwarden.tenant', 'default', true)`.execute(db)
  await sql`INSERT INTO public.tenants (id, name, created_at) VALUES ('default', 'Default', now())`.execute(
    db,
  )
}
