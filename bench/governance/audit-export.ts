import { operations } from '../../src/operations/registry.ts'
import { heldBytes } from '../held-memory.ts'
import type { Figure } from './figure.ts'
import { auditor, heapPeakOf, insertPastRuns, openService, secondsOf } from './past-runs.ts'

const runCount = 100_000

export const exportFigure: Figure = {
  name: 'export',
  about: 'all steps of 100,000 runs, a million rows, page by page as lines of JSON',
  async measure(context) {
    await using service = await openService(context)
    const { app } = service
    await insertPastRuns(context, runCount)
    let rowCount = 0
    let bytes = 0
    let seconds = 0
    const held: number[] = []
    const peak = await heapPeakOf(async () => {
      seconds = await secondsOf(async () => {
        let cursor: string | undefined
        do {
          const page = await operations.exportAudit.invoke(app, auditor, { what: 'steps', cursor })
          rowCount += page.rows.length
          for (const row of page.rows) bytes += JSON.stringify(row).length + 1
          if (rowCount >= 100_000 * (held.length + 1)) held.push(heldBytes() / 2 ** 20)
          cursor = page.nextCursor ?? undefined
        } while (cursor !== undefined)
      })
    })
    const [first = 0] = held
    const grown = Math.max(...held) - first
    context.progress(`${rowCount} rows, ${Math.round(bytes / 2 ** 20)} MB`)
    return [
      { what: 'step rows/s', value: Math.round(rowCount / seconds), bar: null },
      { what: 'held after 100,000 rows, MB', value: Math.round(first), bar: null },
      { what: 'more held later on, MB', value: Math.round(grown), bar: { atMost: 10 } },
      { what: 'heap with what was not collected yet, MB', value: peak, bar: null },
    ]
  },
}
