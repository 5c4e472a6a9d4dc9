import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Runs that were made elsewhere, told by whoever made them: docs/decisions/0026-outside-executions.md. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.outside_executions (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      success boolean NOT NULL,
      duration_ms bigint NOT NULL CHECK (duration_ms BETWEEN 0 AND 31622400000),
      note text CHECK (length(note) BETWEEN 1 AND 200),
      recorded_by jsonb NOT NULL,
      recorded_at timestamptz(3) NOT NULL,
      idempotency_key text COLLATE "C",
      request_hash text COLLATE "C",
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id),
      CHECK ((idempotency_key IS NULL) = (request_hash IS NULL))
    )`.execute(db)
  // The newest of a version, with all that a record is made of.
  await sql`
    CREATE INDEX outside_executions_version ON public.outside_executions (tenant_id, version_id, id)
      INCLUDE (success, duration_ms)`.execute(db)
  await sql`
    CREATE UNIQUE INDEX outside_executions_idempotency ON public.outside_executions (tenant_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`.execute(db)
  await sql`
    ALTER TABLE public.outside_executions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.outside_executions
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`
    GRANT SELECT, INSERT, UPDATE (note) ON public.outside_executions TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER outside_executions_identity
      BEFORE UPDATE OF tenant_id, id, version_id, success, duration_ms, recorded_by, recorded_at, idempotency_key, request_hash
      ON public.outside_executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What was told of a run made elsewhere never changes.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER outside_executions_note BEFORE UPDATE OF note ON public.outside_executions FOR EACH ROW
      WHEN (NEW.note IS NOT NULL)
      EXECUTE FUNCTION public.refuse('A note is taken away, and never written anew.')`.execute(db)
  await sql`
    CREATE TRIGGER outside_executions_kept BEFORE DELETE OR TRUNCATE ON public.outside_executions
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was told of a run made elsewhere is kept.')`.execute(
    db,
  )
}
