import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What agents and runs have experienced: docs/decisions/0024-learning.md. Nothing here is read by a run, by search or by
 * what activates, and nothing is written with a run: a chore follows the seals.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepExperiences(db)
  await keepVectors(db)
  await keepHolds(db)
  await keepCursors(db)
  await guardExperiences(db)
  await forgetExperiences(db)
  await findTenants(db)
}

async function keepExperiences(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.experiences (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      agent_id text COLLATE "C" NOT NULL CHECK (agent_id <> ''),
      situation text NOT NULL CHECK (situation <> ''),
      -- Of the folded situation.
      situation_hash text COLLATE "C" NOT NULL,
      action_sequence jsonb NOT NULL CHECK (jsonb_array_length(action_sequence) BETWEEN 1 AND 1000),
      action_hash text COLLATE "C" NOT NULL,
      -- Of the tools alone, in their order: what was done, whatever it was done with.
      approach_hash text COLLATE "C" NOT NULL,
      outcome text NOT NULL,
      outcome_type text COLLATE "C" NOT NULL CHECK (outcome_type IN ('success', 'partial_success', 'failure')),
      -- NaN is greater than any number here.
      score double precision NOT NULL DEFAULT 0 CHECK (score >= 0 AND score <= 1),
      scored_by text COLLATE "C" NOT NULL CHECK (scored_by IN ('given', 'heuristic', 'model')),
      tags text[] NOT NULL DEFAULT '{}' CHECK (array_position(tags, NULL) IS NULL),
      session_id text,
      customer_id text,
      execution_id text COLLATE "C",
      recorded_by jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      use_count integer NOT NULL DEFAULT 0 CHECK (use_count >= 0),
      last_used_at timestamptz(3),
      repeat_count integer NOT NULL DEFAULT 0 CHECK (repeat_count >= 0),
      -- The first of those that say the same in almost the same words; only that one is found.
      repeats_id text COLLATE "C" CHECK (repeats_id <> id),
      -- The models that it has vectors of, as a text; another one than is needed: it is to be looked at.
      embedded_with text COLLATE "C" NOT NULL DEFAULT '',
      PRIMARY KEY (tenant_id, id),
      -- Runs alone record themselves.
      CHECK ((agent_id = 'executor') = (execution_id IS NOT NULL))
    ) WITH (fillfactor = 90)`.execute(db)
  await sql`
    CREATE UNIQUE INDEX experiences_same ON public.experiences
      (tenant_id, agent_id, situation_hash, action_hash, outcome_type) WHERE execution_id IS NULL`.execute(
    db,
  )
  await sql`
    CREATE UNIQUE INDEX experiences_execution ON public.experiences (tenant_id, execution_id)
      WHERE execution_id IS NOT NULL`.execute(db)
  await sql`CREATE INDEX experiences_agent ON public.experiences (tenant_id, agent_id, id)`.execute(
    db,
  )
  await sql`
    CREATE INDEX experiences_approach ON public.experiences
      (tenant_id, agent_id, approach_hash, outcome_type, id) WHERE repeats_id IS NULL`.execute(db)
  await sql`
    CREATE INDEX experiences_repeats ON public.experiences (tenant_id, repeats_id)
      WHERE repeats_id IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX experiences_customer ON public.experiences (tenant_id, customer_id)
      WHERE customer_id IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX experiences_embedded ON public.experiences (tenant_id, embedded_with, id)`.execute(
    db,
  )
  // What is pruned is poor.
  await sql`CREATE INDEX experiences_score ON public.experiences (tenant_id, score, id)`.execute(db)
  await sql`CREATE INDEX experiences_tags ON public.experiences USING gin (tags)`.execute(db)
  await ofTenants(db, 'public.experiences')
  await sql`
    GRANT SELECT, DELETE,
      INSERT (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash, approach_hash, outcome,
        outcome_type, score, scored_by, tags, session_id, customer_id, execution_id, recorded_by, created_at),
      UPDATE (use_count, last_used_at, repeat_count, repeats_id, embedded_with)
      ON public.experiences TO stepwarden_app`.execute(db)
}

async function keepVectors(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.experience_embeddings (
      tenant_id text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      experience_id text COLLATE "C" NOT NULL,
      text_hash text COLLATE "C" NOT NULL,
      embedding public.vector NOT NULL CHECK (public.vector_dims(embedding) BETWEEN 1 AND 4096),
      dimensions integer NOT NULL GENERATED ALWAYS AS (public.vector_dims(embedding)) STORED,
      PRIMARY KEY (tenant_id, model, experience_id),
      FOREIGN KEY (tenant_id, experience_id) REFERENCES public.experiences (tenant_id, id) ON DELETE CASCADE,
      FOREIGN KEY (model, dimensions) REFERENCES public.embedding_models (name, dimensions)
    )`.execute(db)
  await sql`
    CREATE INDEX experience_embeddings_experience ON public.experience_embeddings (tenant_id, experience_id)`.execute(
    db,
  )
  await ofTenants(db, 'public.experience_embeddings')
  await sql`GRANT SELECT, INSERT ON public.experience_embeddings TO stepwarden_app`.execute(db)
  // How well an index finds what an exact scan finds. Without a row that says well, nothing is looked for by it.
  await sql`
    CREATE TABLE public.experience_recalls (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      model text COLLATE "C" NOT NULL,
      recall double precision NOT NULL CHECK (recall >= 0 AND recall <= 1),
      sample_count integer NOT NULL CHECK (sample_count >= 1),
      row_count bigint NOT NULL CHECK (row_count >= 0),
      measured_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, model)
    )`.execute(db)
  await ofTenants(db, 'public.experience_recalls')
  await sql`
    GRANT SELECT, INSERT, UPDATE (recall, sample_count, row_count, measured_at)
      ON public.experience_recalls TO stepwarden_app`.execute(db)
}

