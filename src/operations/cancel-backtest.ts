import { z } from 'zod'
import { ServiceError } from '../domain/errors.ts'
import { backtestOutput, toBacktestOutput } from './backtest-output.ts'
import { endBacktest } from './carry-on-backtest.ts'
import { defineOperation } from './define.ts'
import { requireBacktest } from './require-backtest.ts'
import { backtestId } from './shapes.ts'

/** Ends a backtest before it is done. What it has found so far stays, and whoever works on it stops after its page. */
export const cancelBacktest = defineOperation({
  name: 'cancelBacktest',
  summary: 'End a backtest before it is done',
  input: z.strictObject({ backtestId }),
  output: backtestOutput,
  errors: ['BACKTEST_NOT_FOUND', 'BACKTEST_ENDED'],
  roles: ['author', 'admin'],
  async run({ app, db }, input) {
    const { backtest, version } = await requireBacktest(db.kysely, input.backtestId)
    const { state } = backtest
    if (state !== 'running') {
      throw new ServiceError('BACKTEST_ENDED', { backtestId: input.backtestId, state })
    }
    return toBacktestOutput(await endBacktest(app, db, backtest.id), version)
  },
})
