import type { Db } from '../db/connect.ts'
import { type Backtest, findBacktest } from '../db/queries/backtests.ts'
import { findVersionById, type ProcedureVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'

/**
 * A backtest and its version as it is now.
 *
 * @throws ServiceError `BACKTEST_NOT_FOUND`, also for one that goes with its draft in this moment.
 */
export async function requireBacktest(
  db: Db,
  id: Id<'backtest'>,
): Promise<{ readonly backtest: Backtest; readonly version: ProcedureVersion }> {
  const backtest = await findBacktest(db, id)
  const version = backtest && (await findVersionById(db, backtest.versionId))
  if (backtest === undefined || version === undefined)
    throw new ServiceError('BACKTEST_NOT_FOUND', { backtestId: id })
  return { backtest, version }
}
