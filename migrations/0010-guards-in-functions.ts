import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * The guards of executions and their steps, one function for each way to write a row.
 *
 * Every statement parses and plans the CHECK constraints and WHEN clauses of the tables that it writes anew: 100 of the
 * 160 µs that a commit took. A function is compiled once in a session, and says the same in 7. docs/performance.md has
 * the measurement.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await dropGuards(db)
  // What a guard function calls when it refuses. The names are those that the guards have always had in errors.
  await sql`
    CREATE FUNCTION public.refuse_row(table_name text, guard text, code text, message text) RETURNS void
      LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = code, SCHEMA = 'public', TABLE = table_name, CONSTRAINT = guard,
        MESSAGE = message;
    END
    $$`.execute(db)
  await guardExecutions(db)
  await guardSteps(db)
}

async function dropGuards(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.executions
      DROP CONSTRAINT executions_check,
      DROP CONSTRAINT executions_check1,
      DROP CONSTRAINT executions_check2,
      DROP CONSTRAINT executions_check3,
      DROP CONSTRAINT executions_durability_check,
      DROP CONSTRAINT executions_mode_check,
      DROP CONSTRAINT executions_outcome_check,
      DROP CONSTRAINT executions_status_check`.execute(db)
  await sql`
    ALTER TABLE public.step_executions
      DROP CONSTRAINT step_executions_attempt_check,
      DROP CONSTRAINT step_executions_check,
      DROP CONSTRAINT step_executions_ordinal_check,
      DROP CONSTRAINT step_executions_status_check`.execute(db)
  await sql`DROP TRIGGER executions_of_active_version ON public.executions`.execute(db)
  await sql`DROP FUNCTION public.check_execution_start()`.execute(db)
  await sql`DROP TRIGGER executions_finished ON public.executions`.execute(db)
  await sql`DROP TRIGGER executions_only_forward ON public.executions`.execute(db)
  await sql`DROP TRIGGER step_executions_finished ON public.step_executions`.execute(db)
  await sql`DROP TRIGGER step_executions_only_forward ON public.step_executions`.execute(db)
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
    CREATE FUNCTION public.guard_execution_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id
          AND v.id = NEW.version_id
          AND v.procedure_id = NEW.procedure_id
          AND v.procedure_key = NEW.procedure_key
          AND v.version_number = NEW.version_number
          AND v.definition_hash = NEW.definition_hash
          AND v.status = 'active'
      ) THEN
        PERFORM public.refuse_row('executions', 'executions_of_active_version', 'restrict_violation',
          'An execution names an active version by its exact procedure, number and definition hash.');
      END IF;
      IF NEW.durability NOT IN ('effect', 'step') OR NEW.mode NOT IN ('automatic', 'guided')
        OR (NEW.idempotency_key IS NULL) <> (NEW.request_hash IS NULL)
      THEN
        PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
          'An execution has a known durability and mode, and an idempotency key with the hash of its request.');
      END IF;
      ${soundExecution}
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER executions_started BEFORE INSERT ON public.executions
      FOR EACH ROW EXECUTE FUNCTION public.guard_execution_start()`.execute(db)
  await sql`
    CREATE FUNCTION public.guard_execution_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status IN ('completed', 'escalated', 'cancelled') THEN
        PERFORM public.refuse_row('executions', 'executions_finished', 'restrict_violation',
          'A finished execution never changes.');
      END IF;
      IF NEW.fence < OLD.fence OR NEW.revision < OLD.revision OR NEW.take_over_count < OLD.take_over_count
        OR (NEW.status = 'pending' AND OLD.status <> 'pending')
      THEN
        PERFORM public.refuse_row('executions', 'executions_only_forward', 'restrict_violation',
          'Fence, revision, take-overs and status of an execution never go back.');
      END IF;
      ${soundExecution}
      RETURN NULL;
    END
    $$`.execute(db)
  // After the row was written, which the error undoes: with a trigger before it, PostgreSQL would lock and log the row
  // first, 54 bytes a commit.
  await sql`
    CREATE TRIGGER executions_changed AFTER UPDATE ON public.executions
      FOR EACH ROW EXECUTE FUNCTION public.guard_execution_change()`.execute(db)
}

async function guardSteps(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.guard_step() RETURNS trigger LANGUAGE plpgsql AS $$
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
      IF NEW.attempt < OLD.attempt OR NEW.revision < OLD.revision
        OR (NEW.status = 'running' AND OLD.status <> 'running')
      THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_only_forward', 'restrict_violation',
          'Attempt, revision and status of a step never go back.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_added BEFORE INSERT ON public.step_executions
      FOR EACH ROW EXECUTE FUNCTION public.guard_step()`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_changed AFTER UPDATE ON public.step_executions
      FOR EACH ROW EXECUTE FUNCTION public.guard_step()`.execute(db)
}
