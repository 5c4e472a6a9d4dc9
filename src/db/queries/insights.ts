import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { StepKind } from '../../domain/step.ts'
import type { Db } from '../connect.ts'
import type { Tables } from '../tables.ts'
import { unfitted } from './escalations.ts'

/**
 * Which runs. Ids are in the order of time, so that a period is a range of the primary key: nothing outside it is read, and
 * no index is needed that every start would have to write.
 */
export interface InsightsFilter {
  readonly fromId: Id<'execution'>
  readonly beforeId: Id<'execution'>
  readonly procedureKey?: string | undefined
  readonly versionNumber?: number | undefined
}

/** Milliseconds. */
export interface Durations {
  readonly median: number
  readonly p95: number
}

/** How many runs there are, by how they ended. */
export interface RunCounts {
  readonly runs: number
  readonly resolved: number
  readonly declined: number
  readonly escalated: number
  readonly cancelled: number
  /** From the start to the end of those that completed or were escalated, waits included; null where there are none. */
  readonly durations: Durations | null
}

export interface VersionInsights extends RunCounts {
  readonly procedureKey: string
  readonly versionNumber: number
}

export interface PeriodInsights extends RunCounts {
  /** Its begin, in UTC. */
  readonly from: Date
}

/** How often runs of a version were escalated for one reason, at one step where there is one. */
export interface EscalationInsights {
  readonly procedureKey: string
  readonly versionNumber: number
  readonly stepKey: string | null
  readonly code: string
  readonly count: number
}

/** What came of a step of a version: of each round of a loop by itself, and not of the loop. */
export interface StepInsights {
  readonly versionNumber: number
  readonly stepKey: string
  readonly kind: StepKind
  readonly tool: string | null
  /** How often it ran or waited. */
  readonly begun: number
  readonly skipped: number
  readonly completed: number
  readonly failed: number
  readonly expired: number
  readonly denied: number
  /** How many run or wait now. */
  readonly open: number
  readonly attempts: number
  readonly mostAttempts: number
  readonly retried: number
  readonly durations: Durations | null
}

/** The versions with the most runs in the period, those with the same number by key and number. */
export async function listVersionInsights(
  db: Db,
  filter: InsightsFilter,
  limit: number,
): Promise<readonly VersionInsights[]> {
  const rows = await runsOf(db, filter)
    .select(['procedure_key', 'version_number'])
    .select(runCounts)
    .groupBy(['procedure_key', 'version_number'])
    .orderBy('runs', 'desc')
    .orderBy('procedure_key')
    .orderBy('version_number', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ procedure_key, version_number, ...counts }) => ({
    procedureKey: procedure_key,
    versionNumber: version_number,
    ...toCounts(counts),
  }))
}

/** The same runs by when they were started, the oldest first; a period without runs is left out. */
export async function listPeriodInsights(
  db: Db,
  filter: InsightsFilter,
  by: 'day' | 'week' | 'month',
): Promise<readonly PeriodInsights[]> {
  const begin = sql<Date>`date_trunc(${by}, created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`
  const rows = await runsOf(db, filter)
    .select(begin.as('begin'))
    .select(runCounts)
    .groupBy('begin')
    .orderBy('begin')
    .execute()
  return rows.map(({ begin: from, ...counts }) => ({ from, ...toCounts(counts) }))
}

