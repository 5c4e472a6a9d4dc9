import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import {
  type AffectedRun,
  type Backtest,
  insertAffectedRuns,
  lockBacktest,
  updateBacktest,
} from '../db/queries/backtests.ts'
import { toRecord } from '../db/queries/executions.ts'
import { listPastRuns, type PastRunsFilter, type StoredRun } from '../db/queries/past-runs.ts'
import { findCalendar } from '../db/queries/tenants.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import { addVerdicts, type BacktestFilter, type RunVerdict } from '../domain/backtest.ts'
import { ServiceError } from '../domain/errors.ts'
import { firstId, type Id } from '../domain/ids.ts'
import { openRecord } from '../domain/open-record.ts'
import { createBacktest } from '../simulation/backtest-run.ts'
import { runEndOf } from '../simulation/compare-runs.ts'
import type { PastRun } from '../simulation/recorded-world.ts'
import { isOf } from './backtest-output.ts'
import { planOfExecution } from './execution-plan.ts'
import { isWhole } from './sensitive-run.ts'
import { planOfStored } from './stored-plan.ts'

/** The most runs, and about the most steps, that are read at once and stored together. */
const maxRuns = 250
const maxRows = 5_000
/** How many runs are read before it is known how long they are. */
const firstRuns = 25

/** The runs that a backtest looks at, as the database finds them. */
export function pastRunsOf(
  procedureKey: string,
  { from, statuses, outcome, againstVersion }: BacktestFilter,
  beforeId: Id<'execution'>,
): PastRunsFilter {
  return {
    procedureKey,
    fromId: from === null ? null : firstId('execution', Date.parse(from)),
    beforeId,
    statuses,
    outcome,
    versionNumber: againstVersion,
  }
}

/**
 * Carries a backtest on until it is done, or for about `withinMs`, and answers how far it is. What was found is stored
 * page by page, each in a transaction with the place where the next begins: whoever is killed loses one page, and of two
 * that work on the same backtest one finds that the other was faster. One whose draft was edited meanwhile is cancelled.
 *
 * @throws ServiceError `BACKTEST_NOT_FOUND`, `DEFINITION_HAS_ERRORS`.
 */
