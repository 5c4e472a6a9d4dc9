import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What is told to other services: docs/decisions/0020-webhooks.md. A message is written by the statement that makes it
 * true, and only where somebody is to be told.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepWebhooks(db)
  await keepDeliveries(db)
  await tell(db)
  await tellOfRuns(db)
  await tellOfActs(db)
  await forgetAnswers(db)
  await claimDeliveries(db)
  await pruneDeliveries(db)
}

async function keepWebhooks(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.webhooks (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      url text NOT NULL,
      description text NOT NULL,
      -- Null: all, and those that are added later.
      events text[] CHECK (cardinality(events) > 0),
      created_at timestamptz(3) NOT NULL,
      status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
      paused_because text CHECK (paused_because IN ('asked', 'gone', 'failing')),
      paused_at timestamptz(3),
      -- Since when nothing was delivered, though it was tried.
      failing_since timestamptz(3),
      -- Whether the last message failed or took long. Such a one gets one message at a time.
      is_troubled boolean NOT NULL DEFAULT false,
      last_delivered_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      CHECK ((status = 'paused') = (paused_because IS NOT NULL) AND (status = 'paused') = (paused_at IS NOT NULL))
    )`.execute(db)
  // Apart from what is shown of a webhook, so that nothing that reads those rows has them.
  await sql`
    CREATE TABLE public.webhook_secrets (
      tenant_id text COLLATE "C" NOT NULL,
      webhook_id text COLLATE "C" NOT NULL,
      number integer NOT NULL CHECK (number >= 1),
      secret text NOT NULL,
      -- Null for the newest.
      expires_at timestamptz(3),
      PRIMARY KEY (tenant_id, webhook_id, number),
      FOREIGN KEY (tenant_id, webhook_id) REFERENCES public.webhooks (tenant_id, id) ON DELETE CASCADE
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX webhook_secrets_newest ON public.webhook_secrets (tenant_id, webhook_id)
      WHERE expires_at IS NULL`.execute(db)
  await ofTenants(db, 'public.webhooks')
  await ofTenants(db, 'public.webhook_secrets')
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (url, description, events, status, paused_because, paused_at, failing_since,
      is_troubled, last_delivered_at) ON public.webhooks TO stepwarden_app`.execute(db)
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (expires_at) ON public.webhook_secrets TO stepwarden_app`.execute(
    db,
  )
}

async function keepDeliveries(db: Kysely<unknown>): Promise<void> {
  // There is no foreign key to the webhook: a run would wait for whoever deletes that, and then fail by it.
  await sql`
    CREATE TABLE public.webhook_deliveries (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      webhook_id text COLLATE "C" NOT NULL,
      seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
      type text COLLATE "C" NOT NULL,
      -- What it is about: of one subject a webhook is told in order.
      subject text COLLATE "C" NOT NULL,
      at timestamptz(3) NOT NULL,
      data jsonb NOT NULL CHECK (jsonb_typeof(data) = 'object'),
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
      -- When it is tried next; while it is being sent, when that counts as lost.
      due_at timestamptz(3) NOT NULL,
      claimed_until timestamptz(3),
      fence bigint NOT NULL DEFAULT 0,
      failure_count integer NOT NULL DEFAULT 0 CHECK (failure_count >= 0),
      attempts jsonb CHECK (jsonb_typeof(attempts) = 'array'),
      ended_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      CHECK ((status = 'pending') = (ended_at IS NULL))
    ) WITH (fillfactor = 80)`.execute(db)
  await sql`
    CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries (tenant_id, webhook_id, due_at, seq)
      WHERE status = 'pending'`.execute(db)
  await sql`
    CREATE INDEX webhook_deliveries_claimed ON public.webhook_deliveries (tenant_id, webhook_id)
      WHERE claimed_until IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX webhook_deliveries_subject ON public.webhook_deliveries (tenant_id, subject, webhook_id, seq)`.execute(
    db,
  )
  await sql`
    CREATE INDEX webhook_deliveries_log ON public.webhook_deliveries (tenant_id, webhook_id, seq)`.execute(
    db,
  )
  await sql`CREATE INDEX webhook_deliveries_age ON public.webhook_deliveries (at)`.execute(db)
  await ofTenants(db, 'public.webhook_deliveries')
  await sql`
    GRANT SELECT, INSERT (tenant_id, id, webhook_id, type, subject, at, data, due_at, claimed_until, fence),
      UPDATE (status, due_at, claimed_until, failure_count, attempts, ended_at)
      ON public.webhook_deliveries TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER webhook_deliveries_identity
      BEFORE UPDATE OF tenant_id, id, webhook_id, type, subject, at, data ON public.webhook_deliveries
      FOR EACH ROW EXECUTE FUNCTION public.refuse('What is told never changes.')`.execute(db)
}

/** A message for each webhook that wants this type; none where there is no such webhook. */
async function tell(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.tell_webhooks(
      of_tenant text, of_type text, of_subject text, of_at timestamptz, of_data jsonb)
      RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      INSERT INTO public.webhook_deliveries (tenant_id, id, webhook_id, type, subject, at, data, due_at)
      SELECT of_tenant, 'dlv_' || substr(public.new_audit_id(clock_timestamp()), 5), w.id, of_type, of_subject, of_at,
        jsonb_build_object('tenantId', of_tenant) || of_data, clock_timestamp()
      FROM public.webhooks w
      WHERE w.tenant_id = of_tenant AND (w.events IS NULL OR of_type = ANY (w.events))
      ORDER BY w.id;
    END
    $$`.execute(db)
}

async function tellOfRuns(db: Kysely<unknown>): Promise<void> {
  // Ids and states alone: what a customer has said, and who they are, is asked for with a key.
  await sql`
    CREATE FUNCTION public.tell_execution(run public.executions) RETURNS void LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      own jsonb := '{}';
    BEGIN
      -- A run that waits for a moment, or for another run, goes on by itself.
      IF run.status = 'waiting' THEN
        SELECT jsonb_build_object('steps', jsonb_agg(jsonb_build_object('stepKey', s.step_key, 'ordinal', s.ordinal,
            'kind', CASE s.kind WHEN 'tool' THEN 'confirm' ELSE s.kind END) ORDER BY s.ordinal))
          INTO own FROM (
            SELECT w.step_key, w.ordinal, w.kind FROM public.step_executions w
            WHERE w.tenant_id = run.tenant_id AND w.execution_id = run.id AND w.status = 'waiting'
              AND w.kind IN ('ask', 'approval', 'tool')
            ORDER BY w.ordinal LIMIT 20) s;
        IF jsonb_typeof(own -> 'steps') <> 'array' THEN RETURN; END IF;
      ELSIF run.status = 'escalated' THEN
        SELECT jsonb_build_object('escalationId', x.id) INTO own FROM public.escalations x
          WHERE x.tenant_id = run.tenant_id AND x.execution_id = run.id;
      END IF;
      PERFORM public.tell_webhooks(run.tenant_id, 'execution.' || run.status, run.id,
        coalesce(run.ended_at, clock_timestamp()),
        jsonb_build_object('executionId', run.id, 'procedureKey', run.procedure_key, 'versionId', run.version_id,
          'versionNumber', run.version_number, 'status', run.status, 'outcome', run.outcome,
          'reasonCode', run.reason_code, 'parentId', run.parent_id, 'revision', run.revision)
          || coalesce(own, '{}'));
    END
    $$`.execute(db)
  // The guard that is called with every commit asks for webhooks only when it has an event to tell. One condition within
  // another: together they would be one query, made each time.
  await sql`
    CREATE OR REPLACE FUNCTION public.guard_execution_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status IN ('completed', 'escalated', 'cancelled') THEN
        IF public.is_erasure_of_run(OLD, NEW) THEN RETURN NULL; END IF;
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
      IF NEW.status <> OLD.status AND NEW.status IN ('waiting', 'completed', 'escalated', 'cancelled') THEN
        IF EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN
          PERFORM public.tell_execution(NEW);
        END IF;
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.tell_escalation() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN
        PERFORM public.tell_webhooks(NEW.tenant_id, 'escalation.opened', coalesce(NEW.execution_id, NEW.id),
          NEW.opened_at, public.told_escalation(NEW));
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.told_escalation(item public.escalations) RETURNS jsonb LANGUAGE sql IMMUTABLE
      SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT jsonb_build_object('escalationId', item.id, 'executionId', item.execution_id, 'status', item.status,
        'reasonCode', item.reason_code, 'queue', item.queue, 'priority', item.priority)
    $$`.execute(db)
  await sql`
    CREATE TRIGGER escalations_told AFTER INSERT ON public.escalations
      FOR EACH ROW EXECUTE FUNCTION public.tell_escalation()`.execute(db)
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

/** Acts that others wait for, out of the audit log, by the names that they have there. */
async function tellOfActs(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.tell_act() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      said jsonb;
      told jsonb := '{}';
      escalation public.escalations;
    BEGIN
      IF NEW.action NOT IN ('escalation.assigned', 'escalation.resolved', 'version.reviewed', 'version.activated',
        'version.deprecated', 'activation.refused', 'procedure.stopped', 'procedure.allowed', 'tool.stopped',
        'tool.allowed')
      THEN
        RETURN NULL;
      END IF;
      IF NOT EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN RETURN NULL; END IF;
      IF NEW.entity_kind = 'escalation' THEN
        SELECT * INTO escalation FROM public.escalations x WHERE x.tenant_id = NEW.tenant_id AND x.id = NEW.entity_id;
        told := public.told_escalation(escalation);
        said := '{}';
      ELSE
        said := NEW.details::jsonb;
        -- Of what stands there only what names things: reasons and comments are free text.
        SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') INTO told FROM jsonb_each(said) d
          WHERE d.key IN ('procedureKey', 'versionNumber', 'replaced', 'verdict', 'tool', 'scheduleId', 'code');
        IF NEW.entity_kind = 'version' THEN told := told || jsonb_build_object('versionId', NEW.entity_id); END IF;
      END IF;
      PERFORM public.tell_webhooks(NEW.tenant_id, NEW.action,
        coalesce(escalation.execution_id, escalation.id, said ->> 'procedureKey', said ->> 'tool', NEW.entity_id),
        NEW.at, told || jsonb_build_object('auditSeq', NEW.seq));
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER audit_events_told AFTER INSERT ON public.audit_events
      FOR EACH ROW EXECUTE FUNCTION public.tell_act()`.execute(db)
}

/** What others have answered about a run may hold anything, and goes with its values. */
async function forgetAnswers(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.forget_answers() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      erased CONSTANT text := coalesce(to_jsonb(NEW) ->> 'execution_id', to_jsonb(NEW) ->> 'escalation_id');
    BEGIN
      -- In the order in which whoever sends them locks them.
      PERFORM FROM public.webhook_deliveries d
        WHERE d.tenant_id = NEW.tenant_id AND d.subject = erased ORDER BY d.webhook_id, d.seq FOR NO KEY UPDATE;
      UPDATE public.webhook_deliveries d
        SET attempts = (
          SELECT jsonb_agg(a.value - 'answer' ORDER BY a.ordinality)
          FROM jsonb_array_elements(d.attempts) WITH ORDINALITY a)
        WHERE d.tenant_id = NEW.tenant_id AND d.subject = erased AND d.attempts IS NOT NULL;
      RETURN NULL;
    END
    $$`.execute(db)
  for (const table of ['erased_records', 'erased_tickets']) {
    await sql`
      CREATE TRIGGER ${sql.id(`${table}_forget_answers`)} AFTER INSERT ON ${sql.table(`public.${table}`)}
        FOR EACH ROW EXECUTE FUNCTION public.forget_answers()`.execute(db)
  }
}

/** Which messages are sent next, by whom, of all tenants: it answers ids alone. */
async function claimDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT (tenant_id, id, status, is_troubled) ON public.webhooks TO stepwarden_system`.execute(
    db,
  )
  await sql`
    GRANT SELECT (tenant_id, id, webhook_id, seq, subject, at, status, due_at, claimed_until, fence), DELETE,
      UPDATE (due_at, claimed_until, fence) ON public.webhook_deliveries TO stepwarden_system`.execute(
    db,
  )
  await sql`
    GRANT SELECT (tenant_id, webhook_id, number, expires_at), DELETE ON public.webhook_secrets
      TO stepwarden_system`.execute(db)
  await sql`
    CREATE POLICY system_rows ON public.webhooks FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  for (const table of ['webhook_deliveries', 'webhook_secrets']) {
    await sql`
      CREATE POLICY system_rows ON ${sql.table(`public.${table}`)} TO stepwarden_system USING (true)`.execute(
      db,
    )
  }
  // It walks the webhooks, not what is due: what a dead one has gathered is never looked at by the others' turns. Of one
  // that answers four are under way, of one in trouble one, and those in trouble have some of the places only.
  await sql`
    CREATE FUNCTION public.claim_webhook_deliveries(
      at_time timestamptz, until_time timestamptz, most integer, most_troubled integer)
      RETURNS TABLE (tenant_id text, id text, fence bigint, is_troubled boolean) LANGUAGE sql VOLATILE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      WITH due AS MATERIALIZED (
        SELECT w.tenant_id, w.id AS webhook_id, w.is_troubled, f.free, d.id, d.seq, d.subject, d.due_at
        FROM public.webhooks w
        CROSS JOIN LATERAL (
          SELECT CASE WHEN w.is_troubled THEN 1 ELSE 4 END - count(*) AS free FROM public.webhook_deliveries c
          WHERE c.tenant_id = w.tenant_id AND c.webhook_id = w.id AND c.claimed_until > at_time
        ) f
        CROSS JOIN LATERAL (
          SELECT p.id, p.seq, p.subject, p.due_at FROM public.webhook_deliveries p
          WHERE p.tenant_id = w.tenant_id AND p.webhook_id = w.id AND p.status = 'pending' AND p.due_at <= at_time
          ORDER BY p.due_at, p.seq
          -- Some of them may have to wait for an earlier one.
          LIMIT CASE WHEN f.free > 0 THEN f.free + 32 ELSE 0 END
          FOR NO KEY UPDATE SKIP LOCKED
        ) d
        WHERE w.status = 'active'
      ), looked AS MATERIALIZED (
        SELECT due.*, (
            SELECT b.due_at FROM public.webhook_deliveries b
            WHERE b.tenant_id = due.tenant_id AND b.subject = due.subject AND b.webhook_id = due.webhook_id
              AND b.seq < due.seq AND b.status = 'pending'
            ORDER BY b.seq LIMIT 1
          ) AS earlier_at
        FROM due
      ), put_off AS (
        -- Until the earlier one of its subject was told. Whoever tells that brings it forward again.
        UPDATE public.webhook_deliveries d SET due_at = greatest(l.earlier_at, at_time + interval '1 second')
        FROM looked l
        WHERE l.earlier_at IS NOT NULL AND d.tenant_id = l.tenant_id AND d.id = l.id
      ), nth AS (
        SELECT l.*, row_number() OVER (PARTITION BY l.tenant_id, l.webhook_id ORDER BY l.due_at, l.seq) AS n
        FROM looked l WHERE l.earlier_at IS NULL
      ), turn AS (
        SELECT nth.*, row_number() OVER (PARTITION BY nth.tenant_id ORDER BY nth.n, nth.due_at, nth.seq) AS turn
        FROM nth WHERE nth.n <= nth.free
      ), chosen AS (
        SELECT turn.*, row_number() OVER (PARTITION BY turn.is_troubled ORDER BY turn.turn, turn.due_at, turn.seq) AS place
        FROM turn
      ), taken AS (
        SELECT c.tenant_id, c.id, c.is_troubled FROM chosen c
        WHERE NOT c.is_troubled OR c.place <= most_troubled
        ORDER BY c.turn, c.due_at, c.seq
        LIMIT most
      )
      UPDATE public.webhook_deliveries d
        SET claimed_until = until_time, due_at = until_time, fence = d.fence + 1
        FROM taken t
        WHERE d.tenant_id = t.tenant_id AND d.id = t.id
        RETURNING d.tenant_id, d.id, d.fence, t.is_troubled
    $$`.execute(db)
  await ownedBySystem(
    db,
    'public.claim_webhook_deliveries(timestamptz, timestamptz, integer, integer)',
  )
}

/** The log goes after its time, and what is left of webhooks that were deleted. */
async function pruneDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.prune_webhook_deliveries(at_time timestamptz, before timestamptz, most integer)
      RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE pruned bigint;
    BEGIN
      DELETE FROM public.webhook_secrets s WHERE s.expires_at <= at_time;
      DELETE FROM public.webhook_deliveries d USING (
          SELECT o.tenant_id, o.id FROM public.webhook_deliveries o
          WHERE o.at < before OR NOT EXISTS (
            SELECT FROM public.webhooks w WHERE w.tenant_id = o.tenant_id AND w.id = o.webhook_id)
          LIMIT most
          FOR UPDATE SKIP LOCKED
        ) old
        WHERE d.tenant_id = old.tenant_id AND d.id = old.id;
      GET DIAGNOSTICS pruned = ROW_COUNT;
      RETURN pruned;
    END
    $$`.execute(db)
  await ownedBySystem(db, 'public.prune_webhook_deliveries(timestamptz, timestamptz, integer)')
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
