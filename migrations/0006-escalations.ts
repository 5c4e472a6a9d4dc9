import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** What comes after a run: escalations, gaps in coverage, and the replies that were sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.escalations (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C",
      reason jsonb NOT NULL,
      reason_code text NOT NULL GENERATED ALWAYS AS (reason ->> 'code') STORED,
      queue text COLLATE "C" NOT NULL,
      priority text NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'assigned', 'resolved')),
      assignee text,
      ticket jsonb,
      late_outcomes jsonb,
      resolution jsonb,
      opened_at timestamptz(3) NOT NULL,
      assigned_at timestamptz(3),
      resolved_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, execution_id) REFERENCES public.executions (tenant_id, id),
      CHECK (status <> 'assigned' OR (assignee IS NOT NULL AND assigned_at IS NOT NULL)),
      CHECK ((status = 'resolved') = (resolved_at IS NOT NULL)),
      CHECK ((status = 'resolved') = (resolution IS NOT NULL))
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX escalations_one_per_execution ON public.escalations (tenant_id, execution_id)
      WHERE execution_id IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX escalations_unresolved ON public.escalations (tenant_id, queue, opened_at)
      WHERE status <> 'resolved'`.execute(db)

  await sql`
    CREATE TABLE public.coverage_gaps (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      ticket jsonb NOT NULL,
      candidates jsonb NOT NULL CHECK (jsonb_typeof(candidates) = 'array'),
      model text COLLATE "C" NOT NULL,
      escalation_id text COLLATE "C" NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id),
      FOREIGN KEY (tenant_id, escalation_id) REFERENCES public.escalations (tenant_id, id)
    )`.execute(db)

  await sql`
    CREATE TABLE public.replies (
      tenant_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      text text NOT NULL,
      source text NOT NULL CHECK (source IN ('built_in', 'model')),
      facts jsonb NOT NULL CHECK (jsonb_typeof(facts) = 'array'),
      verification jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, execution_id),
      FOREIGN KEY (tenant_id, execution_id) REFERENCES public.executions (tenant_id, id)
    )`.execute(db)

  for (const table of ['public.escalations', 'public.coverage_gaps', 'public.replies']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }

  await sql`
    GRANT SELECT, INSERT, UPDATE (queue, priority, status, assignee, late_outcomes, resolution, assigned_at,
      resolved_at) ON public.escalations TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER escalations_identity
      BEFORE UPDATE OF tenant_id, id, execution_id, reason, ticket, opened_at ON public.escalations
      FOR EACH ROW EXECUTE FUNCTION public.refuse('Why an escalation was opened never changes.')`.execute(
    db,
  )
  // A late outcome of the run may still be attached to what was resolved.
  await sql`
    CREATE TRIGGER escalations_resolved
      BEFORE UPDATE OF queue, priority, status, assignee, resolution, assigned_at, resolved_at
      ON public.escalations FOR EACH ROW WHEN (OLD.status = 'resolved')
      EXECUTE FUNCTION public.refuse('A resolved escalation stays as it was resolved.')`.execute(db)
  await sql`
    CREATE TRIGGER escalations_kept BEFORE DELETE OR TRUNCATE ON public.escalations
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('An escalation is never deleted.')`.execute(
    db,
  )
  await sql`GRANT SELECT, INSERT ON public.coverage_gaps, public.replies TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER coverage_gaps_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.coverage_gaps
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A gap in coverage stays as it was found.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER replies_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.replies
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was sent never changes.')`.execute(db)
}
