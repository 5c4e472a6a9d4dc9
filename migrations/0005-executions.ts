import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Executions, their steps, and the workers that carry them out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // There is no foreign key to the version: each start would lock its row, and all starts of a version would
  // meet there. The insert trigger proves that the version is active, and an active version is never deleted.
  // The fill factor leaves room for the one update per commit to stay on its page and out of the indexes.
  await sql`
    CREATE TABLE public.executions (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      procedure_id text COLLATE "C" NOT NULL,
      procedure_key text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      version_number integer NOT NULL,
      definition_hash text COLLATE "C" NOT NULL,
      semantics_version integer NOT NULL,
      durability text NOT NULL CHECK (durability IN ('effect', 'step')),
      mode text NOT NULL CHECK (mode IN ('automatic', 'guided')),
      input jsonb NOT NULL,
      ticket jsonb,
      context jsonb,
      customer_id text,
      ticket_id text,
      requester jsonb NOT NULL,
      on_behalf_of text,
      idempotency_key text COLLATE "C",
      request_hash text COLLATE "C",
      pins jsonb,
      tool_contracts jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      -- From here on what changes: of an update only what lies behind the first changed byte is logged.
      started_at timestamptz(3),
      fence bigint NOT NULL DEFAULT 0,
      take_over_count integer NOT NULL DEFAULT 0,
      worker_id text COLLATE "C",
      cancel_requested_at timestamptz(3),
      pause_requested_at timestamptz(3),
      status text NOT NULL
        CHECK (status IN ('pending', 'running', 'waiting', 'paused', 'completed', 'escalated', 'cancelled')),
      revision bigint NOT NULL DEFAULT 0,
      outcome text CHECK (outcome IN ('resolved', 'declined')),
      reason jsonb,
      reason_code text GENERATED ALWAYS AS (reason ->> 'code') STORED,
      result jsonb,
      conditions jsonb,
      ended_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      CHECK ((status = 'completed') = (outcome IS NOT NULL)),
      CHECK (status <> 'escalated' OR reason IS NOT NULL),
      CHECK ((status IN ('completed', 'escalated', 'cancelled')) = (ended_at IS NOT NULL)),
      CHECK ((idempotency_key IS NULL) = (request_hash IS NULL))
    ) WITH (fillfactor = 80)`.execute(db)
  await sql`
    CREATE UNIQUE INDEX executions_idempotency ON public.executions (tenant_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL`.execute(db)
  // The one index on what changes. It holds only what a worker must hold, so recovery does not depend on history.
  await sql`
    CREATE INDEX executions_in_progress ON public.executions (worker_id)
      WHERE status IN ('pending', 'running')`.execute(db)

  // There is no foreign key to executions (10 to 15 % of the throughput): the statement that writes a step selects
  // from the locked row of its execution, which proves that there is one.
  await sql`
    CREATE TABLE public.step_executions (
      tenant_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      ordinal integer NOT NULL CHECK (ordinal >= 1),
      step_key text COLLATE "C" NOT NULL,
      iteration text COLLATE "C" NOT NULL DEFAULT '',
      kind text NOT NULL,
      status text NOT NULL
        CHECK (status IN ('running', 'waiting', 'completed', 'failed', 'skipped', 'expired', 'denied')),
      attempt integer NOT NULL DEFAULT 1 CHECK (attempt >= 0),
      input jsonb,
      output jsonb,
      error jsonb,
      attempts jsonb,
      tool text COLLATE "C",
      started_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3),
      revision bigint NOT NULL,
      PRIMARY KEY (tenant_id, execution_id, ordinal),
      CHECK ((status IN ('running', 'waiting')) = (ended_at IS NULL))
    ) WITH (fillfactor = 90)`.execute(db)

  await sql`
    CREATE TABLE public.workers (
      id text COLLATE "C" PRIMARY KEY,
      lease_until timestamptz(3) NOT NULL,
      started_at timestamptz(3) NOT NULL,
      address text,
      lock_key bigint NOT NULL
    )`.execute(db)
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (lease_until, address) ON public.workers TO stepwarden_app`.execute(
    db,
  )

  for (const table of ['public.executions', 'public.step_executions']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }

  await guardExecutions(db)
  await guardSteps(db)
  await findOrphans(db)
}

async function guardExecutions(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT, INSERT, UPDATE (status, outcome, reason, fence, worker_id, take_over_count, revision,
      cancel_requested_at, pause_requested_at, result, conditions, started_at, ended_at)
      ON public.executions TO stepwarden_app`.execute(db)
  await sql`
    CREATE FUNCTION public.check_execution_start() RETURNS trigger LANGUAGE plpgsql AS $$
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
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An execution names an active version by its exact procedure, number and definition hash.';
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER executions_of_active_version BEFORE INSERT ON public.executions
      FOR EACH ROW EXECUTE FUNCTION public.check_execution_start()`.execute(db)
  // Guards of updates speak after the row was written, and undo it: with a trigger before it, PostgreSQL would lock and
  // log the row first, 54 bytes a commit. By its column list this one is looked at only when one of these is named.
  await sql`
    CREATE TRIGGER executions_identity
      AFTER UPDATE OF tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
        semantics_version, durability, mode, input, ticket, context, customer_id, ticket_id, requester,
        on_behalf_of, idempotency_key, request_hash, pins, tool_contracts, created_at
      ON public.executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What an execution was started with never changes.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER executions_finished AFTER UPDATE ON public.executions FOR EACH ROW
      WHEN (OLD.status IN ('completed', 'escalated', 'cancelled'))
      EXECUTE FUNCTION public.refuse('A finished execution never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER executions_only_forward AFTER UPDATE ON public.executions FOR EACH ROW
      WHEN (NEW.fence < OLD.fence OR NEW.revision < OLD.revision OR NEW.take_over_count < OLD.take_over_count
        OR (NEW.status = 'pending' AND OLD.status <> 'pending'))
      EXECUTE FUNCTION public.refuse('Fence, revision, take-overs and status of an execution never go back.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER executions_kept BEFORE DELETE OR TRUNCATE ON public.executions
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('An execution is never deleted.')`.execute(
    db,
  )
}

