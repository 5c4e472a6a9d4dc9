import { operations } from '../../src/operations/registry.ts'
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
    const heap = await heapPeakOf(async () => {
      seconds = await secondsOf(async () => {
        let cursor: string | undefined
        do {
          const page = await operations.exportAudit.invoke(app, auditor, { what: 'steps', cursor })
          rowCount += page.rows.length
          for (const row of page.rows) bytes += JSON.stringify(row).length + 1
          cursor = page.nextCursor ?? undefined
        } while (cursor !== undefined)
      })
    })
    context.progress(`${rowCount} rows, ${Math.round(bytes / 2 ** 20)} MB`)
    return [
      { what: 'step rows/s', value: Math.round(rowCount / seconds), bar: null },
      { what: 'heap, MB, at most', value: heap, bar: { atMost: 200 } },
    ]
  },
}
