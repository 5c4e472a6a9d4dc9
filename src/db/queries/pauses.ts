import { type RawBuilder, sql } from 'kysely'

/**
 * The pauses of an execution that is let go on, which time does not count in, with the one that ends now if it is paused.
 * That began when it was asked for, or with the last that the record has, which a worker may have brought in since.
 */
export function pausesUntil(at: Date, execution: 'e' | 'executions'): RawBuilder<string> {
  const e = sql.table(execution)
  const from = sql`greatest(${e}.pause_requested_at, (
    SELECT max(coalesce(s.ended_at, s.started_at)) FROM step_executions s
    WHERE s.tenant_id = ${e}.tenant_id AND s.execution_id = ${e}.id))`
  const milliseconds = (instant: RawBuilder<unknown>) =>
    sql`(extract(epoch FROM ${instant}) * 1000)::bigint`
  const to = sql`greatest(${at}::timestamptz, ${from})`
  return sql`CASE WHEN ${e}.status = 'paused'
    THEN coalesce(${e}.pauses, '[]') || jsonb_build_array(jsonb_build_array(${milliseconds(from)}, ${milliseconds(to)}))
    ELSE ${e}.pauses END`
}