export async function carryOnBacktest(
  app: AppContext,
  db: TenantDb,
  begun: Backtest,
  version: ProcedureVersion,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<Backtest> {
  if (begun.state !== 'running') return begun
  if (!isOf(begun, version)) return endBacktest(app, db, begun.id)
  const plan = await planOfStored(app, db, version)
  const judge = createBacktest({
    plan,
    hasTool: (name, contractHash) => app.tools.find(name, contractHash) !== undefined,
    calendar: await findCalendar(db.kysely, db.tenantId),
  })
  const startedAt = app.clock.now()
  let backtest = begun
  let size = firstRuns
  let page = readPage(db, backtest, size)
  try {
    while (backtest.state === 'running') {
      const { limit } = page
      const runs = await page.runs
      const rowCount = runs.reduce((sum, { rows }) => sum + rows.length, 0)
      size = Math.min(maxRuns, Math.max(1, Math.floor((maxRows * runs.length) / (rowCount + 1))))
      // The database reads the next page while this one is looked at.
      const next = {
        ...backtest,
        doneCount: backtest.doneCount + runs.length,
        nextBefore: runs.at(-1)?.execution.id ?? backtest.nextBefore,
      }
      page = readPage(db, next, size)
      const found: (readonly [StoredRun, RunVerdict])[] = []
      for (const run of runs) found.push([run, await verdictOn(app, db, judge, run)])
      backtest = await storePage(app, db, backtest, found, runs.length < limit)
      if (app.clock.now() - startedAt >= withinMs) break
      if (backtest.nextBefore === page.nextBefore) continue
      await settled(page)
      page = readPage(db, backtest, size)
    }
  } finally {
    // Nothing is left behind that still reads.
    await settled(page)
  }
  return backtest
}

/** Runs that are being read. */
interface Page {
  readonly nextBefore: Id<'execution'>
  readonly limit: number
  readonly runs: Promise<readonly StoredRun[]>
}

function readPage(
  db: TenantDb,
  { procedureKey, filter, nextBefore, runCount, doneCount }: Backtest,
  size: number,
): Page {
  const limit = Math.max(0, Math.min(size, runCount - doneCount))
  const wanted = pastRunsOf(procedureKey, filter, nextBefore)
  const runs = limit === 0 ? Promise.resolve([]) : listPastRuns(db.kysely, wanted, limit)
  // Whoever waits for them is told of a failure; nobody may.
  runs.catch(() => {})
  return { nextBefore, limit, runs }
}

async function settled({ runs }: Page): Promise<void> {
  await runs.catch(() => {})
}

/** Ends a backtest before it is done; one that has ended stays as it is. */
export async function endBacktest(
  app: AppContext,
  db: TenantDb,
  id: Id<'backtest'>,
): Promise<Backtest> {
  return db.kysely.transaction().execute(async (transaction) => {
    const backtest = await lockBacktest(transaction, id)
    if (backtest === undefined) throw new ServiceError('BACKTEST_NOT_FOUND', { backtestId: id })
    if (backtest.state !== 'running') return backtest
    const ended = { ...backtest, state: 'cancelled', endedAt: new Date(app.clock.now()) } as const
    await updateBacktest(transaction, id, ended)
    return ended
  })
}

async function verdictOn(
  app: AppContext,
  db: TenantDb,
  judge: (past: PastRun) => RunVerdict,
  { execution, rows, values }: StoredRun,
): Promise<RunVerdict> {
  const plan = await planOfExecution(app, db, execution)
  const stored = toRecord(execution, rows)
  const maySeal = values.length > 0 || plan.sensitivity !== undefined || plan.calls.length > 0
  if (maySeal && !isWhole(stored, values)) {
    const { code: reason = null } = execution.reason ?? {}
    const end = runEndOf({ status: statusOf(execution.status), outcome: execution.outcome })
    const need = { why: 'value_lost', step: null, what: null } as const
    return { kind: 'unknown', before: { end, reason, text: null }, need, step: null }
  }
  const record = openRecord(stored, values)
  return judge({ record, plan, toolContracts: execution.toolContracts })
}

/** Only runs that have ended are looked at. */
function statusOf(
  status: StoredRun['execution']['status'],
): 'completed' | 'escalated' | 'cancelled' {
  return status === 'completed' || status === 'escalated' ? status : 'cancelled'
}

/** Stores what was found in a page, unless somebody else has done so or has ended the backtest; answers how it stands. */
async function storePage(
  app: AppContext,
  db: TenantDb,
  seen: Backtest,
  found: readonly (readonly [StoredRun, RunVerdict])[],
  isLast: boolean,
): Promise<Backtest> {
  return db.kysely.transaction().execute(async (transaction) => {
    const backtest = await lockBacktest(transaction, seen.id)
    if (backtest === undefined)
      throw new ServiceError('BACKTEST_NOT_FOUND', { backtestId: seen.id })
    if (backtest.state !== 'running' || backtest.nextBefore !== seen.nextBefore) return backtest
    const doneCount = backtest.doneCount + found.length
    const isDone = isLast || doneCount >= backtest.runCount
    const progress: Backtest = {
      ...backtest,
      state: isDone ? 'done' : 'running',
      doneCount,
      nextBefore: found.at(-1)?.[0].execution.id ?? backtest.nextBefore,
      tally: addVerdicts(
        backtest.tally,
        found.map(([, verdict]) => verdict),
      ),
      endedAt: isDone ? new Date(app.clock.now()) : null,
    }
    await insertAffectedRuns(transaction, db.tenantId, seen.id, found.flatMap(affected))
    await updateBacktest(transaction, seen.id, progress)
    return progress
  })
}

function affected([{ execution }, verdict]: readonly [
  StoredRun,
  RunVerdict,
]): readonly AffectedRun[] {
  if (verdict.kind === 'same') return []
  return [{ executionId: execution.id, versionNumber: execution.versionNumber, verdict }]
}