/** Why runs were escalated, the most frequent reason first. */
export async function listEscalationInsights(
  db: Db,
  filter: InsightsFilter,
): Promise<readonly EscalationInsights[]> {
  const rows = await runsOf(db, filter)
    .where('status', '=', 'escalated')
    .select(['procedure_key', 'version_number', 'reason_code'])
    .select(sql<string | null>`reason ->> 'stepKey'`.as('step_key'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .groupBy(['procedure_key', 'version_number', 'reason_code', 'step_key'])
    .orderBy('n', 'desc')
    .orderBy('reason_code')
    .orderBy('step_key')
    .execute()
  return rows.map((row) => ({
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    stepKey: row.step_key,
    code: row.reason_code ?? '',
    count: Number(row.n),
  }))
}

/** The steps of the versions of one procedure, by version, newest first, and key. */
export async function listStepInsights(
  db: Db,
  filter: InsightsFilter & { readonly procedureKey: string },
): Promise<readonly StepInsights[]> {
  const count = (condition: RawBuilder<unknown>) =>
    sql<number>`count(*) FILTER (WHERE ${condition})`
  const isBegun = sql`s.status <> 'skipped'`
  const hasStatus = (status: string) => sql`s.status = ${status}`
  let query = db
    .selectFrom('executions as e')
    .innerJoin('step_executions as s', (join) =>
      join.onRef('s.tenant_id', '=', 'e.tenant_id').onRef('s.execution_id', '=', 'e.id'),
    )
    .where('e.id', '>=', filter.fromId)
    .where('e.id', '<', filter.beforeId)
    // The range once more, of the steps, would be an index condition that an unsuspecting planner takes instead of the id:
    // where the statistics are older than the rows, it then reads all steps of the period for each run of it.
    .where('e.procedure_key', '=', filter.procedureKey)
    // The row of a loop stands for no round of it.
    .where(sql<boolean>`NOT (s.attempt = 0 AND s.tool IS NULL AND ${isBegun})`)
  if (filter.versionNumber !== undefined) {
    query = query.where('e.version_number', '=', filter.versionNumber)
  }
  const rows = await query
    .select(['e.version_number', 's.step_key', 's.kind'])
    .select(({ fn }) => fn.max('s.tool').as('tool'))
    .select([
      count(isBegun).as('begun'),
      count(hasStatus('skipped')).as('skipped'),
      count(hasStatus('completed')).as('completed'),
      count(hasStatus('failed')).as('failed'),
      count(hasStatus('expired')).as('expired'),
      count(hasStatus('denied')).as('denied'),
      count(sql`s.ended_at IS NULL`).as('open'),
      sql<number>`coalesce(sum(s.attempt) FILTER (WHERE ${isBegun}), 0)`.as('attempts'),
      sql<number>`max(s.attempt)`.as('most_attempts'),
      count(sql`s.attempt > 1`).as('retried'),
      durations(sql`s.ended_at - s.started_at`, isBegun).as('durations'),
    ])
    .groupBy(['e.version_number', 's.step_key', 's.kind'])
    .orderBy('e.version_number', 'desc')
    .orderBy('s.step_key')
    .execute()
  return rows.map((row) => ({
    versionNumber: row.version_number,
    stepKey: row.step_key,
    // Written only by this service.
    kind: row.kind as StepKind,
    tool: row.tool,
    begun: row.begun,
    skipped: row.skipped,
    completed: row.completed,
    failed: row.failed,
    expired: row.expired,
    denied: row.denied,
    open: row.open,
    attempts: row.attempts,
    mostAttempts: row.most_attempts,
    retried: row.retried,
    durations: toDurations(row.durations),
  }))
}

/** How many tickets of the period no procedure fitted. */
export async function countGaps(db: Db, fromId: Id<'gap'>, beforeId: Id<'gap'>): Promise<number> {
  const { n } = await unfitted(db)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('g.id', '>=', fromId)
    .where('g.id', '<', beforeId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

function runsOf(db: Db, { fromId, beforeId, procedureKey, versionNumber }: InsightsFilter) {
  let query = db.selectFrom('executions').where('id', '>=', fromId).where('id', '<', beforeId)
  if (procedureKey !== undefined) query = query.where('procedure_key', '=', procedureKey)
  if (versionNumber !== undefined) query = query.where('version_number', '=', versionNumber)
  return query
}

function runCounts({ fn }: ExpressionBuilder<Tables, 'executions'>) {
  const ended = sql<boolean>`status IN ('completed', 'escalated')`
  return [
    fn.countAll<number>().as('runs'),
    sql<number>`count(*) FILTER (WHERE outcome = 'resolved')`.as('resolved'),
    sql<number>`count(*) FILTER (WHERE outcome = 'declined')`.as('declined'),
    sql<number>`count(*) FILTER (WHERE status = 'escalated')`.as('escalated'),
    sql<number>`count(*) FILTER (WHERE status = 'cancelled')`.as('cancelled'),
    durations(sql`ended_at - coalesce(started_at, created_at)`, ended).as('durations'),
  ] as const
}

/** Median and 95th percentile of an interval, in milliseconds. */
function durations(interval: RawBuilder<unknown>, condition: RawBuilder<unknown>) {
  return sql<readonly [number | null, number | null] | null>`
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM ${interval})::float8 * 1000)
      FILTER (WHERE ${condition})`
}

function toDurations(found: readonly (number | null)[] | null): Durations | null {
  const [median = null, p95 = null] = found ?? []
  return median === null || p95 === null
    ? null
    : { median: Math.round(median), p95: Math.round(p95) }
}

function toCounts(
  row: Omit<RunCounts, 'durations'> & { readonly durations: readonly (number | null)[] | null },
): RunCounts {
  const { runs, resolved, declined, escalated, cancelled } = row
  return {
    runs: Number(runs),
    resolved,
    declined,
    escalated,
    cancelled,
    durations: toDurations(row.durations),
  }
}
