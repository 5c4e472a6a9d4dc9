import { createStepwarden, type Principal } from '../../src/index.ts'

const bob: Principal = {
  id: 'bob',
  kind: 'human',
  roles: ['author', 'agent'],
  groups: [],
  tenantId: 'default',
}
const eve: Principal = { ...bob, id: 'eve', roles: ['approver'] }

const definition = {
  key: 'REFUND_STATUS',
  name: 'Refund Status',
  description: 'Tells a customer where a refund stands.',
  issuePatterns: ['where is my refund', 'refund status', 'refund not there', 'is my refund coming'],
  input: {
    type: 'object',
    required: ['transactionId'],
    properties: { transactionId: { type: 'string', pattern: '^TXN-[A-Z]+-[0-9]{3}$' } },
  },
  steps: [
    {
      key: 'look',
      action: 'Look the refund up',
      tool: 'check_refund',
      with: { transactionId: '{{input.transactionId}}' },
    },
  ],
  completionConditions: [{ text: 'Its state is known', when: 'has(steps.look.output.state)' }],
  replies: { resolved: 'Your refund is {{steps.look.output.state}}.' },
}

export async function loadAndResolve(dataDir: string, text: string): Promise<string | undefined> {
  await using stepwarden = await createStepwarden({ database: { dataDir } })
  const author = stepwarden.as(bob)
  const draft = await author.createProcedure({ definition })
  for (const { path, message } of draft.findings) console.warn(path, message)

  // Nobody approves their own work: another person looks at what is there, and says yes to exactly that.
  const { procedureKey, versionNumber } = draft
  const approver = stepwarden.as(eve)
  const { digest } = await approver.getApproval({ procedureKey, versionNumber })
  await approver.reviewVersion({ procedureKey, versionNumber, digest, verdict: 'approve' })
  await approver.activateVersion({ procedureKey, versionNumber, seenActive: null })

  const { execution, reply } = await author.resolveTicket({ ticket: { text } })
  console.log(execution?.selection?.chosenBy, execution?.inputSources)
  return reply?.text
}
