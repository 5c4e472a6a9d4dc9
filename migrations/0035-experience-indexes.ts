import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * An index of experiences is measured once it is made, and now and then; and nobody gains a place by saying the same under
 * many names: docs/decisions/0027-finding-experiences.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepRecalls(db)
  await findTenants(db)
  await keepEchoes(db)
}

async function keepRecalls(db: Kysely<unknown>): Promise<void> {
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

/** Of what one principal has recorded of several agents in almost the same words, only the first is found among those of all. */
async function keepEchoes(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.experiences
      ADD COLUMN echoes_id text COLLATE "C" CONSTRAINT experiences_echoes_other CHECK (echoes_id <> id)`.execute(
    db,
  )
  await sql`GRANT UPDATE (echoes_id) ON public.experiences TO stepwarden_app`.execute(db)
  await sql`
    CREATE INDEX experiences_echoes ON public.experiences (tenant_id, echoes_id)
      WHERE echoes_id IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX experiences_recorder ON public.experiences
      (tenant_id, (recorded_by ->> 'id'), approach_hash, outcome_type, id)
      WHERE repeats_id IS NULL AND echoes_id IS NULL AND execution_id IS NULL`.execute(db)
  // When the first of a family goes, the next of it takes its place, among its own and among all.
  await sql`
    CREATE OR REPLACE FUNCTION public.pass_on_experience() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      next_id text;
      next_echo text;
    BEGIN
      SELECT min(x.id) INTO next_id FROM public.experiences x
        WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
      IF next_id IS NOT NULL THEN
        UPDATE public.experiences x
          SET repeats_id = CASE WHEN x.id = next_id THEN NULL ELSE next_id END,
            echoes_id = CASE WHEN x.id = next_id THEN OLD.echoes_id ELSE x.echoes_id END,
            repeat_count = CASE WHEN x.id = next_id THEN x.repeat_count + OLD.repeat_count ELSE x.repeat_count END
          WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
        UPDATE public.experiences x SET echoes_id = next_id
          WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
        RETURN NULL;
      END IF;
      SELECT min(x.id) INTO next_echo FROM public.experiences x
        WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
      IF next_echo IS NOT NULL THEN
        UPDATE public.experiences x
          SET echoes_id = CASE WHEN x.id = next_echo THEN NULL ELSE next_echo END
          WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
}
