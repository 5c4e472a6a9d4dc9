import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Steps that wait for people, times and other runs. docs/decisions/0007-waits-and-loops.md says what stands in the rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE public.step_executions ADD COLUMN exchange jsonb`.execute(db)
  await sql`
    GRANT UPDATE (status, attempt, output, error, attempts, exchange, ended_at, revision)
      ON public.step_executions TO stepwarden_app`.execute(db)
  await sql`
    ALTER TABLE public.executions
      -- The run that has called this one, at which of its steps, and the root of both.
      ADD COLUMN parent_id text COLLATE "C",
      ADD COLUMN parent_ordinal integer,
      ADD COLUMN root_id text COLLATE "C",
      ADD COLUMN call_path jsonb,
      -- The working days that durations are counted in.
      ADD COLUMN calendar jsonb`.execute(db)
  await sql`
    CREATE UNIQUE INDEX executions_called ON public.executions (tenant_id, parent_id, parent_ordinal)
      WHERE parent_id IS NOT NULL`.execute(db)
  await sql`
    CREATE TRIGGER executions_called_from
      AFTER UPDATE OF parent_id, parent_ordinal, root_id, call_path, calendar, pins ON public.executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What an execution was started with never changes.')`.execute(
    db,
  )
  await sql`
    ALTER TABLE public.tenants ADD COLUMN calendar jsonb`.execute(db)
  await sql`GRANT UPDATE (calendar) ON public.tenants TO stepwarden_app`.execute(db)
  await guardExecutions(db)
  await guardSteps(db)
  await sql`SET LOCAL ROLE stepwarden_system`.execute(db)
  await claimExecutions(db)
  await sql`SET LOCAL ROLE stepwarden_owner`.execute(db)
}

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

async function guardExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION public.guard_execution_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id
          AND v.id = NEW.version_id
          AND v.procedure_id = NEW.procedure_id
          AND v.procedure_key = NEW.procedure_key
          AND v.version_number = NEW.version_number
          AND v.definition_hash = NEW.definition_hash
          AND (v.status = 'active' OR (NEW.parent_id IS NOT NULL AND v.status = 'deprecated'))
      ) THEN
        PERFORM public.refuse_row('executions', 'executions_of_active_version', 'restrict_violation',
          'An execution names an active version by its exact procedure, number and definition hash.');
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
  await sql`
    CREATE OR REPLACE FUNCTION public.guard_execution_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status IN ('completed', 'escalated', 'cancelled') THEN
        PERFORM public.refuse_row('executions', 'executions_finished', 'restrict_violation',
          'A finished execution never changes.');
      END IF;
      IF NEW.fence < OLD.fence OR NEW.revision < OLD.revision OR NEW.take_over_count < OLD.take_over_count
        OR NEW.fence > OLD.fence + 1 OR NEW.revision > OLD.revision + 1
        OR NEW.take_over_count > OLD.take_over_count + 1
        OR (NEW.status = 'pending' AND OLD.status <> 'pending')
      THEN
        PERFORM public.refuse_row('executions', 'executions_only_forward', 'restrict_violation',
          'Fence, revision, take-overs and status of an execution never go back, and count one by one.');
      END IF;
      ${soundExecution}
      -- Whoever has called it looks again. One that works just now keeps the time, and does not wait past it.
      IF NEW.parent_id IS NOT NULL AND NEW.ended_at IS NOT NULL THEN
        UPDATE public.executions p SET wake_at = clock_timestamp(), revision = p.revision + 1
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.parent_id AND p.ended_at IS NULL;
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
}

async function guardSteps(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION public.guard_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.ordinal < 1 OR NEW.attempt < 0
        OR NEW.status NOT IN ('running', 'waiting', 'completed', 'failed', 'skipped', 'expired', 'denied')
        OR (NEW.status IN ('running', 'waiting')) <> (NEW.ended_at IS NULL)
      THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_sound', 'check_violation',
          'The status of a step fits its end, and ordinal and attempt are counted.');
      END IF;
      IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
      IF OLD.status NOT IN ('running', 'waiting') THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_finished', 'restrict_violation',
          'A finished step never changes.');
      END IF;
      -- A step that waited may begin, once it was confirmed; one that runs never waits again.
      IF NEW.attempt < OLD.attempt OR NEW.revision < OLD.revision
        OR (NEW.status = 'waiting' AND OLD.status <> 'waiting')
      THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_only_forward', 'restrict_violation',
          'Attempt, revision and status of a step never go back.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
}

async function claimExecutions(db: Kysely<unknown>): Promise<void> {
  // What two workers have lost may be what ended them, so it is claimed apart from the rest, one at a time.
  // The oldest of every tenant come before the second oldest of any, so that a busy tenant starves nobody. Tenants are
  // found one by one along the index, so that a long queue of one of them costs nothing.
  await sql`
    CREATE OR REPLACE FUNCTION public.claim_executions(own_worker text, max integer, suspects boolean)
      RETURNS TABLE (tenant_id text, id text, fence bigint) LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    #variable_conflict use_column
    BEGIN
      WITH due AS (
        SELECT e.tenant_id, e.id FROM public.executions e
        WHERE e.status = 'waiting' AND e.wake_at <= clock_timestamp()
        ORDER BY e.wake_at LIMIT max
        FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE public.executions e SET status = 'running', wake_at = NULL, revision = e.revision + 1
      FROM due WHERE e.tenant_id = due.tenant_id AND e.id = due.id;

      RETURN QUERY
      WITH RECURSIVE tenants AS (
        (SELECT e.tenant_id FROM public.executions e
          WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL
          ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM public.executions e
          WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL AND e.tenant_id > t.tenant_id
          ORDER BY e.tenant_id LIMIT 1)
        FROM tenants t WHERE t.tenant_id IS NOT NULL
      ), queue AS (
        SELECT one.tenant_id, one.id
        FROM tenants t CROSS JOIN LATERAL (
          SELECT e.tenant_id, e.id, row_number() OVER (ORDER BY e.id) AS turn
          FROM (
            SELECT e.tenant_id, e.id FROM public.executions e
            WHERE e.tenant_id = t.tenant_id AND e.status IN ('pending', 'running') AND e.worker_id IS NULL
              AND (e.take_over_count >= 2) = suspects
            ORDER BY e.id LIMIT 4 * max
          ) e
        ) one
        ORDER BY one.turn, one.tenant_id
        -- More than are wanted: another worker may be claiming the first of them just now.
        LIMIT 4 * max
      ), taken AS (
        SELECT e.tenant_id, e.id
        FROM queue JOIN public.executions e ON e.tenant_id = queue.tenant_id AND e.id = queue.id
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL
        LIMIT max
        FOR NO KEY UPDATE OF e SKIP LOCKED
      )
      UPDATE public.executions e
      SET status = 'running', worker_id = own_worker, fence = e.fence + 1, revision = e.revision + 1, wake_at = NULL,
        started_at = coalesce(e.started_at, clock_timestamp())
      FROM taken WHERE e.tenant_id = taken.tenant_id AND e.id = taken.id
      RETURNING e.tenant_id, e.id, e.fence;
    END
    $$`.execute(db)
}