async function guardSteps(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT, INSERT, UPDATE (status, attempt, output, error, attempts, ended_at, revision)
      ON public.step_executions TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_identity
      BEFORE UPDATE OF tenant_id, execution_id, ordinal, step_key, iteration, kind, input, tool, started_at
      ON public.step_executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What a step was begun with never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_finished BEFORE UPDATE ON public.step_executions FOR EACH ROW
      WHEN (OLD.status NOT IN ('running', 'waiting'))
      EXECUTE FUNCTION public.refuse('A finished step never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_only_forward BEFORE UPDATE ON public.step_executions FOR EACH ROW
      WHEN (NEW.attempt < OLD.attempt OR NEW.revision < OLD.revision
        OR (NEW.status = 'running' AND OLD.status <> 'running'))
      EXECUTE FUNCTION public.refuse('Attempt, revision and status of a step never go back.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER step_executions_kept BEFORE DELETE OR TRUNCATE ON public.step_executions
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A step of an execution is never deleted.')`.execute(
    db,
  )
}

/** The one question that crosses tenants: it answers ids, and its owner may read no more than it needs. */
async function findOrphans(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT (tenant_id, id, status, worker_id, fence) ON public.executions TO stepwarden_system`.execute(
    db,
  )
  await sql`GRANT SELECT (id, lease_until, lock_key) ON public.workers TO stepwarden_system`.execute(
    db,
  )
  await sql`
    CREATE POLICY system_rows ON public.executions FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  // The oldest of every tenant come before the second oldest of any, so that a busy tenant starves nobody.
  await sql`
    CREATE FUNCTION public.orphaned_executions(own_worker text, max integer)
      RETURNS TABLE (tenant_id text, id text, fence bigint) LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT e.tenant_id, e.id, e.fence
      FROM public.executions e LEFT JOIN public.workers w ON w.id = e.worker_id
      WHERE e.status IN ('pending', 'running')
        AND e.worker_id IS DISTINCT FROM own_worker
        AND (w.id IS NULL OR w.lease_until < clock_timestamp() OR NOT EXISTS (
          SELECT FROM pg_locks l
          WHERE l.locktype = 'advisory' AND l.granted
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            AND l.classid::bigint = w.lock_key >> 32 AND l.objid::bigint = w.lock_key & 4294967295
            AND l.objsubid = 1))
      ORDER BY row_number() OVER (PARTITION BY e.tenant_id ORDER BY e.id), e.tenant_id
      LIMIT max
    $$`.execute(db)
  await sql`REVOKE ALL ON FUNCTION public.orphaned_executions(text, integer) FROM PUBLIC`.execute(
    db,
  )
  await sql`GRANT EXECUTE ON FUNCTION public.orphaned_executions(text, integer) TO stepwarden_app`.execute(
    db,
  )
  // Last, because from here on only its new owner can grant it.
  await sql`ALTER FUNCTION public.orphaned_executions(text, integer) OWNER TO stepwarden_system`.execute(
    db,
  )
}
