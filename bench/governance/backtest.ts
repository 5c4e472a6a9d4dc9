import { operations } from '../../src/operations/registry.ts'
import type { Figure } from './figure.ts'
import { caller, openWithRefunds, refundKey, refundPlaybook } from './refunds.ts'

const runCount = 10_000
const rounds = 3

/** A limit changed from 100 to 80: a fifth of the runs end otherwise. The median of the rounds. */
export const backtestFigure: Figure = {
  name: 'backtest',
  about: 'a draft with a lower limit, against 10,000 finished executions of six steps',
  async measure(context) {
    await using app = await openWithRefunds(context, runCount)
    await operations.createVersion.invoke(app, caller, {
      procedureKey: refundKey,
      definition: refundPlaybook(80),
    })
    const rates: number[] = []
    const peaks: number[] = []
    const cpu: number[] = []
    // The first round settles plans and caches, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now()
      const before = process.cpuUsage()
      const input = { procedureKey: refundKey, versionNumber: 2, limit: runCount }
      const { doneCount, different, unknown } = await operations.backtestVersion.invoke(
        app,
        caller,
        input,
      )
      const { user, system } = process.cpuUsage(before)
      const seconds = (performance.now() - startedAt) / 1_000
      context.progress(
        `${Math.round(doneCount / seconds)} executions/s, ${different} different, ${unknown} unknown`,
      )
      if (unknown > 0 || different === 0)
        throw new Error('it is not the backtest that it should be')
      if (round > 0) {
        rates.push(doneCount / seconds)
        cpu.push((user + system) / 1_000 / doneCount)
      }
      peaks.push(process.memoryUsage().heapUsed / 2 ** 20)
    }
    return [
      { what: 'executions/s', value: Math.round(median(rates)), bar: { atLeast: 2_000 } },
      {
        what: 'processor time in Node, ms an execution',
        value: Number(median(cpu).toFixed(3)),
        bar: null,
      },
      { what: 'heap, MB, at most', value: Math.round(Math.max(...peaks)), bar: null },
    ]
  },
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