/** What somebody still needs. Nothing but an erasure deletes an experience that is held. */
async function keepHolds(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.experience_holds (
      tenant_id text COLLATE "C" NOT NULL,
      experience_id text COLLATE "C" NOT NULL,
      -- The id of what needs it, such as a proposal.
      holder_id text COLLATE "C" NOT NULL CHECK (holder_id <> ''),
      PRIMARY KEY (tenant_id, experience_id, holder_id),
      FOREIGN KEY (tenant_id, experience_id) REFERENCES public.experiences (tenant_id, id)
    )`.execute(db)
  await ofTenants(db, 'public.experience_holds')
  await sql`GRANT SELECT, INSERT, DELETE ON public.experience_holds TO stepwarden_app`.execute(db)
}

/** How far the chore has come with the runs of a tenant, and when it has pruned. */
async function keepCursors(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.experience_cursors (
      tenant_id text COLLATE "C" PRIMARY KEY REFERENCES public.tenants (id),
      -- The last sealed record that was looked at.
      seal_number integer NOT NULL DEFAULT 0,
      position integer NOT NULL DEFAULT 0,
      pruned_at timestamptz(3)
    )`.execute(db)
  await ofTenants(db, 'public.experience_cursors')
  await sql`
    GRANT SELECT, INSERT, UPDATE (seal_number, position, pruned_at)
      ON public.experience_cursors TO stepwarden_app`.execute(db)
}

async function guardExperiences(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TRIGGER experiences_identity
      BEFORE UPDATE OF tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash, approach_hash,
        outcome, outcome_type, score, scored_by, tags, session_id, customer_id, execution_id, recorded_by, created_at
      ON public.experiences FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What was experienced never changes, its score included.')`.execute(
    db,
  )
  // Whoever records a run has locked it, and so sees what became of an erasure.
  await sql`
    CREATE FUNCTION public.guard_experience() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
      ) THEN
        PERFORM public.refuse_row('experiences', 'experiences_of_erased', 'restrict_violation',
          'Of a run that was erased nothing is remembered.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER experiences_of_erased BEFORE INSERT ON public.experiences
      FOR EACH ROW WHEN (NEW.execution_id IS NOT NULL) EXECUTE FUNCTION public.guard_experience()`.execute(
    db,
  )
  // When the first of a family goes, the next of it takes its place.
  await sql`
    CREATE FUNCTION public.pass_on_experience() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      next_id text;
    BEGIN
      SELECT min(x.id) INTO next_id FROM public.experiences x
        WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
      IF next_id IS NOT NULL THEN
        UPDATE public.experiences x
          SET repeats_id = CASE WHEN x.id = next_id THEN NULL ELSE next_id END,
            repeat_count = CASE WHEN x.id = next_id THEN x.repeat_count + OLD.repeat_count ELSE x.repeat_count END
          WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER experiences_passed_on AFTER DELETE ON public.experiences
      FOR EACH ROW WHEN (OLD.repeats_id IS NULL) EXECUTE FUNCTION public.pass_on_experience()`.execute(
    db,
  )
}

