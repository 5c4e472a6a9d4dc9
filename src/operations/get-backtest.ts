import { z } from 'zod'
import { listAffectedRuns } from '../db/queries/backtests.ts'
import {
  affectedRun,
  backtestOutput,
  toAffectedOutput,
  toBacktestOutput,
} from './backtest-output.ts'
import { defineOperation } from './define.ts'
import { requireBacktest } from './require-backtest.ts'
import { backtestId, nextCursor, pageById } from './shapes.ts'

/** A backtest, and a page of the runs that do not end as before, the newest first. */
export const getBacktest = defineOperation({
  name: 'getBacktest',
  summary: 'Show what a backtest has found',
  input: z.strictObject({
    backtestId,
    kind: affectedRun.shape.kind.optional().describe('Only runs of this kind'),
    ...pageById('execution'),
  }),
  output: z.object({ backtest: backtestOutput, items: z.array(affectedRun), nextCursor }),
  errors: ['BACKTEST_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }, { backtestId: id, kind, limit, cursor }) {
    const { backtest, version } = await requireBacktest(db.kysely, id)
    const runs = await listAffectedRuns(db.kysely, id, { kind, limit: limit + 1, before: cursor })
    const items = runs.slice(0, limit)
    return {
      backtest: toBacktestOutput(backtest, version),
      items: items.map(toAffectedOutput),
      nextCursor: runs.length > limit ? (items.at(-1)?.executionId ?? null) : null,
    }
  },
})
