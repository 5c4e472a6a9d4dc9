import type { z } from 'zod'
import { getApproval } from '../operations/get-approval.ts'
import { failedScenarios } from './approval-screen.ts'
import type { Shell } from './shell.ts'

type Approval = z.infer<typeof getApproval.output>
type Named = Pick<Approval, 'procedureKey' | 'versionNumber'>

/** What a version has and lacks to go live; asked for people alone, as a script asks for it by itself. */
export async function findApproval(shell: Shell, version: Named): Promise<Approval | undefined> {
  if (shell.terminal.json) return undefined
  const { procedureKey, versionNumber } = version
  return shell.call(getApproval, { procedureKey, versionNumber })
}

/** What is to be done next with a draft that is as it is now, as lines. */
export function nextStepLines({ terminal }: Shell, approval: Approval): readonly string[] {
  const failed = failedScenarios(approval)
  const step = nextStep(approval)
  return [
    ...(failed.length === 0
      ? []
      : [
          terminal.style(
            'care',
            terminal.wrap(
              `Not as expected: ${failed.join(', ')}. As long as scenarios fail, its activation is refused.`,
              0,
            ),
          ),
        ]),
    terminal.style('quiet', terminal.wrap(`Next: ${step}`, 0)),
  ]
}

function nextStep(approval: Approval): string {
  const { procedureKey: key, versionNumber: number, required, approvedBy, declinedBy } = approval
  if (declinedBy.length > 0) {
    return `its authors mend it with 'stepwarden procedures edit ${key} ${number}', or ${declinedBy.join(', ')} approves it after all.`
  }
  if (approval.approved) {
    return `an approver puts it into service with 'stepwarden procedures activate ${key} ${number}'.`
  }
  const more = required - approvedBy.length
  const who = `${more} ${more === 1 ? 'person' : 'people'} who wrote no part of it`
  return `${who} must approve it: 'stepwarden procedures review ${key} ${number}' shows what there is.`
}

/** With errors there is nothing to review yet. */
export function hasErrors(findings: Findings): boolean {
  return findings.some(({ severity }) => severity === 'error')
}

type Findings = readonly { readonly severity: 'error' | 'warning' }[]

/**
 * Saves a draft, and says whose approvals ended by that. What is saved as it was ends none.
 */
export async function tellingEnded<T>(
  shell: Shell,
  version: Named,
  save: () => Promise<T>,
  findingsOf: (saved: T) => Findings = () => [],
): Promise<{ readonly saved: T; readonly lines: readonly string[] }> {
  const before = await findApproval(shell, version)
  const saved = await save()
  const after = await findApproval(shell, version)
  if (before === undefined || after === undefined) return { saved, lines: [] }
  const ended = before.approvedBy.filter((id) => !after.approvedBy.includes(id))
  const { terminal } = shell
  const text = `This ends the approval of ${ended.join(', ')}, which was of what it said before.`
  return {
    saved,
    lines: [
      ...(ended.length === 0 ? [] : [terminal.style('care', text)]),
      ...(hasErrors(findingsOf(saved)) ? [] : nextStepLines(shell, after)),
    ],
  }
}
