import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What stops a procedure or a tool at once, what activates a version later, and what routing tests are run on.
 * docs/decisions/0013-switches-and-schedules.md says what stands in the rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepSwitches(db)
  await guardStarts(db)
  await holdAfterRestore(db)
  // Times that do not count for what the run may take. Null for all that were never paused.
  await sql`ALTER TABLE public.executions ADD COLUMN pauses jsonb`.execute(db)
  await sql`GRANT UPDATE (pauses) ON public.executions TO stepwarden_app`.execute(db)
  await keepSchedules(db)
  await keepExampleVectors(db)
  // No part of what a version says: it may be moved while the version serves.
  await sql`ALTER TABLE public.procedure_versions ADD COLUMN review_by timestamptz(3)`.execute(db)
  await sql`GRANT UPDATE (review_by) ON public.procedure_versions TO stepwarden_app`.execute(db)
  await sql`
    CREATE INDEX procedure_versions_review_by ON public.procedure_versions (tenant_id, review_by)
      WHERE status = 'active' AND review_by IS NOT NULL`.execute(db)
}

async function keepSwitches(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.kill_switches (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (kind IN ('procedure', 'tool')),
      name text COLLATE "C" NOT NULL,
      reason text NOT NULL CHECK (reason <> ''),
      engaged_by jsonb NOT NULL,
      engaged_at timestamptz(3) NOT NULL,
      lifted_by jsonb,
      lifted_at timestamptz(3),
      -- Whether all that goes on is held or, once it is lifted, all that it held is let go.
      is_settled boolean NOT NULL DEFAULT false,
      PRIMARY KEY (tenant_id, id),
      CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX kill_switches_engaged ON public.kill_switches (tenant_id, kind, name)
      WHERE lifted_at IS NULL`.execute(db)
  await sql`
    CREATE INDEX kill_switches_unsettled ON public.kill_switches (tenant_id, id) WHERE NOT is_settled`.execute(
    db,
  )
  // The executions that a switch holds, and that go on when it is lifted.
  await sql`
    CREATE TABLE public.execution_holds (
      tenant_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      switch_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, execution_id),
      FOREIGN KEY (tenant_id, switch_id) REFERENCES public.kill_switches (tenant_id, id)
    )`.execute(db)
  await sql`
    CREATE INDEX execution_holds_switch ON public.execution_holds (tenant_id, switch_id)`.execute(
    db,
  )
  await ofTenants(db, 'public.kill_switches')
  await ofTenants(db, 'public.execution_holds')
  await sql`
    GRANT SELECT, INSERT, UPDATE (lifted_by, lifted_at, is_settled) ON public.kill_switches TO stepwarden_app`.execute(
    db,
  )
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (switch_id) ON public.execution_holds TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER kill_switches_identity
      BEFORE UPDATE OF tenant_id, id, kind, name, reason, engaged_by, engaged_at ON public.kill_switches
      FOR EACH ROW EXECUTE FUNCTION public.refuse('What was stopped, by whom and why never changes.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER kill_switches_lifted BEFORE UPDATE ON public.kill_switches FOR EACH ROW
      WHEN (OLD.lifted_at IS NOT NULL
        AND (OLD.lifted_at, OLD.lifted_by) IS DISTINCT FROM (NEW.lifted_at, NEW.lifted_by))
      EXECUTE FUNCTION public.refuse('A switch that was lifted stays lifted; engage another one.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER kill_switches_kept BEFORE DELETE OR TRUNCATE ON public.kill_switches
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was stopped once is never forgotten.')`.execute(
    db,
  )
  await sql`
    GRANT SELECT (tenant_id, id, is_settled) ON public.kill_switches TO stepwarden_system`.execute(
    db,
  )
  await sql`
    CREATE POLICY system_rows ON public.kill_switches FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.unsettled_switches(max integer) RETURNS TABLE (tenant_id text, id text)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT k.tenant_id, k.id FROM public.kill_switches k WHERE NOT k.is_settled ORDER BY 1, 2 LIMIT max
    $$`.execute(db)
  await ownedBySystem(db, 'public.unsettled_switches(integer)')
}

/**
 * A start and a switch in the same moment. Every start keeps a lock together with all others, and whoever engages or lifts
 * a switch takes it alone: a start then either is there, to be held, or reads the switch.
 */
