import { z } from 'zod'
import { backtestOutput, toBacktestOutput, withinMs } from './backtest-output.ts'
import { carryOnBacktest } from './carry-on-backtest.ts'
import { defineOperation } from './define.ts'
import { requireBacktest } from './require-backtest.ts'
import { backtestId } from './shapes.ts'

/**
 * Carries a backtest on that is under way, to its end or for about `withinMs`. Anybody may do so, or several at once; one
 * that has ended is answered as it is, and one whose draft was edited or whose version is gone is over.
 */
export const continueBacktest = defineOperation({
  name: 'continueBacktest',
  summary: 'Carry a backtest on, until it is done',
  input: z.strictObject({ backtestId, withinMs }),
  output: backtestOutput,
  errors: ['BACKTEST_NOT_FOUND', 'DEFINITION_HAS_ERRORS'],
  roles: ['author', 'admin'],
  async run({ app, db }, input) {
    const { backtest, version } = await requireBacktest(db.kysely, input.backtestId)
    const now = await carryOnBacktest(app, db, backtest, version, input.withinMs)
    return toBacktestOutput(now, version)
  },
})
