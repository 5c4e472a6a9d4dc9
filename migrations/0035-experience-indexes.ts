import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** An index of experiences is measured once it is made, and now and then: docs/decisions/0027-experience-index.md. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An index that is built anew has other files: what was measured says nothing of it.
  await sql`ALTER TABLE public.experience_recalls ADD COLUMN index_file bigint`.execute(db)
  await sql`GRANT UPDATE (index_file) ON public.experience_recalls TO stepwarden_app`.execute(db)
  // One process measures a tenant; another takes it up when that one has died over it.
  await sql`ALTER TABLE public.experience_cursors ADD COLUMN measuring_since timestamptz(3)`.execute(
    db,
  )
  await sql`GRANT UPDATE (measuring_since) ON public.experience_cursors TO stepwarden_app`.execute(
    db,
  )
  await findTenants(db)
}

/** The tenants of whose experiences more than so many have a vector of a model. It stops counting there. */
async function findTenants(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT (tenant_id, model, experience_id) ON public.experience_embeddings TO stepwarden_system`.execute(
    db,
  )
  await sql`
    CREATE POLICY system_rows ON public.experience_embeddings FOR SELECT TO stepwarden_system
      USING (true)`.execute(db)
  await sql`
    CREATE FUNCTION public.tenants_beyond_scan(of_model text, more_than integer)
      RETURNS TABLE (tenant_id text)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT t.id FROM public.tenants t
      WHERE (
        SELECT count(*) FROM (
          SELECT FROM public.experience_embeddings e
          WHERE e.tenant_id = t.id AND e.model = of_model LIMIT more_than + 1
        ) counted
      ) > more_than
      ORDER BY t.id
    $$`.execute(db)
  await sql`
    REVOKE ALL ON FUNCTION public.tenants_beyond_scan(text, integer) FROM PUBLIC`.execute(db)
  await sql`
    GRANT EXECUTE ON FUNCTION public.tenants_beyond_scan(text, integer) TO stepwarden_app`.execute(
    db,
  )
  // Last, because from here on only its new owner can grant it.
  await sql`
    ALTER FUNCTION public.tenants_beyond_scan(text, integer) OWNER TO stepwarden_system`.execute(db)
}
