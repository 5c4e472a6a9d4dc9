import type { Selectable } from 'kysely'
import type {
  BacktestFilter,
  BacktestTally,
  RunVerdict,
  VerdictKind,
} from '../../domain/backtest.ts'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'
import type { BacktestsTable } from '../rows/procedures.ts'

export type BacktestState = 'running' | 'done' | 'cancelled'

/** What a backtest is begun with. */
export interface NewBacktest {
  readonly id: Id<'backtest'>
  readonly procedureId: Id<'procedure'>
  readonly procedureKey: string
  readonly versionId: Id<'version'>
  readonly versionNumber: number
  readonly definitionHash: string
  readonly toolContracts: Readonly<Record<string, string>>
  readonly approvalDigest: string
  readonly filter: BacktestFilter
  readonly runCount: number
  readonly startedBy: Principal
  readonly startedAt: Date
  /** Every run with an id below this one is still to be looked at. */
  readonly nextBefore: Id<'execution'>
  readonly tally: BacktestTally
}

export interface Backtest extends NewBacktest {
  readonly state: BacktestState
  readonly doneCount: number
  readonly endedAt: Date | null
}

/** A past run that does not end as before, or of which that cannot be known. */
export interface AffectedRun {
  readonly executionId: Id<'execution'>
  readonly versionNumber: number
  readonly verdict: Exclude<RunVerdict, { readonly kind: 'same' }>
}

export async function insertBacktest(
  transaction: Transaction,
  tenantId: string,
  backtest: NewBacktest,
): Promise<void> {
  await transaction
    .insertInto('backtests')
    .values({
      tenant_id: tenantId,
      id: backtest.id,
      procedure_id: backtest.procedureId,
      procedure_key: backtest.procedureKey,
      version_id: backtest.versionId,
      version_number: backtest.versionNumber,
      definition_hash: backtest.definitionHash,
      tool_contracts: canonicalJson(backtest.toolContracts),
      approval_digest: backtest.approvalDigest,
      filter: canonicalJson(backtest.filter),
      run_count: backtest.runCount,
      started_by: canonicalJson(backtest.startedBy),
      started_at: backtest.startedAt,
      next_before: backtest.nextBefore,
      tally: canonicalJson(backtest.tally),
    })
    .execute()
}

export async function findBacktest(db: Db, id: Id<'backtest'>): Promise<Backtest | undefined> {
  const row = await db.selectFrom('backtests').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toBacktest(row)
}

/** The same; until the transaction ends nobody else carries it on. */
export async function lockBacktest(
  transaction: Transaction,
  id: Id<'backtest'>,
): Promise<Backtest | undefined> {
  const row = await transaction
    .selectFrom('backtests')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && toBacktest(row)
}

/** The newest backtest of a version that has not ended, of exactly this definition, these contracts and this filter. */
export async function findRunningBacktest(
  db: Db,
  backtest: Pick<NewBacktest, 'versionId' | 'definitionHash' | 'toolContracts' | 'filter'>,
): Promise<Backtest | undefined> {
  const row = await db
    .selectFrom('backtests')
    .selectAll()
    .where('version_id', '=', backtest.versionId)
    .where('state', '=', 'running')
    .where('definition_hash', '=', backtest.definitionHash)
    .where('tool_contracts', '=', canonicalJson(backtest.toolContracts))
    .where('filter', '=', canonicalJson(backtest.filter))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toBacktest(row)
}

/** The newest backtest of a version that came to its end and is of what an approval of this digest would bind. */
export async function findBacktestOfDigest(
  db: Db,
  versionId: Id<'version'>,
  approvalDigest: string,
): Promise<Backtest | undefined> {
  const row = await db
    .selectFrom('backtests')
    .selectAll()
    .where('version_id', '=', versionId)
    .where('approval_digest', '=', approvalDigest)
    .where('state', '=', 'done')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toBacktest(row)
}

/** A page of the backtests of a version, newest first. `before` is the last id of the page before. */
export async function listBacktests(
  db: Db,
  versionId: Id<'version'>,
  page: { readonly limit: number; readonly before?: string | undefined },
): Promise<readonly Backtest[]> {
  let query = db
    .selectFrom('backtests')
    .selectAll()
    .where('version_id', '=', versionId)
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
  return (await query.execute()).map(toBacktest)
}

/** Writes how far a backtest has come; the caller holds its lock. */
export async function updateBacktest(
  transaction: Transaction,
  id: Id<'backtest'>,
  progress: Pick<Backtest, 'state' | 'doneCount' | 'nextBefore' | 'tally' | 'endedAt'>,
): Promise<void> {
  await transaction
    .updateTable('backtests')
    .set({
      state: progress.state,
      done_count: progress.doneCount,
      next_before: progress.nextBefore,
      tally: canonicalJson(progress.tally),
      ended_at: progress.endedAt,
    })
    .where('id', '=', id)
    .execute()
}

export async function insertAffectedRuns(
  transaction: Transaction,
  tenantId: string,
  backtestId: Id<'backtest'>,
  runs: readonly AffectedRun[],
): Promise<void> {
  if (runs.length === 0) return
  await transaction
    .insertInto('backtest_runs')
    .values(
      runs.map(({ executionId, versionNumber, verdict }) => ({
        tenant_id: tenantId,
        backtest_id: backtestId,
        execution_id: executionId,
        version_number: versionNumber,
        kind: verdict.kind,
        verdict: canonicalJson(verdict),
      })),
    )
    .execute()
}

/** A page of what a backtest found, the newest run first. `before` is the last execution id of the page before. */
export async function listAffectedRuns(
  db: Db,
  backtestId: Id<'backtest'>,
  page: {
    readonly limit: number
    readonly before?: string | undefined
    readonly kind?: Exclude<VerdictKind, 'same'> | undefined
  },
): Promise<readonly AffectedRun[]> {
  let query = db
    .selectFrom('backtest_runs')
    .select(['execution_id', 'version_number', 'verdict'])
    .where('backtest_id', '=', backtestId)
    .orderBy('execution_id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('execution_id', '<', page.before)
  if (page.kind !== undefined) query = query.where('kind', '=', page.kind)
  const rows = await query.execute()
  return rows.map((row) => ({
    executionId: row.execution_id as Id<'execution'>,
    versionNumber: row.version_number,
    // Written only by `insertAffectedRuns`.
    verdict: row.verdict as unknown as AffectedRun['verdict'],
  }))
}

// The JSON columns are written only by this service, from values of the types that they are read as.
function toBacktest(row: Selectable<BacktestsTable>): Backtest {
  return {
    id: row.id as Id<'backtest'>,
    procedureId: row.procedure_id as Id<'procedure'>,
    procedureKey: row.procedure_key,
    versionId: row.version_id as Id<'version'>,
    versionNumber: row.version_number,
    definitionHash: row.definition_hash,
    toolContracts: row.tool_contracts as Readonly<Record<string, string>>,
    approvalDigest: row.approval_digest,
    filter: row.filter as unknown as BacktestFilter,
    runCount: row.run_count,
    startedBy: row.started_by as unknown as Principal,
    startedAt: row.started_at,
    state: row.state,
    doneCount: row.done_count,
    nextBefore: row.next_before as Id<'execution'>,
    tally: row.tally as unknown as BacktestTally,
    endedAt: row.ended_at,
  }
}
