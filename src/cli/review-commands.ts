import { createInterface } from 'node:readline/promises'
import type { z } from 'zod'
import { getApproval } from '../operations/get-approval.ts'
import { reviewVersion } from '../operations/review-version.ts'
import { approvalScreen } from './approval-screen.ts'
import { type Command, type Given, operationCommand } from './command.ts'
import { usageError } from './failures.ts'
import { findApproval, nextStepLines } from './next-step.ts'
import type { Shell } from './shell.ts'

type Approval = z.infer<typeof getApproval.output>

const parameters = [
  { usage: '<KEY>', text: 'the key of a procedure' },
  { usage: '<NUMBER>', text: 'the number of one of its versions' },
]
const digestOption = {
  usage: '--digest <DIGEST>',
  text: 'the digest that you have seen, or its first 12 digits or more',
}

const show = operationCommand({
  path: 'procedures review',
  operation: getApproval,
  arguments: parameters,
  notes: [
    'A verdict is bound to the digest, which stands for the definition, the tools, the scenarios and what they come to,',
    'and what the procedures that it calls take and give. When any of it changes, the verdict no longer counts.',
  ].join('\n'),
  input: (given) => ({ procedureKey: given.text('KEY'), versionNumber: given.number('NUMBER') }),
  screen: approvalScreen,
})

const approve: Command = {
  path: 'procedures approve',
  summary: 'Approve a draft as it is, written by others',
  arguments: parameters,
  options: [
    digestOption,
    { usage: '--comment <TEXT>', text: 'what you have to say' },
    { usage: '--acknowledge <IDS>', text: 'findings that you let pass, several with commas' },
  ],
  notes: 'Without --digest it shows what there is and asks, at a terminal.',
  run: (shell, given) => review(shell, given, 'approve'),
}

const decline: Command = {
  path: 'procedures decline',
  summary: 'Decline a draft as it is: it does not go live as long as you stand by it',
  arguments: parameters,
  options: [digestOption, { usage: '--comment <TEXT>', text: 'why; it must be given' }],
  run: (shell, given) => review(shell, given, 'decline'),
}

const comment: Command = {
  path: 'procedures comment',
  summary: 'Say something about a version, which decides nothing',
  arguments: parameters,
  options: [
    digestOption,
    { usage: '--comment <TEXT>', text: 'what you have to say; it must be given' },
  ],
  run: (shell, given) => review(shell, given, 'comment'),
}

export const reviewCommands: readonly Command[] = [show, approve, decline, comment]

async function review(shell: Shell, given: Given, verdict: 'approve' | 'decline' | 'comment') {
  const procedureKey = given.text('KEY')
  const versionNumber = given.number('NUMBER')
  const approval = await shell.call(getApproval, { procedureKey, versionNumber })
  const output = await shell.call(reviewVersion, {
    procedureKey,
    versionNumber,
    digest: await digestOf(shell, given, verdict, approval),
    verdict,
    comment: given.find('comment'),
    acknowledge: given.words('acknowledge'),
  })
  const what = { approve: 'approved', decline: 'declined', comment: 'commented on' }[verdict]
  const after = verdict === 'comment' ? undefined : await findApproval(shell, output)
  return {
    output,
    screen: [
      `Version ${output.versionNumber} of ${procedureKey} is ${what} by ${output.reviewerId}, as digest ${output.digest.slice(0, 12)}.`,
      ...(after === undefined ? [] : nextStepLines(shell, after)),
    ].join('\n'),
  }
}

/** What the reviewer says to have seen; asked for at a terminal, where they see it now. */
async function digestOf(
  shell: Shell,
  given: Given,
  verdict: string,
  approval: Approval,
): Promise<string> {
  const seen = given.find('digest')
  if (seen !== undefined) {
    if (!/^[0-9a-f]{12,64}$/.test(seen)) {
      throw usageError(
        `'${seen}' is no digest.`,
        'Give 12 to 64 of its digits; procedures review shows it.',
      )
    }
    // Of a digest that is another one, the operation says what has changed.
    return approval.digest.startsWith(seen) ? approval.digest : seen.padEnd(64, '0')
  }
  if (verdict === 'comment') return approval.digest
  if (process.stdin.isTTY !== true || shell.terminal.json || shell.isSession) {
    throw usageError(
      'It is not said which digest you have seen.',
      'Give it with --digest; procedures review shows it.',
    )
  }
  shell.terminal.print(approvalScreen(approval, shell.terminal))
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await lines.question(`\n${verdict} this? (yes/no) `)
    if (/^y(es)?$/i.test(answer.trim())) return approval.digest
  } finally {
    lines.close()
  }
  throw usageError('Nothing was said.', "Answer 'yes' to say it.")
}
