import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What the whole deployment has to do, for those who run it: counts alone, and of no tenant. See
 * docs/decisions/0023-observability.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The age of the first run behind a cursor stands for that of the oldest: ids are made in the order of time, and what
  // the cursor has passed is among those that were put aside. Of queues, which playbooks name, the longest have a label.
  await sql`
    CREATE FUNCTION public.deployment_figures()
      RETURNS TABLE (figure text, label text, value double precision) LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      WITH queues AS (
        SELECT x.queue, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, x.queue) AS place
        FROM public.escalations x WHERE x.status <> 'resolved' GROUP BY x.queue
      ), waits AS (
        SELECT next.ended_at FROM public.tenants t
        LEFT JOIN public.seal_cursors c ON c.tenant_id = t.id
        CROSS JOIN LATERAL (
          SELECT e.ended_at FROM public.executions e
          WHERE e.tenant_id = t.id AND e.id > coalesce(c.walked_to, '') AND e.ended_at IS NOT NULL
          ORDER BY e.id LIMIT 1
        ) next
        UNION ALL
        SELECT e.ended_at FROM public.seal_waiting w
        JOIN public.executions e ON e.tenant_id = w.tenant_id AND e.id = w.execution_id
        WHERE e.ended_at IS NOT NULL
      )
      SELECT 'escalations_open', CASE WHEN q.place <= 50 THEN q.queue ELSE 'other' END, sum(q.n)::double precision
        FROM queues q GROUP BY 2
      UNION ALL
      SELECT 'webhooks', CASE WHEN w.status = 'paused' THEN 'paused' WHEN w.failing_since IS NOT NULL THEN 'failing'
          ELSE 'active' END, count(*)::double precision
        FROM public.webhooks w GROUP BY 2
      UNION ALL
      SELECT 'webhook_messages_pending', '', count(*)::double precision
        FROM public.webhook_deliveries d WHERE d.status = 'pending'
      UNION ALL
      SELECT 'seal_lag_seconds', '',
          coalesce(greatest(extract(epoch FROM clock_timestamp() - min(w.ended_at)), 0), 0)::double precision
        FROM waits w
    $$`.execute(db)
  // It sees queues and states, and nobody's words.
  await sql`
    CREATE POLICY system_rows ON public.escalations FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`GRANT SELECT (queue, status) ON public.escalations TO stepwarden_system`.execute(db)
  await sql`GRANT SELECT (tenant_id, id, ended_at) ON public.executions TO stepwarden_system`.execute(
    db,
  )
  await sql`GRANT SELECT (status, failing_since) ON public.webhooks TO stepwarden_system`.execute(
    db,
  )
  await sql`GRANT SELECT (status) ON public.webhook_deliveries TO stepwarden_system`.execute(db)
  await sql`REVOKE ALL ON FUNCTION public.deployment_figures() FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION public.deployment_figures() TO stepwarden_app`.execute(db)
  // Last, because from here on only its new owner can grant it.
  await sql`ALTER FUNCTION public.deployment_figures() OWNER TO stepwarden_system`.execute(db)
}
