import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What the loss of an answer must not do: a worker can ask which executions are its own, and a ticket that fitted nothing
 * is one triage item however often its request is repeated.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.executions_of(own_worker text)
      RETURNS TABLE (tenant_id text, id text, fence bigint) LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT e.tenant_id, e.id, e.fence FROM public.executions e
      WHERE e.worker_id = own_worker AND e.status IN ('pending', 'running')
    $$`.execute(db)
  await sql`REVOKE ALL ON FUNCTION public.executions_of(text) FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION public.executions_of(text) TO stepwarden_app`.execute(db)
  await sql`ALTER FUNCTION public.executions_of(text) OWNER TO stepwarden_system`.execute(db)
  await sql`
    ALTER TABLE public.coverage_gaps
      ADD COLUMN idempotency_key text,
      ADD COLUMN request_hash text,
      ADD CONSTRAINT coverage_gaps_request CHECK ((idempotency_key IS NULL) = (request_hash IS NULL))`.execute(
    db,
  )
  await sql`
    CREATE UNIQUE INDEX coverage_gaps_idempotency ON public.coverage_gaps (tenant_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`.execute(db)
}