/** An experience goes with its run, with its customer, and after the time for which its tenant keeps values. */
async function forgetExperiences(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.forget_experiences(of_tenant text, ids text[]) RETURNS integer LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      forgotten integer;
    BEGIN
      DELETE FROM public.experience_holds h WHERE h.tenant_id = of_tenant AND h.experience_id = ANY (ids);
      DELETE FROM public.experiences x WHERE x.tenant_id = of_tenant AND x.id = ANY (ids);
      GET DIAGNOSTICS forgotten = ROW_COUNT;
      RETURN forgotten;
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.forget_experience_of_run() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      PERFORM public.forget_experiences(NEW.tenant_id, ARRAY(
        SELECT x.id FROM public.experiences x
        WHERE x.tenant_id = NEW.tenant_id AND x.execution_id = NEW.execution_id FOR UPDATE));
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER erased_records_forget_experiences AFTER INSERT ON public.erased_records
      FOR EACH ROW EXECUTE FUNCTION public.forget_experience_of_run()`.execute(db)
  await sql`
    CREATE OR REPLACE FUNCTION public.finish_erasure(
      of_erasure text, customer text, event_id text, at timestamptz, actor text, origin text)
      RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
      forgotten integer;
    BEGIN
      SELECT * INTO erasure FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.id = of_erasure AND x.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND OR (erasure.kind = 'customer' AND erasure.customer_digest IS DISTINCT FROM
        encode(sha256(convert_to(erasure.customer_salt || ':' || customer, 'UTF8')), 'hex'))
      THEN
        PERFORM public.refuse_row('erasures', 'erasures_running', 'restrict_violation',
          'Only an erasure that is running can be ended, by naming whom it is about.');
      END IF;
      IF erasure.kind = 'customer' THEN
        DELETE FROM public.limit_counters c
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND c.subject = customer;
        forgotten := public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x
          WHERE x.tenant_id = tenant AND x.customer_id = customer ORDER BY x.id FOR UPDATE));
      ELSE
        DELETE FROM public.limit_counters c USING public.tenants t
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND t.id = tenant
            AND c.starts_at + ('1 ' || c.period)::interval < at - make_interval(days => t.retention_days);
        PERFORM public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x, public.tenants t
          WHERE x.tenant_id = tenant AND x.execution_id IS NULL AND t.id = tenant
            AND x.created_at < at - make_interval(days => t.retention_days) ORDER BY x.id FOR UPDATE OF x));
      END IF;
      UPDATE public.erasures x SET ended_at = at, customer_salt = NULL
        WHERE x.tenant_id = tenant AND x.id = of_erasure;
      IF erasure.kind = 'customer' THEN
        INSERT INTO public.audit_events
          (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
        VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor, 'customer.erased',
          'erasure', of_erasure,
          jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
            'runs', erasure.run_count, 'tickets', erasure.ticket_count, 'experiences', forgotten)::text,
          origin, false);
      END IF;
    END
    $$`.execute(db)
}

/** Which tenants have something to do for the chore: runs to record, vectors to make, and whether pruning is due. */
async function findTenants(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT (tenant_id, seal_number, position) ON public.sealed_records TO stepwarden_system`.execute(
    db,
  )
  await sql`
    GRANT SELECT (tenant_id, id, embedded_with) ON public.experiences TO stepwarden_system`.execute(
    db,
  )
  await sql`GRANT SELECT ON public.experience_cursors TO stepwarden_system`.execute(db)
  for (const table of ['sealed_records', 'experiences', 'experience_cursors']) {
    await sql`
      CREATE POLICY system_rows ON ${sql.table(`public.${table}`)} FOR SELECT TO stepwarden_system
        USING (true)`.execute(db)
  }
  await sql`
    CREATE FUNCTION public.tenants_to_learn(needed text, pruned_before timestamptz)
      RETURNS TABLE (tenant_id text, has_runs boolean, lacks_vectors boolean, is_pruning_due boolean)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT * FROM (
        SELECT t.id,
          EXISTS (
            SELECT FROM public.sealed_records r
            WHERE r.tenant_id = t.id
              AND (r.seal_number, r.position) > (coalesce(c.seal_number, 0), coalesce(c.position, 0))) AS has_runs,
          EXISTS (
            SELECT FROM public.experiences x WHERE x.tenant_id = t.id AND x.embedded_with < needed)
          OR EXISTS (
            SELECT FROM public.experiences x WHERE x.tenant_id = t.id AND x.embedded_with > needed) AS lacks_vectors,
          (c.pruned_at IS NULL OR c.pruned_at < pruned_before)
            AND EXISTS (SELECT FROM public.experiences x WHERE x.tenant_id = t.id) AS is_pruning_due
        FROM public.tenants t LEFT JOIN public.experience_cursors c ON c.tenant_id = t.id
      ) s
      WHERE s.has_runs OR s.lacks_vectors OR s.is_pruning_due
      ORDER BY s.id
    $$`.execute(db)
  await ownedBySystem(db, 'public.tenants_to_learn(text, timestamptz)')
}

async function ofTenants(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON ${sql.table(table)}
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
}

async function ownedBySystem(db: Kysely<unknown>, name: string): Promise<void> {
  const signature = sql.raw(name)
  await sql`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION ${signature} TO stepwarden_app`.execute(db)
  // Last, because from here on only its new owner can grant it.
  await sql`ALTER FUNCTION ${signature} OWNER TO stepwarden_system`.execute(db)
}
