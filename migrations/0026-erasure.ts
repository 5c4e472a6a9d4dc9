import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Erasure and retention: docs/decisions/0017-erasure.md. Owner functions take the personal values out of runs that have
 * ended, and write the event of it themselves; the guards let through exactly that change, by its shape.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepErasures(db)
  await guardErased(db)
  await guardRuns(db)
  await guardWhatComesAfter(db)
  await eraseRuns(db)
  await finishErasures(db)
  await keepRetention(db)
}

async function keepErasures(db: Kysely<unknown>): Promise<void> {
  // A ticket that nothing ran for has no execution that could say whose it is.
  await sql`ALTER TABLE public.coverage_gaps ADD COLUMN customer_id text`.execute(db)
  await sql`
    CREATE TABLE public.erasures (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (kind IN ('customer', 'retention')),
      reason text NOT NULL CHECK (reason <> ''),
      -- Whose data: SHA-256 over the salt, a colon and the customer's id. The salt goes when the erasure is over.
      customer_digest text COLLATE "C" CHECK (customer_digest ~ '^[0-9a-f]{64}$'),
      customer_salt text COLLATE "C" CHECK (customer_salt ~ '^[0-9a-f]{64}$'),
      started_by jsonb NOT NULL,
      started_at timestamptz(3) NOT NULL,
      run_count integer NOT NULL DEFAULT 0 CHECK (run_count >= 0),
      ticket_count integer NOT NULL DEFAULT 0 CHECK (ticket_count >= 0),
      ended_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      CHECK ((kind = 'customer') = (customer_digest IS NOT NULL)),
      CHECK ((kind = 'customer' AND ended_at IS NULL) = (customer_salt IS NOT NULL))
    )`.execute(db)
  await sql`
    CREATE INDEX erasures_running ON public.erasures (tenant_id, id) WHERE ended_at IS NULL`.execute(
    db,
  )
  await sql`
    CREATE UNIQUE INDEX erasures_one_retention ON public.erasures (tenant_id)
      WHERE kind = 'retention' AND ended_at IS NULL`.execute(db)
  await sql`
    CREATE TABLE public.erased_tickets (
      tenant_id text COLLATE "C" NOT NULL,
      escalation_id text COLLATE "C" NOT NULL,
      erasure_id text COLLATE "C" NOT NULL,
      erased_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, escalation_id),
      FOREIGN KEY (tenant_id, erasure_id) REFERENCES public.erasures (tenant_id, id)
    )`.execute(db)
  // What was erased is told by an event of the same transaction, which comes last in it.
  await sql`
    ALTER TABLE public.erased_records
      ADD COLUMN erasure_id text COLLATE "C" NOT NULL,
      ADD COLUMN event_id text COLLATE "C" NOT NULL,
      ADD FOREIGN KEY (tenant_id, erasure_id) REFERENCES public.erasures (tenant_id, id),
      ADD FOREIGN KEY (tenant_id, event_id) REFERENCES public.audit_events (tenant_id, id)
        DEFERRABLE INITIALLY DEFERRED`.execute(db)
  for (const name of ['erasures', 'erased_tickets']) {
    const table = sql.table(`public.${name}`)
    await sql`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(db)
    await sql`
      CREATE POLICY tenant_rows ON ${table}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }
  await sql`
    CREATE TRIGGER erasures_identity
      BEFORE UPDATE OF tenant_id, id, kind, reason, customer_digest, started_by, started_at ON public.erasures
      FOR EACH ROW EXECUTE FUNCTION public.refuse('What an erasure was begun with never changes.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER erasures_ended BEFORE UPDATE ON public.erasures FOR EACH ROW
      WHEN (OLD.ended_at IS NOT NULL)
      EXECUTE FUNCTION public.refuse('An erasure that is over erases nothing more.')`.execute(db)
  await sql`
    CREATE TRIGGER erasures_kept BEFORE DELETE OR TRUNCATE ON public.erasures
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('That something was erased is never forgotten.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER erased_tickets_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.erased_tickets
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('That something was erased is never forgotten.')`.execute(
    db,
  )
  // The lock on its row holds an erasure, and asks for the right to update a column.
  await sql`
    GRANT SELECT, INSERT (tenant_id, id, kind, reason, customer_digest, customer_salt, started_by, started_at),
      UPDATE (id) ON public.erasures TO stepwarden_app`.execute(db)
  await sql`GRANT SELECT ON public.erased_tickets TO stepwarden_app`.execute(db)
}

