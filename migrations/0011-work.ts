import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * How executions get from worker to worker. One that nobody has (`worker_id` is null while it is pending or running)
 * is claimed by whoever is free; what puts it there is its start, a worker that hands it back, a timer, or the death of
 * its worker.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.executions
      ADD COLUMN wake_at timestamptz(3),
      -- Why this procedure was chosen, and where each value of the input came from.
      ADD COLUMN selection jsonb,
      ADD COLUMN input_sources jsonb`.execute(db)
  await sql`
    CREATE TRIGGER executions_origin AFTER UPDATE OF selection, input_sources ON public.executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What an execution was started with never changes.')`.execute(
    db,
  )
  await sql`GRANT UPDATE (wake_at) ON public.executions TO stepwarden_app`.execute(db)
  await sql`
    CREATE INDEX executions_unclaimed ON public.executions (tenant_id, id)
      WHERE status IN ('pending', 'running') AND worker_id IS NULL`.execute(db)
  await sql`
    CREATE INDEX executions_due ON public.executions (wake_at) WHERE status = 'waiting'`.execute(db)

  // Its owner is another role, which the one that migrates may take on and does not inherit from.
  await sql`SET LOCAL ROLE stepwarden_system`.execute(db)
  await sql`DROP FUNCTION public.orphaned_executions(text, integer)`.execute(db)
  await sql`SET LOCAL ROLE stepwarden_owner`.execute(db)
  await sql`
    GRANT SELECT (tenant_id, id, status, worker_id, fence, wake_at, started_at, take_over_count, revision,
        pause_requested_at, ended_at),
      UPDATE (status, worker_id, fence, wake_at, started_at, take_over_count, revision, pause_requested_at)
      ON public.executions TO stepwarden_system`.execute(db)
  await sql`
    CREATE POLICY system_moves ON public.executions FOR UPDATE TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`GRANT DELETE ON public.workers TO stepwarden_system`.execute(db)
  await releaseExecutions(db)
  await claimExecutions(db)
}

async function releaseExecutions(db: Kysely<unknown>): Promise<void> {
  // A process that is gone no longer holds the lock of its session; one that is frozen lets its lease run out. One whose
  // connection was cut looks dead for a moment: it keeps its row, and loses what it has to others, as the fence tells it.
  await sql`
    CREATE FUNCTION public.living_workers() RETURNS SETOF text LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT w.id FROM public.workers w
      WHERE w.lease_until >= clock_timestamp() AND EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND l.classid::bigint = w.lock_key >> 32 AND l.objid::bigint = w.lock_key & 4294967295
          AND l.objsubid = 1)
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.release_executions(own_worker text, OUT released bigint, OUT suspects boolean)
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      WITH lost AS (
        SELECT e.tenant_id, e.id FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NOT NULL AND e.worker_id <> own_worker
          AND e.worker_id NOT IN (SELECT public.living_workers())
        FOR NO KEY UPDATE OF e SKIP LOCKED
      )
      UPDATE public.executions e
      SET worker_id = NULL, fence = e.fence + 1, take_over_count = e.take_over_count + 1, revision = e.revision + 1
      FROM lost WHERE e.tenant_id = lost.tenant_id AND e.id = lost.id;
      GET DIAGNOSTICS released = ROW_COUNT;
      DELETE FROM public.workers w WHERE w.lease_until < clock_timestamp() - interval '10 minutes';
      suspects := EXISTS (
        SELECT FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL AND e.take_over_count >= 2
      );
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.count_unattended(own_worker text, max integer) RETURNS bigint LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT count(*) FROM (
        SELECT FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS DISTINCT FROM own_worker
          AND (e.worker_id IS NULL OR e.worker_id NOT IN (SELECT public.living_workers()))
        LIMIT max
      ) unattended
    $$`.execute(db)
  // What a restored backup shows as going on may have gone on in the world since: a person looks before it does again.
  await sql`
    CREATE FUNCTION public.hold_executions() RETURNS bigint LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE held bigint;
    BEGIN
      UPDATE public.executions e
      SET status = 'paused', pause_requested_at = coalesce(e.pause_requested_at, clock_timestamp()), wake_at = NULL,
        worker_id = NULL, fence = e.fence + 1, revision = e.revision + 1
      WHERE e.ended_at IS NULL AND e.status <> 'paused';
      GET DIAGNOSTICS held = ROW_COUNT;
      RETURN held;
    END
    $$`.execute(db)
  await ownedBySystem(db, 'public.hold_executions()', 'stepwarden_app')
  await ownedBySystem(db, 'public.living_workers()', null)
  await ownedBySystem(db, 'public.release_executions(text)', 'stepwarden_app')
  await ownedBySystem(db, 'public.count_unattended(text, integer)', 'stepwarden_app')
}

async function claimExecutions(db: Kysely<unknown>): Promise<void> {
  // What two workers have lost may be what ended them, so it is claimed apart from the rest, one at a time.
  // The oldest of every tenant come before the second oldest of any, so that a busy tenant starves nobody. Tenants are
  // found one by one along the index, so that a long queue of one of them costs nothing.
  await sql`
    CREATE FUNCTION public.claim_executions(own_worker text, max integer, suspects boolean)
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
      SET status = 'running', worker_id = own_worker, fence = e.fence + 1, revision = e.revision + 1,
        started_at = coalesce(e.started_at, clock_timestamp())
      FROM taken WHERE e.tenant_id = taken.tenant_id AND e.id = taken.id
      RETURNING e.tenant_id, e.id, e.fence;
    END
    $$`.execute(db)
  await ownedBySystem(db, 'public.claim_executions(text, integer, boolean)', 'stepwarden_app')
}

async function ownedBySystem(
  db: Kysely<unknown>,
  name: string,
  caller: string | null,
): Promise<void> {
  const signature = sql.raw(name)
  await sql`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`.execute(db)
  if (caller !== null) {
    await sql`GRANT EXECUTE ON FUNCTION ${signature} TO ${sql.id(caller)}`.execute(db)
  }
  // Last, because from here on only its new owner can grant it.
  await sql`ALTER FUNCTION ${signature} OWNER TO stepwarden_system`.execute(db)
}
