import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** A switch from one embedding model to another: which one is under way, and what it has still to embed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The state of a switch is this column and the vectors that are there, so that it can be killed at any point.
  await sql`ALTER TABLE public.embedding_models ADD COLUMN switching_since timestamptz(3)`.execute(
    db,
  )
  await sql`
    CREATE UNIQUE INDEX embedding_models_one_switch ON public.embedding_models ((true))
      WHERE switching_since IS NOT NULL`.execute(db)
  await sql`GRANT UPDATE (switching_since) ON public.embedding_models TO stepwarden_app`.execute(db)

  await sql`GRANT SELECT (tenant_id, id, purpose) ON public.procedure_versions TO stepwarden_system`.execute(
    db,
  )
  await sql`
    GRANT SELECT (tenant_id, model, version_id, text_hash) ON public.version_embeddings
      TO stepwarden_system`.execute(db)
  for (const table of ['public.procedure_versions', 'public.version_embeddings']) {
    await sql`
      CREATE POLICY system_rows ON ${sql.table(table)} FOR SELECT TO stepwarden_system USING (true)`.execute(
      db,
    )
  }
  // In the order of the primary key and from a place on, so that a pass over all versions reads each of them once.
  await sql`
    CREATE FUNCTION public.versions_without_vector(
      of_model text, after_tenant text, after_version text, max integer)
      RETURNS TABLE (tenant_id text, version_id text) LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT v.tenant_id, v.id
      FROM public.procedure_versions v
      WHERE (v.tenant_id, v.id) > (after_tenant, after_version)
        AND NOT EXISTS (
          SELECT FROM public.version_embeddings e
          WHERE e.tenant_id = v.tenant_id AND e.model = of_model AND e.version_id = v.id
            AND e.text_hash = encode(sha256(convert_to(v.purpose, 'UTF8')), 'hex'))
      ORDER BY v.tenant_id, v.id
      LIMIT max
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.count_vectors() RETURNS TABLE (model text, count bigint)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT NULL, count(*) FROM public.procedure_versions
      UNION ALL
      SELECT e.model, count(*)
      FROM public.version_embeddings e JOIN public.procedure_versions v
        ON v.tenant_id = e.tenant_id AND v.id = e.version_id
      WHERE e.text_hash = encode(sha256(convert_to(v.purpose, 'UTF8')), 'hex')
      GROUP BY e.model
    $$`.execute(db)
  for (const name of [
    'public.versions_without_vector(text, text, text, integer)',
    'public.count_vectors()',
  ]) {
    const signature = sql.raw(name)
    await sql`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`.execute(db)
    await sql`GRANT EXECUTE ON FUNCTION ${signature} TO stepwarden_app`.execute(db)
    // Last, because from here on only its new owner can grant it.
    await sql`ALTER FUNCTION ${signature} OWNER TO stepwarden_system`.execute(db)
  }
}
