import { z } from 'zod'
import type { TenantDb } from '../db/connect.ts'
import {
  type Backtest,
  findRunningBacktest,
  insertBacktest,
  listBacktests,
} from '../db/queries/backtests.ts'
import { countPastRuns } from '../db/queries/past-runs.ts'
import { findVersion, type ProcedureVersion } from '../db/queries/versions.ts'
import { type BacktestFilter, emptyTally } from '../domain/backtest.ts'
import { ServiceError } from '../domain/errors.ts'
import { firstId, newId } from '../domain/ids.ts'
import { readApproval } from './approval-digest.ts'
import {
  backtestFilter,
  backtestOutput,
  isOf,
  toBacktestOutput,
  withinMs,
} from './backtest-output.ts'
import { carryOnBacktest, endBacktest, pastRunsOf } from './carry-on-backtest.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { planOfStored } from './stored-plan.ts'

/**
 * Holds a version against finished runs of its procedure: what would have come of each, by what was observed in it. No tool
 * is called. What is found is stored, so that a review can show it; one that was interrupted is carried on by the same
 * call, and so is one that `withinMs` has left undone.
 */
export const backtestVersion = defineOperation({
  name: 'backtestVersion',
  summary: 'Say what past runs would have come to under a version, without calling anything',
  input: z.strictObject({ procedureKey, versionNumber, ...backtestFilter, withinMs }),
  output: backtestOutput,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'DEFINITION_HAS_ERRORS',
    'BACKTEST_NOT_FOUND',
  ],
  roles: ['author', 'admin'],
  async run(context, { procedureKey: key, versionNumber: number, withinMs: ms, ...given }) {
    const { app, db } = context
    const { from = null, to = null } = given
    if (from !== null && to !== null && Date.parse(from) >= Date.parse(to)) {
      const message = `must be after 'from', ${from}, found ${to}`
      throw new ServiceError('REQUEST_INVALID', {
        operation: 'backtestVersion',
        problems: [{ path: 'to', message }],
      })
    }
    const version = await findProcedureVersion(db.kysely, key, number)
    if (given.againstVersion !== undefined) {
      await findProcedureVersion(db.kysely, key, given.againstVersion)
    }
    // What cannot be run is told before anything is stored.
    await planOfStored(app, db, version)
    const filter: BacktestFilter = {
      from,
      to,
      statuses: given.status === undefined ? ['completed', 'escalated'] : [given.status],
      outcome: given.outcome ?? null,
      againstVersion: given.againstVersion ?? null,
      limit: given.limit,
    }
    const begun = await beginOrTakeUp(context, version, filter)
    const backtest = await carryOnBacktest(app, db, begun, version, ms)
    return toBacktestOutput(backtest, await findVersion(db.kysely, key, number))
  },
})

/** The backtest of this version and filter that is under way, or a new one. Those of an earlier revision end. */
async function beginOrTakeUp(
  { app, db, caller }: OperationContext,
  version: ProcedureVersion,
  filter: BacktestFilter,
): Promise<Backtest> {
  const { id: versionId, definitionHash, toolContracts } = version
  const wanted = { versionId, definitionHash, toolContracts, filter }
  const underWay = await findRunningBacktest(db.kysely, wanted)
  if (underWay !== undefined) return underWay
  for (const old of await listUnfinished(db, version)) await endBacktest(app, db, old.id)
  const { digest } = await readApproval(app, db.kysely, version)
  const now = app.clock.now()
  const nextBefore = firstId('execution', filter.to === null ? now + 1 : Date.parse(filter.to))
  const wantedRuns = pastRunsOf(version.procedureKey, filter, nextBefore)
  const backtest: Backtest = {
    ...wanted,
    id: newId('backtest', now),
    procedureId: version.procedureId,
    procedureKey: version.procedureKey,
    versionNumber: version.versionNumber,
    approvalDigest: digest,
    runCount: await countPastRuns(db.kysely, wantedRuns, filter.limit),
    startedBy: caller.principal,
    startedAt: new Date(now),
    nextBefore,
    tally: emptyTally,
    state: 'running',
    doneCount: 0,
    endedAt: null,
  }
  await db.kysely
    .transaction()
    .execute((transaction) => insertBacktest(transaction, db.tenantId, backtest))
  return backtest
}

/** Of the newest backtests of a version those that can never be carried on, because it was edited since. */
async function listUnfinished(
  db: TenantDb,
  version: ProcedureVersion,
): Promise<readonly Backtest[]> {
  const newest = await listBacktests(db.kysely, version.id, { limit: 200 })
  return newest.filter((one) => one.state === 'running' && !isOf(one, version))
}
