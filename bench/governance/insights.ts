import { operations } from '../../src/operations/registry.ts'
import type { Figure } from './figure.ts'
import { caller, openWithRefunds, refundKey } from './refunds.ts'

const runCount = 200_000

/** 200,000 executions a second apart lie in the last 56 hours; the last hour shows that the rest is not read. */
export const insightsFigure: Figure = {
  name: 'insights',
  about:
    'insights of one procedure over 200,000 executions of six steps, and over the last hour of them',
  async measure(context) {
    await using app = await openWithRefunds(context, runCount)
    const timeOf = async (input: object): Promise<number> => {
      const startedAt = performance.now()
      await operations.getInsights.invoke(app, caller, input)
      return Math.round(performance.now() - startedAt)
    }
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
    const cases = [
      ['all procedures, ms', {}],
      ['one procedure with its steps, ms', { procedureKey: refundKey }],
      ['the same of the last hour, ms', { procedureKey: refundKey, from: hourAgo }],
    ] as const
    const results = []
    for (const [what, input] of cases) {
      await timeOf(input)
      results.push({ what, value: Math.min(await timeOf(input), await timeOf(input)), bar: null })
    }
    return results
  },
}
