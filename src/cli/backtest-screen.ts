import { type EndFacts, needText } from '../domain/backtest.ts'
import type { AffectedRunOutput, BacktestOutput } from '../operations/backtest-output.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

/** The counts of a backtest, grouped: what a reviewer reads first. */
export function backtestScreen(terminal: Terminal, backtest: BacktestOutput): string {
  const { procedureKey, versionNumber, runCount, doneCount, state, isCurrent } = backtest
  const { same, different, unknown, changes, needs } = backtest
  const width = thousands(Math.max(same, different, unknown)).length + 2
  const line = (count: number, text: string) => `${thousands(count).padStart(width)}  ${text}`
  const of = doneCount === runCount ? '' : ` of ${thousands(runCount)}`
  const how =
    state === 'cancelled' ? ', then it was cancelled' : state === 'running' ? ' so far' : ''
  return [
    `${terminal.style('heading', procedureKey)}  version ${versionNumber}, against ${thousands(doneCount)}${of} finished ${doneCount === 1 ? 'run' : 'runs'}${how}`,
    ...(isCurrent
      ? []
      : [
          terminal.style(
            'care',
            'The draft was edited since; this says nothing of what it is now.',
          ),
        ]),
    ...(runCount === 0
      ? ['No finished run of it is like that: nothing was learned.']
      : [
          line(same, 'end as they did'),
          line(different, 'end otherwise'),
          ...changes.map(
            ({ before, after, count }) =>
              `${' '.repeat(width)}    ${thousands(count)}: ${changeText(before, after)}`,
          ),
          line(unknown, 'need an observation that was never made'),
          ...needs.map(
            ({ count, step, ...need }) =>
              `${' '.repeat(width)}    ${thousands(count)}: ${step === null ? '' : `at ${step}, `}${needText(need)}`,
          ),
        ]),
  ].join('\n')
}

/** The runs that do not end as before. */
export function affectedTable(terminal: Terminal, runs: readonly AffectedRunOutput[]): string {
  return table(
    terminal,
    ['EXECUTION', 'BEFORE', 'AFTER', 'FIRST DIFFERENCE', 'BECAUSE'],
    runs.map((run) => [
      run.executionId,
      `v${run.versionNumber} ${endText(run.before)}`,
      run.after === null ? '?' : endText(run.after),
      stepText(run),
      run.need === null ? `another ${run.differs.join(', ')}` : run.need.text,
    ]),
    'None.',
  )
}

function stepText({ step, need }: AffectedRunOutput): string {
  if (step === null) return need?.step ?? '–'
  const { before, after } = step
  if (before === after) return `${before}`
  return `${before ?? 'the end'} → ${after ?? 'the end'}`
}

function changeText(before: EndFacts, after: EndFacts): string {
  const [then, now] = [endText(before), endText(after)]
  return then === now ? `${then}, with another result or other writes` : `${then} → ${now}`
}

function endText({ end, reason, text }: EndFacts): string {
  return reason === null ? end : `${end} (${text === null ? reason : `${reason}: ${text}`})`
}

/** `12,345 runs`. */
export function runsText(count: number): string {
  return count < 1_000 ? countText(count, 'run') : `${thousands(count)} runs`
}

function thousands(count: number): string {
  return count.toLocaleString('en')
}
