import type { Json } from '../domain/json.ts'
import type { Problem } from '../domain/problem.ts'
import type { Coverage } from '../simulation/coverage.ts'
import type { Difference } from '../simulation/judge-scenario.ts'
import type { ScenarioResult, SimulationReport } from '../simulation/run-scenarios.ts'
import type { Terminal } from './terminal.ts'
import { countText } from './value-line.ts'

/** How a list of unreached places is cut: a page of them helps nobody. */
const maxUnreached = 20

/**
 * What came of the scenarios of a playbook: each in a line, and what is wrong with it below; then how much of the playbook
 * they reach. `located` puts the place of a problem into words.
 */
export function simulationScreen(
  terminal: Terminal,
  { scenarios, coverage }: SimulationReport,
  located: (index: number, problem: Problem) => string = (_index, { path }) => path,
): string {
  const failed = scenarios.filter(({ ok }) => !ok).length
  const verdict =
    failed === 0
      ? `${countText(scenarios.length, 'scenario')}, all as expected.`
      : `${failed} of ${countText(scenarios.length, 'scenario')} not as expected.`
  return [
    ...scenarios.flatMap((result, index) =>
      resultLines(terminal, result, (problem) => located(index, problem)),
    ),
    scenarios.length === 0 ? terminal.style('quiet', '  There are no scenarios.') : `  ${verdict}`,
    ...coverageLines(terminal, coverage),
  ].join('\n')
}

function resultLines(
  terminal: Terminal,
  result: ScenarioResult,
  located: (problem: Problem) => string,
): readonly string[] {
  const { name, ok, problems, differences, stop } = result
  const mark = ok ? terminal.style('good', '✓') : terminal.style('bad', '✗')
  return [
    `  ${mark} ${name}  ${terminal.style('quiet', endText(result))}`.trimEnd(),
    ...problems.map((problem) => `      ${located(problem)}: ${problem.message}`),
    // Why it stopped explains all that is not as expected.
    ...(stop === null ? [] : [`      ${stop.message}`]),
    ...(stop === null ? differences.map((one) => `      ${differenceText(one, result)}`) : []),
  ]
}

function endText({ end, reason, text, path }: ScenarioResult): string {
  if (end === null) return ''
  const why = reason === null ? '' : ` (${text === null ? reason : `${reason}: ${text}`})`
  return `${end}${why}, ${countText(path.length, 'step')}`
}

function differenceText(
  { what, step, position, expected, found }: Difference,
  result: ScenarioResult,
): string {
  if (what === 'path') {
    const wanted = expected === null ? 'the end' : String(expected)
    const met = found === null ? `the end: ${endText(result)}` : String(found)
    return `step ${position}: expected ${wanted}, found ${met}`
  }
  const where = what === 'sent' ? `sent at ${step}` : what
  return `${where}: expected ${shown(expected)}, found ${shown(found)}`
}

function shown(value: Json): string {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function coverageLines(terminal: Terminal, coverage: Coverage): readonly string[] {
  const { steps, branches, unreached } = coverage
  const lines = [
    ...unreached.steps.map((step) => `    ${step} never runs`),
    ...unreached.branches.map(({ step, branch }) =>
      step === null ? `    ${branch}` : `    ${step}: ${branch}`,
    ),
  ]
  const left = lines.length - maxUnreached
  return [
    `  They reach ${steps.reached} of ${countText(steps.total, 'step')}, ${branches.reached} of ${branches.total} branches${lines.length === 0 ? '.' : '. Not reached:'}`,
    ...lines.slice(0, maxUnreached).map((line) => terminal.style('care', line)),
    ...(left > 0 ? [terminal.style('quiet', `    and ${left} more`)] : []),
  ]
}
