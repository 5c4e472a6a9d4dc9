import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Guards that hold whatever the session has set: they resolve names in the system catalog first, and those that look at other
 * rows refuse a transaction that would show them older ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await namesOfTheSystem(db)
  await freshReads(db)
  await writersOfTheSame(db)
}

async function namesOfTheSystem(db: Kysely<unknown>): Promise<void> {
  // A type of the session's own could stand in for one of the system's. Not for those that every step of a run passes, where it
  // would cost: there it is kept out by the session's having no right to make one (src/db/roles.ts).
  for (const name of [
    'audit_hash(public.audit_events)',
    'check_activation()',
    'erased_reason(jsonb)',
    'forget_calls()',
    'guard_approval()',
    'guard_backtest()',
    'guard_backtest_run()',
    'guard_escalation()',
    'guard_gap()',
    'guard_salt()',
    'guard_scenario()',
    'guard_sensitive_value()',
    'is_being_erased(text, text)',
    'netstring(text)',
    'new_audit_id(timestamptz)',
    'refuse()',
    'refuse_row(text, text, text, text)',
    'serve_vector()',
    'serve_version()',
    'tell_governance()',
    'version_content(public.procedure_versions)',
  ]) {
    await sql`
      ALTER FUNCTION ${sql.raw(`public.${name}`)} SET search_path = pg_catalog, public, pg_temp`.execute(
      db,
    )
  }
}

async function freshReads(db: Kysely<unknown>): Promise<void> {
  // Under a snapshot that was taken before, a guard would not see the verdict, the scenario or the switch that another
  // transaction has committed since, however it locks.
  await sql`
    CREATE FUNCTION public.require_read_committed() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM public.refuse_row(TG_TABLE_NAME, 'read_committed', 'restrict_violation',
          'What goes live is changed in transactions that are READ COMMITTED, so that they see what others have done.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
  for (const table of ['procedure_versions', 'reviews', 'scenarios', 'activations']) {
    await sql`
      CREATE TRIGGER read_committed BEFORE INSERT OR UPDATE ON ${sql.raw(`public.${table}`)}
        FOR EACH STATEMENT EXECUTE FUNCTION public.require_read_committed()`.execute(db)
  }
}

/** Whoever has written what is to be approved is its author, in whatever draft it stood and whoever has stored it since. */
async function writersOfTheSame(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX audit_events_written ON public.audit_events (tenant_id, after_hash)
      WHERE action IN ('version.created', 'version.edited')`.execute(db)
  await sql`
    CREATE FUNCTION public.has_written(of_tenant text, who text, definition_hash text) RETURNS boolean
      LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT EXISTS (
        SELECT FROM public.audit_events e
        WHERE e.tenant_id = of_tenant AND e.after_hash = definition_hash AND e.actor_id = who
          AND e.action IN ('version.created', 'version.edited')
          -- A copy has its authors from what it is a copy of.
          AND e.details::jsonb ->> 'basedOn' IS NULL)
    $$`.execute(db)
  await sql`
    CREATE OR REPLACE FUNCTION public.stamp_review() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      version public.procedure_versions;
    BEGIN
      SELECT * INTO version FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.procedure_id = NEW.procedure_id
        FOR SHARE;
      IF version.id IS NULL OR (NEW.verdict <> 'comment' AND version.status <> 'draft') THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_draft', 'restrict_violation',
          'A verdict is given on a draft.');
      END IF;
      IF NEW.verdict = 'approve' AND (NEW.reviewer_id = ANY (version.author_ids)
        OR public.has_written(NEW.tenant_id, NEW.reviewer_id, version.definition_hash))
      THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_others', 'restrict_violation',
          'Nobody approves their own work.');
      END IF;
      NEW.content := public.version_content(version);
      RETURN NEW;
    END
    $$`.execute(db)
}
