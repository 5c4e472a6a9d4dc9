import type { Cost, Rate } from './measure.ts'
import type { Measurement } from './options.ts'

/** What was measured, with what. */
export interface Report {
  readonly measuredAt: string
  readonly node: string
  readonly postgres: string
  readonly measurement: Measurement
  readonly rates: readonly (Rate & { readonly bar: number | null })[]
  /** The same with the history in the tables; empty without one. */
  readonly withHistory: readonly (Rate & {
    /** The ratio to the baseline as a share of what it was before: 1 when history costs nothing. */
    readonly ofBefore: number
  })[]
  readonly costs: readonly (Cost & {
    readonly commitBar: number | null
    readonly walBar: number | null
  })[]
}

/** The least that a ratio should be, by engine and number of clients. */
const rateBars: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  step: { 1: 1.0, 8: 1.0, 32: 0.9 },
  effect: { 1: 2.5, 8: 2.2, 32: 1.8 },
}
/** The most that a ratio of WAL bytes should be. */
const walBars: Readonly<Record<string, number>> = { step: 1.45, effect: 1.35 }
/** The most commits that an execution of reads should take. */
const commitBars: Readonly<Record<string, number>> = { effect: 2 }

/** Puts the figures beside what they should be. */
export function toReport(
  about: Pick<Report, 'measuredAt' | 'node' | 'postgres' | 'measurement'>,
  rates: readonly Rate[],
  costs: readonly Cost[],
  laterRates: readonly Rate[] = [],
): Report {
  return {
    ...about,
    rates: rates.map((rate) => ({ ...rate, bar: rateBars[rate.engine]?.[rate.clients] ?? null })),
    withHistory: laterRates.map((rate) => {
      const before = rates.find((r) => r.engine === rate.engine && r.clients === rate.clients)
      return { ...rate, ofBefore: rate.ratio.median / (before?.ratio.median ?? Number.NaN) }
    }),
    costs: costs.map((cost) => ({
      ...cost,
      commitBar: commitBars[cost.engine] ?? null,
      walBar: walBars[cost.engine] ?? null,
    })),
  }
}

/** The report as people read it. */
export function renderReport({
  measuredAt,
  node,
  postgres,
  measurement,
  rates,
  withHistory,
  costs,
}: Report): string {
  const { rounds, seconds, tenants } = measurement
  return `
Executions of six read steps, on PostgreSQL ${postgres} and Node ${node}, ${measuredAt}
${rounds} rounds of ${seconds} s, ${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}; median (least to most) over the rounds

${table([
  ['clients', 'engine', 'of raw-b', '', 'bar', 'executions/s', '', 'CPU ms'],
  ...rates.map(({ clients, engine, ratio, bar, perSecond, cpuMs }) => [
    String(clients),
    engine,
    ratio.median.toFixed(2),
    `(${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`,
    bar === null ? '' : `≥ ${bar.toFixed(1)}`,
    perSecond.median.toFixed(0),
    `(${perSecond.min.toFixed(0)} to ${perSecond.max.toFixed(0)})`,
    cpuMs.toFixed(2),
  ]),
])}

${historyTable(measurement.history, withHistory)}${table([
  ['engine', 'commits', 'bar', 'WAL bytes', 'of raw-b', 'bar'],
  ...costs.map(({ engine, commits, commitBar, walBytes, walRatio, walBar }) => [
    engine,
    commits.toFixed(2),
    commitBar === null ? '' : `≤ ${commitBar}`,
    walBytes.toFixed(0),
    walRatio.toFixed(2),
    walBar === null ? '' : `≤ ${walBar}`,
  ]),
])}

raw-b      one SQL statement per step boundary by hand: no lease, fence, check or row-level security
step       ours, a commit per step: from the stored start to the stored end, everything on
effect     the same, reads sharing commits
operation  the whole startExecution (effect) with input, reply and the record read back; it has no bar
CPU ms     of this process per execution; the database server's is not in it
`
}

function historyTable(history: number, rates: Report['withHistory']): string {
  if (rates.length === 0) return ''
  const rows = rates.map(({ clients, engine, ratio, ofBefore, perSecond }) => [
    String(clients),
    engine,
    ratio.median.toFixed(2),
    `(${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)})`,
    ofBefore.toFixed(2),
    perSecond.median.toFixed(0),
  ])
  const head = ['clients', 'engine', 'of raw-b', '', 'of before', 'executions/s']
  return `With ${history} finished executions in the tables

${table([head, ...rows])}

`
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows
    .map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '))
    .join('\n')
}
