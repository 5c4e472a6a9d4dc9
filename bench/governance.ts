/**
 * How fast proof is made: what happens before a version goes live, and what is left afterwards. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run bench:governance -- [--json] [--only NAME]
 *
 * A measurement, not a test: whatever the figures are, it exits with 0; 1: nothing could be measured. TEST_DATABASE_URL
 * names a PostgreSQL 15 or newer with pgvector, as a superuser: eval "export $(.ci/postgres)"
 */
import { parseArgs } from 'node:util'
import { exportFigure } from './governance/audit-export.ts'
import { verificationFigure } from './governance/audit-verification.ts'
import { backtestFigure } from './governance/backtest.ts'
import type { Figure, FigureResult } from './governance/figure.ts'
import { insightsFigure } from './governance/insights.ts'
import { createScratchDatabase } from './scratch-database.ts'

/** In the order in which they are taken. */
const figures: readonly Figure[] = [
  backtestFigure,
  insightsFigure,
  verificationFigure,
  exportFigure,
]

interface Measured extends FigureResult {
  readonly name: string
  readonly about: string
}

async function measure(serverUrl: string, wanted: readonly Figure[]): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const { name, about, measure: take } of wanted) {
    const progress = (line: string): void => console.error(`${name}: ${line}`)
    progress(about)
    await using database = await createScratchDatabase(serverUrl)
    const results = await take({ database, progress })
    measured.push(...results.map((result) => ({ name, about, ...result })))
  }
  return measured
}

function barText({ bar, value }: FigureResult): string {
  if (bar === null) return ''
  const [sign, than] =
    'atLeast' in bar ? (['≥', bar.atLeast] as const) : (['≤', bar.atMost] as const)
  const isMet = 'atLeast' in bar ? value >= than : value <= than
  return `${sign} ${than.toLocaleString('en')}${isMet ? '' : ' (missed)'}`
}

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, only: { type: 'string' } },
})
const serverUrl = process.env.TEST_DATABASE_URL
const wanted = figures.filter(({ name }) => values.only === undefined || values.only === name)
if (serverUrl === undefined || serverUrl === '' || wanted.length === 0) {
  const names = figures.map(({ name }) => name).join(', ')
  console.error(
    `Nothing was measured: set TEST_DATABASE_URL to a PostgreSQL server, as a superuser (eval "export $(.ci/postgres)"); --only takes ${names}.`,
  )
  process.exitCode = 1
} else {
  const results = await measure(serverUrl, wanted)
  const report = { measuredAt: new Date().toISOString(), node: process.version, results }
  if (values.json === true) console.log(JSON.stringify(report))
  else {
    console.table(
      results.map((result) => ({
        figure: result.name,
        what: result.what,
        value: result.value,
        bar: barText(result),
      })),
    )
  }
}
