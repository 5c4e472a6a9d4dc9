import type { Run } from '../desk.ts'
import { isSame } from '../same.ts'
import type { Call } from '../stage.ts'
import type { Case } from './cases.ts'
import { isSameLeaf, leafText } from './clauses.ts'
import { plainName } from './names.ts'
import type { Playbook } from './playbook.ts'

/** What is wrong with how a run ended, told from the record and from the calls that the tools counted. */
export function runFault(
  one: Case,
  playbook: Playbook,
  run: Run,
  calls: readonly Call[],
): string | undefined {
  const { status, outcome, reason } = run.execution
  const ended = `ended as ${outcome ?? status}${reason === null ? '' : ` (${reason.message})`}`
  const { refusedBy } = one.expected
  if (one.expected.outcome === 'success') {
    if (outcome !== 'resolved') return `${ended}, expected success`
    return goalFault(one, playbook, run, calls, 'completed')
  }
  if (outcome !== 'declined' || reason === null) return `${ended}, expected a refusal`
  if (refusedBy?.by === 'tool') {
    const isGoal = reason.stepKey !== undefined && playbook.goalKeys.includes(reason.stepKey)
    if (!isGoal || reason.code !== 'tool_failed') return `${ended}, expected the tool to refuse`
    return goalFault(one, playbook, run, calls, 'failed')
  }
  if (calls.some(({ tool }) => tool === one.goal)) return 'the goal tool was called'
  return refusalFault(one, playbook, reason.text)
}

/** Every rule that the refusal names must be one that failed. */
function refusalFault(one: Case, playbook: Playbook, text: string | undefined): string | undefined {
  const named = playbook.clauses.get(text ?? '')
  if (named === undefined) return `the refusal names no rule: ${text}`
  const listed = one.expected.refusedBy?.constraints ?? []
  // The list names a rule without saying whether it stands negated in the tree.
  const wrong = named.filter(
    ({ check, args }) =>
      !listed.some((failed) => isSameLeaf({ ...failed, negate: false }, { check, args })),
  )
  if (wrong.length === 0) return undefined
  return `refused by ${wrong.map(leafText).join(', ')}; listed are ${listed.map(leafText).join(', ')}`
}

/** The goal tool ran exactly once with exactly the arguments, by its own count and by the record. */
function goalFault(
  one: Case,
  playbook: Playbook,
  run: Run,
  calls: readonly Call[],
  status: 'completed' | 'failed',
): string | undefined {
  const rows = run.steps.filter(({ key, status }) => {
    return playbook.goalKeys.includes(key) && status !== 'skipped'
  })
  const made = calls.filter(({ tool, args }) => tool === one.goal && isSame(args, one.goalArgs))
  const others = run.steps.filter(
    (row) => row.tool === plainName(one.goal) && row.status !== 'skipped' && !rows.includes(row),
  )
  const [row] = rows
  if (rows.length !== 1 || row === undefined) return `${rows.length} goal steps ran, expected 1`
  if (row.status !== status) return `the goal step ${row.status}, expected ${status}`
  if (!isSame(row.input, one.goalArgs)) {
    return `the goal tool was given ${JSON.stringify(row.input)}, expected ${JSON.stringify(one.goalArgs)}`
  }
  if (made.length - others.length !== 1) return `the goal tool was called ${made.length} times`
  return undefined
}
