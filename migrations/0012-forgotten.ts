import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Lets a worker ask which executions are its own: it may have lost the answer that said so. */
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
}
