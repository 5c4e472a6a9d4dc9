import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What the loss of an answer must not do: a worker can ask which executions are its own, and a ticket that fitted nothing
 * is one triage item however often its request is repeated. Besides, what is counted is counted one by one.
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
  await guardExecutions(db)
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

/** Nobody who can write a row of one tenant may stop the work of all by a number that no worker can count on from. */
async function guardExecutions(db: Kysely<unknown>): Promise<void> {
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
      RETURN NULL;
    END
    $$`.execute(db)
}
