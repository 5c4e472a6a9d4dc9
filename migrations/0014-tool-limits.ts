import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What has been used of the limits of tools. A counter is one window of one limit; that it never passes its limit is a
 * constraint, so that the statement which counts is refused as a whole, with the intent that it would have written.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The key's columns never change, so that counting writes the row alone and no index; room for it is left on the page.
  await sql`
    CREATE TABLE public.limit_counters (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      tool text COLLATE "C" NOT NULL,
      measure text COLLATE "C" NOT NULL,
      scope text NOT NULL CHECK (scope IN ('customer', 'procedure', 'tenant')),
      subject text COLLATE "C" NOT NULL,
      period text NOT NULL CHECK (period IN ('hour', 'day', 'week', 'month')),
      starts_at timestamptz(3) NOT NULL,
      used numeric NOT NULL CONSTRAINT limit_counters_not_negative CHECK (used >= 0),
      at_most numeric NOT NULL,
      PRIMARY KEY (tenant_id, tool, measure, scope, subject, period, starts_at),
      CONSTRAINT limit_counters_within CHECK (used <= at_most)
    ) WITH (fillfactor = 50)`.execute(db)
  await sql`ALTER TABLE public.limit_counters ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.limit_counters
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`
    GRANT SELECT, INSERT, UPDATE (used, at_most) ON public.limit_counters TO stepwarden_app`.execute(
    db,
  )
}
