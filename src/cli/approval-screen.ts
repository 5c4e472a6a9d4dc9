import type { z } from 'zod'
import type { getApproval } from '../operations/get-approval.ts'
import { runsText } from './backtest-screen.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { countText, instantText } from './value-line.ts'

type Approval = z.infer<typeof getApproval.output>

/** What an approval of a version would bind, who has said what of it, and where to look closer. */
export function approvalScreen(approval: Approval, terminal: Terminal): string {
  const { simulation, required, approvedBy, declinedBy, shutOut, changed } = approval
  const scenarios = simulation?.scenarios ?? []
  const failed = failedScenarios(approval)
  const approver = approval.reviews.findLast(({ verdict }) => verdict === 'approve')?.reviewerId
  return [
    `${terminal.style('heading', approval.procedureKey)}  version ${approval.versionNumber}, ${approval.status}`,
    fields(terminal, [
      ['Digest', approval.digest],
      ['Written by', approval.authorIds.join(', ')],
      ['Approvals', standing(required, approvedBy)],
      ['Declined by', declinedBy.length === 0 ? null : declinedBy.join(', ')],
      [
        'Shut out',
        shutOut.length === 0
          ? null
          : `by now: ${shutOut.join(', ')}; what they said counts all the same`,
      ],
      [
        'Changed',
        changed.length === 0
          ? null
          : `since ${approver ?? 'somebody'} approved it: ${changed.join(', ')}`,
      ],
      ['Definition', approval.parts.definition.slice(0, 12)],
      ['Tools', namesOf(approval.parts.tools)],
      ['Calls', namesOf(approval.parts.calls)],
      [
        'Scenarios',
        simulation === null
          ? 'cannot be run: the definition has errors'
          : `${countText(scenarios.length, 'scenario')}${failed.length === 0 ? '' : `; not as expected: ${failed.join(', ')}`}; ${simulation.coverage.branches.reached} of ${simulation.coverage.branches.total} branches reached`,
      ],
      ['Backtest', backtestText(approval)],
    ]),
    ...(approval.routing.length === 0
      ? []
      : ['', 'To let pass with --acknowledge:', ...approval.routing.map(routingLine)]),
    '',
    table(
      terminal,
      ['VERDICT', 'BY', 'AT', 'DIGEST', 'COMMENT'],
      approval.reviews.map((one) => [
        one.verdict,
        `${one.reviewerId}${one.reviewerKind === 'human' ? '' : ` (${one.reviewerKind})`}`,
        instantText(one.at) ?? '',
        one.digest === approval.digest ? 'this one' : one.digest.slice(0, 12),
        one.comment ?? '',
      ]),
      'Nobody has said anything of it.',
    ),
    '',
    ...nextLines(approval).map((text) => terminal.style('quiet', text)),
  ].join('\n')
}

/** Names of the scenarios that keep it from going live. */
export function failedScenarios({ simulation }: Approval): readonly string[] {
  return (simulation?.scenarios ?? []).filter(({ ok }) => !ok).map(({ name }) => name)
}

/** Where to look closer, and the lines that say the verdict on what is shown. */
function nextLines(approval: Approval): readonly string[] {
  const { procedureKey: key, versionNumber: number, activeVersionNumber: active } = approval
  const differs = active !== null && active !== number
  return [
    `Look closer: stepwarden procedures show ${key} ${number} shows all of it${differs ? '' : '.'}`,
    ...(differs
      ? [
          `             stepwarden diff ${key} ${active} ${number} tells in what it differs from what serves.`,
        ]
      : []),
    ...(approval.status === 'draft'
      ? [
          `Your verdict: stepwarden procedures approve ${key} ${number} --digest ${approval.digest.slice(0, 12)}`,
          `              stepwarden procedures decline ${key} ${number} --digest ${approval.digest.slice(0, 12)} --comment WHY`,
        ]
      : []),
  ]
}

function routingLine({ id, message }: Approval['routing'][number]): string {
  return `  ${id}  ${message}`
}

function standing(required: number, approvedBy: readonly string[]): string {
  if (required === 0) return 'none needed here (ungoverned)'
  const by = approvedBy.length === 0 ? '' : `: ${approvedBy.join(', ')}`
  return `${approvedBy.length} of ${required}${by}`
}

function namesOf(hashes: Readonly<Record<string, string | null>>): string | null {
  const names = Object.entries(hashes).map(
    ([name, hash]) => `${name} ${hash?.slice(0, 8) ?? '(none serves)'}`,
  )
  return names.length === 0 ? null : names.join(', ')
}

function backtestText({ backtest, procedureKey, versionNumber }: Approval): string {
  if (backtest === null) {
    return `none of what it is now; an author makes one with 'stepwarden backtest ${procedureKey} ${versionNumber}'`
  }
  const { backtestId, doneCount, same, different, unknown } = backtest
  return `${runsText(doneCount)}: ${same} end as before, ${different} otherwise, ${unknown} cannot be known (${backtestId})`
}
