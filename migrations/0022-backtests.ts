import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Backtests of versions, and the past runs that came out otherwise. docs/decisions/0015-backtest.md says what is stored. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.backtests (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      procedure_id text COLLATE "C" NOT NULL,
      procedure_key text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      version_number integer NOT NULL,
      definition_hash text COLLATE "C" NOT NULL,
      tool_contracts jsonb NOT NULL,
      approval_digest text COLLATE "C" NOT NULL,
      filter jsonb NOT NULL CHECK (jsonb_typeof(filter) = 'object'),
      run_count integer NOT NULL CHECK (run_count >= 0),
      started_by jsonb NOT NULL,
      started_at timestamptz(3) NOT NULL,
      state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')),
      done_count integer NOT NULL DEFAULT 0 CHECK (done_count >= 0),
      next_before text COLLATE "C" NOT NULL,
      tally jsonb NOT NULL CHECK (jsonb_typeof(tally) = 'object'),
      ended_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id) ON DELETE CASCADE,
      CHECK ((state = 'running') = (ended_at IS NULL))
    )`.execute(db)
  await sql`
    CREATE INDEX backtests_of_version ON public.backtests (tenant_id, version_id, id)`.execute(db)
  // No foreign key leads to the execution: it is never deleted but by retention, and a backtest outlives it.
  await sql`
    CREATE TABLE public.backtest_runs (
      tenant_id text COLLATE "C" NOT NULL,
      backtest_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      version_number integer NOT NULL,
      kind text NOT NULL CHECK (kind IN ('different', 'unknown')),
      verdict jsonb NOT NULL CHECK (jsonb_typeof(verdict) = 'object'),
      PRIMARY KEY (tenant_id, backtest_id, execution_id),
      FOREIGN KEY (tenant_id, backtest_id) REFERENCES public.backtests (tenant_id, id) ON DELETE CASCADE
    )`.execute(db)
  for (const table of ['public.backtests', 'public.backtest_runs']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }
  await sql`
    GRANT SELECT, INSERT, UPDATE (state, done_count, next_before, tally, ended_at)
      ON public.backtests TO stepwarden_app`.execute(db)
  await sql`GRANT SELECT, INSERT ON public.backtest_runs TO stepwarden_app`.execute(db)
  await guardBacktests(db)
}

/** What was found stays as it was found: a reviewer may have decided by it. Both go with a draft that is deleted. */
async function guardBacktests(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TRIGGER backtests_identity
      BEFORE UPDATE OF tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
        tool_contracts, approval_digest, filter, run_count, started_by, started_at
      ON public.backtests FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What a backtest was begun with never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER backtests_ended BEFORE UPDATE ON public.backtests FOR EACH ROW
      WHEN (OLD.state <> 'running')
      EXECUTE FUNCTION public.refuse('A backtest that has ended never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER backtests_only_forward BEFORE UPDATE ON public.backtests FOR EACH ROW
      WHEN (NEW.done_count < OLD.done_count OR NEW.next_before > OLD.next_before)
      EXECUTE FUNCTION public.refuse('A backtest never goes back.')`.execute(db)
  await sql`
    CREATE TRIGGER backtest_runs_found BEFORE UPDATE ON public.backtest_runs
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What a backtest found never changes.')`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.guard_backtest_run() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      state text;
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT b.state INTO state FROM public.backtests b
          WHERE b.tenant_id = NEW.tenant_id AND b.id = NEW.backtest_id;
        IF state <> 'running' THEN
          PERFORM public.refuse_row('backtest_runs', 'backtest_runs_while_running', 'restrict_violation',
            'A backtest that has ended finds nothing more.');
        END IF;
        RETURN NEW;
      END IF;
      -- One that goes with its backtest finds none.
      IF EXISTS (SELECT FROM public.backtests b WHERE b.tenant_id = OLD.tenant_id AND b.id = OLD.backtest_id) THEN
        PERFORM public.refuse_row('backtest_runs', 'backtest_runs_while_running', 'restrict_violation',
          'What a backtest found is never deleted.');
      END IF;
      RETURN OLD;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER backtest_runs_while_running BEFORE INSERT OR DELETE ON public.backtest_runs
      FOR EACH ROW EXECUTE FUNCTION public.guard_backtest_run()`.execute(db)
  await sql`
    CREATE FUNCTION public.guard_backtest() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (
        SELECT FROM public.procedure_versions v WHERE v.tenant_id = OLD.tenant_id AND v.id = OLD.version_id
      ) THEN
        PERFORM public.refuse_row('backtests', 'backtests_kept', 'restrict_violation',
          'A backtest goes only with its draft.');
      END IF;
      RETURN OLD;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER backtests_kept BEFORE DELETE ON public.backtests
      FOR EACH ROW EXECUTE FUNCTION public.guard_backtest()`.execute(db)
  await sql`
    CREATE TRIGGER backtests_whole BEFORE TRUNCATE ON public.backtests
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A backtest goes only with its draft.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER backtest_runs_whole BEFORE TRUNCATE ON public.backtest_runs
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What a backtest found is never deleted.')`.execute(
    db,
  )
}