async function guardStarts(db: Kysely<unknown>): Promise<void> {
  // The first of those that stop a run of a procedure with these tools, and with those of what it may call.
  await sql`
    CREATE FUNCTION public.stopping_switch(of_tenant text, of_procedure text, contracts jsonb, own_pins jsonb)
      RETURNS text LANGUAGE sql STABLE AS $$
      SELECT k.id FROM public.kill_switches k
      WHERE k.tenant_id = of_tenant AND k.lifted_at IS NULL
        AND CASE k.kind
          WHEN 'procedure' THEN k.name = of_procedure
          ELSE contracts ? k.name OR EXISTS (
            SELECT FROM jsonb_each(own_pins) p
            JOIN public.procedure_versions v ON v.tenant_id = of_tenant AND v.id = p.value ->> 'versionId'
            WHERE v.tool_contracts ? k.name)
        END
      ORDER BY k.engaged_at, k.id
      LIMIT 1
    $$`.execute(db)
  // Each statement of the function sees what was committed when it began, so the second sees whatever the first waited
  // for. That one look-up asks for the version and for any switch at all costs less than two. A run that is called is none
  // that anybody could be told no for: it is stored, and held.
  await sql`
    CREATE OR REPLACE FUNCTION public.guard_execution_start() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      stopped_by text;
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(7355608, hashtext(NEW.tenant_id));
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE ${ofVersion}
          AND NOT EXISTS (
            SELECT FROM public.kill_switches k WHERE k.tenant_id = NEW.tenant_id AND k.lifted_at IS NULL)
      ) THEN
        IF NOT EXISTS (SELECT FROM public.procedure_versions v WHERE ${ofVersion}) THEN
          PERFORM public.refuse_row('executions', 'executions_of_active_version', 'restrict_violation',
            'An execution names an active version by its exact procedure, number and definition hash.');
        END IF;
        stopped_by := public.stopping_switch(NEW.tenant_id, NEW.procedure_key, NEW.tool_contracts,
          CASE WHEN NEW.parent_id IS NULL THEN NEW.pins END);
        IF stopped_by IS NOT NULL AND NEW.parent_id IS NULL THEN
          PERFORM public.refuse_row('executions', 'executions_not_stopped', 'restrict_violation',
            'A procedure that is stopped, or uses a tool that is, cannot be started.');
        END IF;
        IF stopped_by IS NOT NULL THEN
          NEW.status := 'paused';
          NEW.pause_requested_at := clock_timestamp();
          INSERT INTO public.execution_holds (tenant_id, execution_id, switch_id)
            VALUES (NEW.tenant_id, NEW.id, stopped_by) ON CONFLICT DO NOTHING;
        END IF;
      END IF;
      -- A run that is called is of the version that its root has pinned, and hands the same pins on.
      IF NEW.parent_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM public.executions p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.parent_id AND p.ended_at IS NULL
          AND p.pins -> NEW.procedure_key ->> 'versionId' = NEW.version_id
          AND p.pins = NEW.pins
          AND NEW.root_id = coalesce(p.root_id, p.id)
      ) THEN
        PERFORM public.refuse_row('executions', 'executions_of_pinned_version', 'restrict_violation',
          'A called execution is of the version that was pinned when its root was started.');
      END IF;
      IF NEW.durability NOT IN ('effect', 'step') OR NEW.mode NOT IN ('automatic', 'guided')
        OR (NEW.idempotency_key IS NULL) <> (NEW.request_hash IS NULL)
        OR NEW.fence NOT IN (0, 1) OR NEW.take_over_count <> 0
        OR (NEW.parent_id IS NULL) <> (NEW.parent_ordinal IS NULL)
        OR (NEW.parent_id IS NULL) <> (NEW.root_id IS NULL)
        OR (NEW.parent_id IS NULL) <> (NEW.call_path IS NULL)
      THEN
        PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
          'An execution has a known durability and mode, and an idempotency key with the hash of its request.');
      END IF;
      ${soundExecution}
      RETURN NEW;
    END
    $$`.execute(db)
}

/** What holds of the version `v` that a new execution names. */
const ofVersion = sql`
  v.tenant_id = NEW.tenant_id
    AND v.id = NEW.version_id
    AND v.procedure_id = NEW.procedure_id
    AND v.procedure_key = NEW.procedure_key
    AND v.version_number = NEW.version_number
    AND v.definition_hash = NEW.definition_hash
    AND (v.status = 'active' OR (NEW.parent_id IS NOT NULL AND v.status = 'deprecated'))`

/** What holds of every row of executions, whoever writes it. */
const soundExecution = sql`
  IF NEW.status NOT IN ('pending', 'running', 'waiting', 'paused', 'completed', 'escalated', 'cancelled')
    OR (NEW.status = 'completed') <> (NEW.outcome IS NOT NULL)
    OR NEW.outcome NOT IN ('resolved', 'declined')
    OR (NEW.status = 'escalated' AND NEW.reason IS NULL)
    OR (NEW.status IN ('completed', 'escalated', 'cancelled')) <> (NEW.ended_at IS NOT NULL)
  THEN
    PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
      'The status of an execution fits its outcome, its reason and its end.');
  END IF;`