/** What the guards ask: whether this very transaction erases a run or a ticket, and what may be left of a reason. */
async function guardErased(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.is_being_erased(of_tenant text, of_id text) RETURNS boolean LANGUAGE sql AS $$
      SELECT EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = of_tenant AND r.execution_id = of_id AND r.xmin = pg_current_xact_id()::xid
      ) OR EXISTS (
        SELECT FROM public.erased_tickets t
        WHERE t.tenant_id = of_tenant AND t.escalation_id = of_id AND t.xmin = pg_current_xact_id()::xid
      )
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.erased_reason(reason jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN reason ? 'code' THEN jsonb_build_object('code', reason -> 'code') END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.is_erasure_of_run(old_row public.executions, new_row public.executions) RETURNS boolean
      LANGUAGE plpgsql AS $$
    DECLARE
      personal CONSTANT text[] := ARRAY['input', 'ticket', 'context', 'customer_id', 'ticket_id', 'on_behalf_of',
        'idempotency_key', 'request_hash', 'reason', 'result', 'conditions', 'selection'];
    BEGIN
      RETURN to_jsonb(new_row) - personal = to_jsonb(old_row) - personal
        AND old_row.ended_at IS NOT NULL
        AND new_row.input = '{}'
        AND num_nonnulls(new_row.ticket, new_row.context, new_row.customer_id, new_row.ticket_id,
          new_row.on_behalf_of, new_row.idempotency_key, new_row.request_hash, new_row.result,
          new_row.conditions, new_row.selection) = 0
        AND new_row.reason IS NOT DISTINCT FROM public.erased_reason(old_row.reason)
        AND public.is_being_erased(new_row.tenant_id, new_row.id);
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.is_erasure_of_step(old_row public.step_executions, new_row public.step_executions)
      RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      personal CONSTANT text[] := ARRAY['input', 'output', 'error', 'attempts', 'exchange'];
    BEGIN
      RETURN to_jsonb(new_row) - personal = to_jsonb(old_row) - personal
        AND num_nonnulls(new_row.input, new_row.output, new_row.error, new_row.attempts, new_row.exchange) = 0
        AND public.is_being_erased(new_row.tenant_id, new_row.execution_id);
    END
    $$`.execute(db)
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

/** Runs and their steps: erasure is asked about only where a change is refused otherwise. */
async function guardRuns(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.guard_execution_identity() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT public.is_erasure_of_run(OLD, NEW) THEN
        PERFORM public.refuse_row('executions', TG_NAME, 'restrict_violation',
          'What an execution was started with never changes.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`DROP TRIGGER executions_identity ON public.executions`.execute(db)
  await sql`
    CREATE TRIGGER executions_identity
      AFTER UPDATE OF tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
        semantics_version, durability, mode, input, ticket, context, customer_id, ticket_id, requester,
        on_behalf_of, idempotency_key, request_hash, pins, tool_contracts, created_at
      ON public.executions FOR EACH ROW
      EXECUTE FUNCTION public.guard_execution_identity()`.execute(db)
  await sql`DROP TRIGGER executions_origin ON public.executions`.execute(db)
  await sql`
    CREATE TRIGGER executions_origin AFTER UPDATE OF selection, input_sources ON public.executions
      FOR EACH ROW EXECUTE FUNCTION public.guard_execution_identity()`.execute(db)
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
      RETURN NULL;
    END
    $$`.execute(db)

  await sql`
    CREATE FUNCTION public.guard_step_identity() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT public.is_erasure_of_step(OLD, NEW) THEN
        PERFORM public.refuse_row('step_executions', TG_NAME, 'restrict_violation',
          'What a step was begun with never changes.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`DROP TRIGGER step_executions_identity ON public.step_executions`.execute(db)
  await sql`
    CREATE TRIGGER step_executions_identity
      BEFORE UPDATE OF tenant_id, execution_id, ordinal, step_key, iteration, kind, input, tool, started_at
      ON public.step_executions FOR EACH ROW
      EXECUTE FUNCTION public.guard_step_identity()`.execute(db)
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
        IF public.is_erasure_of_step(OLD, NEW) THEN RETURN NULL; END IF;
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

/** Replies, escalations, gaps, and what is kept apart. */
async function guardWhatComesAfter(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.guard_reply() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- The reference to the execution has waited for whoever was erasing it, so this sees what became of that.
      IF TG_OP = 'INSERT' THEN
        IF EXISTS (
          SELECT FROM public.erased_records r
          WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
        ) THEN
          PERFORM public.refuse_row('replies', 'replies_of_erased', 'restrict_violation',
            'A run that was erased is not answered any more.');
        END IF;
        RETURN NULL;
      END IF;
      IF to_jsonb(NEW) - ARRAY['text', 'facts', 'verification'] = to_jsonb(OLD) - ARRAY['text', 'facts', 'verification']
        AND NEW.text = '' AND NEW.facts = '[]' AND NEW.verification = '{}'
        AND public.is_being_erased(NEW.tenant_id, NEW.execution_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('replies', 'replies_kept', 'restrict_violation', 'What was sent never changes.');
    END
    $$`.execute(db)
  await replaceKept(db, 'replies', 'What was sent never changes.')
  await sql`
    CREATE TRIGGER replies_written AFTER INSERT OR UPDATE ON public.replies
      FOR EACH ROW EXECUTE FUNCTION public.guard_reply()`.execute(db)

  // Generated columns are made after this, so the code of the reason is compared by itself.
  await sql`
    CREATE FUNCTION public.guard_escalation() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      personal CONSTANT text[] := ARRAY['reason', 'reason_code', 'ticket', 'late_outcomes', 'resolution'];
    BEGIN
      IF to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
        AND OLD.status = 'resolved'
        AND num_nonnulls(NEW.ticket, NEW.late_outcomes) = 0
        AND NEW.reason = public.erased_reason(OLD.reason)
        AND NEW.resolution = OLD.resolution - 'text'
        AND public.is_being_erased(NEW.tenant_id, coalesce(NEW.execution_id, NEW.id))
      THEN
        RETURN NEW;
      END IF;
      IF TG_NAME = 'escalations_identity' THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'Why an escalation was opened never changes.');
      ELSIF TG_NAME = 'escalations_resolved' THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'A resolved escalation stays as it was resolved.');
      ELSIF NEW.late_outcomes IS NOT NULL AND EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
      ) THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'To a run that was erased nothing is added any more.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`DROP TRIGGER escalations_identity ON public.escalations`.execute(db)
  await sql`
    CREATE TRIGGER escalations_identity
      BEFORE UPDATE OF tenant_id, id, execution_id, reason, ticket, opened_at ON public.escalations
      FOR EACH ROW EXECUTE FUNCTION public.guard_escalation()`.execute(db)
  await sql`DROP TRIGGER escalations_resolved ON public.escalations`.execute(db)
  await sql`
    CREATE TRIGGER escalations_resolved
      BEFORE UPDATE OF queue, priority, status, assignee, resolution, assigned_at, resolved_at
      ON public.escalations FOR EACH ROW WHEN (OLD.status = 'resolved')
      EXECUTE FUNCTION public.guard_escalation()`.execute(db)
  await sql`
    CREATE TRIGGER escalations_late BEFORE UPDATE OF late_outcomes ON public.escalations
      FOR EACH ROW EXECUTE FUNCTION public.guard_escalation()`.execute(db)

  await sql`
    CREATE FUNCTION public.guard_gap() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      personal CONSTANT text[] := ARRAY['ticket', 'customer_id', 'idempotency_key', 'request_hash'];
    BEGIN
      IF to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
        AND NEW.ticket = '{}' AND num_nonnulls(NEW.customer_id, NEW.idempotency_key, NEW.request_hash) = 0
        AND public.is_being_erased(NEW.tenant_id, NEW.escalation_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('coverage_gaps', 'coverage_gaps_kept', 'restrict_violation',
        'A gap in coverage stays as it was found.');
    END
    $$`.execute(db)
  await replaceKept(db, 'coverage_gaps', 'A gap in coverage stays as it was found.')
  await sql`
    CREATE TRIGGER coverage_gaps_erased AFTER UPDATE ON public.coverage_gaps
      FOR EACH ROW EXECUTE FUNCTION public.guard_gap()`.execute(db)

  await sql`
    CREATE FUNCTION public.guard_sensitive_value() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF to_jsonb(NEW) - ARRAY['salt', 'value'] = to_jsonb(OLD) - ARRAY['salt', 'value']
        AND NEW.salt = '' AND NEW.value = ''
        AND public.is_being_erased(NEW.tenant_id, NEW.execution_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('sensitive_values', 'sensitive_values_kept', 'restrict_violation',
        'A sensitive value never changes.');
    END
    $$`.execute(db)
  await replaceKept(db, 'sensitive_values', 'A sensitive value never changes.')
  await sql`
    CREATE TRIGGER sensitive_values_erased AFTER UPDATE ON public.sensitive_values
      FOR EACH ROW EXECUTE FUNCTION public.guard_sensitive_value()`.execute(db)

  await sql`
    CREATE FUNCTION public.guard_salt() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT public.is_being_erased(OLD.tenant_id, OLD.execution_id) THEN
        PERFORM public.refuse_row('record_salts', 'record_salts_kept', 'restrict_violation',
          'What was sealed never changes.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`DROP TRIGGER record_salts_kept ON public.record_salts`.execute(db)
  await sql`
    CREATE TRIGGER record_salts_kept BEFORE UPDATE OR TRUNCATE ON public.record_salts
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was sealed never changes.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER record_salts_erased AFTER DELETE ON public.record_salts
      FOR EACH ROW EXECUTE FUNCTION public.guard_salt()`.execute(db)
}

/** Updates are left to the guard of the rows. */
async function replaceKept(db: Kysely<unknown>, table: string, text: string): Promise<void> {
  const name = sql.id(`${table}_kept`)
  const on = sql.table(`public.${table}`)
  await sql`DROP TRIGGER ${name} ON ${on}`.execute(db)
  await sql`
    CREATE TRIGGER ${name} BEFORE DELETE OR TRUNCATE ON ${on}
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse(${sql.lit(text)})`.execute(db)
}

/**
 * Erases some runs and tickets of a running erasure in one go, and writes the event. The digests come from the service,
 * which knows the canonical form; wrong ones erase as well, and the run then fails its verification.
 */
async function eraseRuns(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.erase_runs(
      of_erasure text, event_id text, at timestamptz, actor text, origin text, digests jsonb, tickets text[],
      desk_keys text[], OUT run_count integer, OUT ticket_count integer)
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
      asked CONSTANT text[] := ARRAY(SELECT jsonb_object_keys(digests));
      runs text[];
      opened text[];
    BEGIN
      SELECT * INTO erasure FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.id = of_erasure AND x.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN
        PERFORM public.refuse_row('erasures', 'erasures_running', 'restrict_violation',
          'Only an erasure that is running erases anything.');
      END IF;
      -- From here on nothing is added to them.
      PERFORM FROM public.executions e WHERE e.tenant_id = tenant AND e.id = ANY (asked) ORDER BY e.id FOR UPDATE;
      PERFORM FROM public.escalations x
        WHERE x.tenant_id = tenant AND (x.execution_id = ANY (asked) OR x.id = ANY (tickets)) ORDER BY x.id FOR UPDATE;

      WITH erased AS (
        INSERT INTO public.erased_records (tenant_id, execution_id, digests, erased_at, erasure_id, event_id)
        SELECT tenant, d.key, d.value, at, of_erasure, event_id FROM jsonb_each(digests) d ORDER BY d.key
        ON CONFLICT DO NOTHING
        RETURNING execution_id
      ) SELECT coalesce(array_agg(e.execution_id ORDER BY e.execution_id), '{}') INTO runs FROM erased e;
      WITH erased AS (
        INSERT INTO public.erased_tickets (tenant_id, escalation_id, erasure_id, erased_at)
        SELECT tenant, t, of_erasure, at FROM unnest(tickets) t ORDER BY t
        ON CONFLICT DO NOTHING
        RETURNING escalation_id
      ) SELECT coalesce(array_agg(e.escalation_id ORDER BY e.escalation_id), '{}') INTO opened FROM erased e;
      run_count := cardinality(runs);
      ticket_count := cardinality(opened);
      IF run_count + ticket_count = 0 THEN RETURN; END IF;

      IF EXISTS (
        SELECT FROM unnest(runs) r LEFT JOIN public.executions e ON e.tenant_id = tenant AND e.id = r
        WHERE e.ended_at IS NULL
          OR EXISTS (
            SELECT FROM public.executions p WHERE p.tenant_id = tenant AND p.id = e.root_id AND p.ended_at IS NULL)
          OR NOT EXISTS (SELECT FROM public.record_salts s WHERE s.tenant_id = tenant AND s.execution_id = r)
          OR EXISTS (
            SELECT FROM public.escalations x
            WHERE x.tenant_id = tenant AND x.execution_id = r AND x.status <> 'resolved')
          OR CASE erasure.kind
            WHEN 'customer' THEN erasure.customer_digest IS DISTINCT FROM
              encode(sha256(convert_to(erasure.customer_salt || ':' || e.customer_id, 'UTF8')), 'hex')
            ELSE NOT EXISTS (
              SELECT FROM public.tenants t
              WHERE t.id = tenant AND e.ended_at < at - make_interval(days => t.retention_days))
          END
      ) OR EXISTS (
        SELECT FROM unnest(opened) o LEFT JOIN public.escalations x
            ON x.tenant_id = tenant AND x.id = o AND x.execution_id IS NULL
          LEFT JOIN public.coverage_gaps g ON g.tenant_id = tenant AND g.escalation_id = o
        WHERE x.status IS DISTINCT FROM 'resolved'
          OR CASE erasure.kind
            WHEN 'customer' THEN erasure.customer_digest IS DISTINCT FROM
              encode(sha256(convert_to(erasure.customer_salt || ':' || g.customer_id, 'UTF8')), 'hex')
            ELSE NOT EXISTS (
              SELECT FROM public.tenants t
              WHERE t.id = tenant AND x.resolved_at < at - make_interval(days => t.retention_days))
          END
      ) THEN
        PERFORM public.refuse_row('erased_records', 'erased_records_of_ended', 'restrict_violation',
          'Only what its erasure is about, has ended, is sealed and waits for nobody can be erased.');
      END IF;

      DELETE FROM public.record_salts s WHERE s.tenant_id = tenant AND s.execution_id = ANY (runs);
      UPDATE public.executions e
        SET input = '{}', ticket = NULL, context = NULL, customer_id = NULL, ticket_id = NULL, on_behalf_of = NULL,
          idempotency_key = NULL, request_hash = NULL, reason = public.erased_reason(e.reason), result = NULL,
          conditions = NULL, selection = NULL
        WHERE e.tenant_id = tenant AND e.id = ANY (runs);
      UPDATE public.step_executions s
        SET input = NULL, output = NULL, error = NULL, attempts = NULL, exchange = NULL
        WHERE s.tenant_id = tenant AND s.execution_id = ANY (runs);
      UPDATE public.sensitive_values v SET salt = '', value = ''
        WHERE v.tenant_id = tenant AND v.execution_id = ANY (runs);
      UPDATE public.replies r SET text = '', facts = '[]', verification = '{}'
        WHERE r.tenant_id = tenant AND r.execution_id = ANY (runs);
      UPDATE public.escalations x
        SET reason = public.erased_reason(x.reason), ticket = NULL, late_outcomes = NULL,
          resolution = x.resolution - 'text'
        WHERE x.tenant_id = tenant AND (x.execution_id = ANY (runs) OR x.id = ANY (opened));
      UPDATE public.coverage_gaps g
        SET ticket = '{}', customer_id = NULL, idempotency_key = NULL, request_hash = NULL
        WHERE g.tenant_id = tenant AND g.escalation_id = ANY (opened);
      UPDATE public.desk_messages m SET message = 'erased'
        WHERE m.tenant_id = tenant AND m.idempotency_key = ANY (desk_keys);
      UPDATE public.desk_refunds f SET transaction_id = 'erased ' || f.id
        WHERE f.tenant_id = tenant AND f.idempotency_key = ANY (desk_keys);
      UPDATE public.erasures x
        SET run_count = x.run_count + cardinality(runs), ticket_count = x.ticket_count + cardinality(opened)
        WHERE x.tenant_id = tenant AND x.id = of_erasure;

      INSERT INTO public.audit_events
        (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
      VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor,
        CASE erasure.kind WHEN 'customer' THEN 'executions.erased' ELSE 'executions.expired' END, 'erasure', of_erasure,
        jsonb_strip_nulls(jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
          'count', cardinality(runs), 'executions', to_jsonb(runs), 'tickets', to_jsonb(opened)))::text,
        origin, false);
    END
    $$`.execute(db)
  await forTheService(
    db,
    'public.erase_runs(text, text, timestamptz, text, text, jsonb, text[], text[])',
  )
}

/** Ends an erasure: what is left besides runs and tickets goes, and the salt of the customer with it. */
async function finishErasures(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.finish_erasure(
      of_erasure text, customer text, event_id text, at timestamptz, actor text, origin text)
      RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
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
      ELSE
        DELETE FROM public.limit_counters c USING public.tenants t
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND t.id = tenant
            AND c.starts_at + ('1 ' || c.period)::interval < at - make_interval(days => t.retention_days);
      END IF;
      UPDATE public.erasures x SET ended_at = at, customer_salt = NULL
        WHERE x.tenant_id = tenant AND x.id = of_erasure;
      IF erasure.kind = 'customer' THEN
        INSERT INTO public.audit_events
          (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
        VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor, 'customer.erased',
          'erasure', of_erasure,
          jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
            'runs', erasure.run_count, 'tickets', erasure.ticket_count)::text,
          origin, false);
      END IF;
    END
    $$`.execute(db)
  await forTheService(db, 'public.finish_erasure(text, text, text, timestamptz, text, text)')
}

/** How long a tenant keeps the values of its runs. */
async function keepRetention(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.tenants ADD COLUMN retention_days integer CHECK (retention_days BETWEEN 1 AND 36500)`.execute(
    db,
  )
  await sql`GRANT UPDATE (retention_days) ON public.tenants TO stepwarden_app`.execute(db)
  await sql`GRANT SELECT (retention_days) ON public.tenants TO stepwarden_system`.execute(db)
  await sql`
    CREATE FUNCTION public.tenants_with_retention() RETURNS SETOF text LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT t.id FROM public.tenants t WHERE t.retention_days IS NOT NULL ORDER BY t.id
    $$`.execute(db)
  await forTheService(db, 'public.tenants_with_retention()')
  await sql`ALTER FUNCTION public.tenants_with_retention() OWNER TO stepwarden_system`.execute(db)
}

async function forTheService(db: Kysely<unknown>, signature: string): Promise<void> {
  const name = sql.raw(signature)
  await sql`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION ${name} TO stepwarden_app`.execute(db)
}
