import { createStepwarden, type Principal } from '../../src/index.ts'

const bob: Principal = {
  id: 'bob',
  kind: 'human',
  roles: ['author', 'approver', 'agent'],
  groups: [],
  tenantId: 'default',
}

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
  const client = stepwarden.as(bob)
  const draft = await client.createProcedure({ definition })
  for (const { path, message } of draft.findings) console.warn(path, message)
  const { versionNumber } = draft
  await client.activateVersion({ procedureKey: definition.key, versionNumber, seenActive: null })

  const { execution, reply } = await client.resolveTicket({ ticket: { text } })
  console.log(execution?.selection?.chosenBy, execution?.inputSources)
  return reply?.text
}