/** After a restore a person looks at every run: none of them may go on because a switch is lifted. */
async function holdAfterRestore(db: Kysely<unknown>): Promise<void> {
  await sql`GRANT DELETE ON public.execution_holds TO stepwarden_system`.execute(db)
  await sql`
    CREATE POLICY system_rows ON public.execution_holds TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`SET LOCAL ROLE stepwarden_system`.execute(db)
  await sql`
    CREATE OR REPLACE FUNCTION public.hold_executions() RETURNS bigint LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE held bigint;
    BEGIN
      UPDATE public.executions e
      SET status = 'paused', pause_requested_at = coalesce(e.pause_requested_at, clock_timestamp()), wake_at = NULL,
        worker_id = NULL, fence = e.fence + 1, revision = e.revision + 1
      WHERE e.ended_at IS NULL AND e.status <> 'paused';
      GET DIAGNOSTICS held = ROW_COUNT;
      DELETE FROM public.execution_holds;
      RETURN held;
    END
    $$`.execute(db)
  await sql`SET LOCAL ROLE stepwarden_owner`.execute(db)
}

async function keepSchedules(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.activation_schedules (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      procedure_id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      -- What whoever scheduled it had seen: the text of the draft, and the version that served.
      revision integer NOT NULL,
      seen_active integer,
      acknowledged jsonb NOT NULL CHECK (jsonb_typeof(acknowledged) = 'array'),
      due_at timestamptz(3) NOT NULL,
      scheduled_by jsonb NOT NULL,
      scheduled_at timestamptz(3) NOT NULL,
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'activated', 'refused', 'cancelled')),
      problem jsonb,
      cancelled_by jsonb,
      ended_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, procedure_id, version_id)
        REFERENCES public.procedure_versions (tenant_id, procedure_id, id) ON DELETE CASCADE,
      CHECK ((status = 'open') = (ended_at IS NULL)),
      CHECK ((status = 'refused') = (problem IS NOT NULL)),
      CHECK ((status = 'cancelled') = (cancelled_by IS NOT NULL))
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX activation_schedules_open ON public.activation_schedules (tenant_id, version_id)
      WHERE status = 'open'`.execute(db)
  await sql`
    CREATE INDEX activation_schedules_due ON public.activation_schedules (due_at) WHERE status = 'open'`.execute(
    db,
  )
  await sql`
    CREATE INDEX activation_schedules_version ON public.activation_schedules (tenant_id, procedure_id, version_id)`.execute(
    db,
  )
  await ofTenants(db, 'public.activation_schedules')
  await sql`
    GRANT SELECT, INSERT, UPDATE (status, problem, cancelled_by, ended_at) ON public.activation_schedules
      TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER activation_schedules_identity
      BEFORE UPDATE OF tenant_id, id, procedure_id, version_id, revision, seen_active, acknowledged, due_at,
        scheduled_by, scheduled_at
      ON public.activation_schedules FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What was scheduled never changes; cancel it and schedule anew.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER activation_schedules_ended BEFORE UPDATE ON public.activation_schedules FOR EACH ROW
      WHEN (OLD.status <> 'open')
      EXECUTE FUNCTION public.refuse('A schedule that has ended never changes.')`.execute(db)
  await sql`
    GRANT SELECT (tenant_id, id, due_at, status) ON public.activation_schedules TO stepwarden_system`.execute(
    db,
  )
  await sql`
    CREATE POLICY system_rows ON public.activation_schedules FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.due_schedules(until timestamptz, max integer) RETURNS TABLE (tenant_id text, id text)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT s.tenant_id, s.id FROM public.activation_schedules s
      WHERE s.status = 'open' AND s.due_at <= until
      ORDER BY s.due_at, s.tenant_id, s.id LIMIT max
    $$`.execute(db)
  await ownedBySystem(db, 'public.due_schedules(timestamptz, integer)')
}

/** The examples of versions as the embedding models see them, so that a routing test asks no model. */
async function keepExampleVectors(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.example_vectors (
      tenant_id text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL CHECK (kind IN ('match', 'noMatch')),
      position integer NOT NULL CHECK (position >= 1),
      text_hash text COLLATE "C" NOT NULL,
      embedding public.vector NOT NULL CHECK (public.vector_dims(embedding) BETWEEN 1 AND 4096),
      dimensions integer NOT NULL GENERATED ALWAYS AS (public.vector_dims(embedding)) STORED,
      PRIMARY KEY (tenant_id, model, version_id, kind, position),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id) ON DELETE CASCADE,
      FOREIGN KEY (model, dimensions) REFERENCES public.embedding_models (name, dimensions)
    )`.execute(db)
  await sql`
    CREATE INDEX example_vectors_version ON public.example_vectors (tenant_id, version_id)`.execute(
    db,
  )
  await ofTenants(db, 'public.example_vectors')
  await sql`GRANT SELECT, INSERT, DELETE ON public.example_vectors TO stepwarden_app`.execute(db)
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
