import { type Client, createGuidedAgent, type GuidedAnswer } from '../../src/index.ts'

/** What the agent does by itself; yours asks a model and calls the tools that it chooses. */
async function refundByHand(
  transactionId: string,
  onTool: (tool: string, input: { id: string }, summary: string) => void,
): Promise<string> {
  onTool('check_transaction', { id: transactionId }, 'state: captured_twice')
  onTool('issue_refund', { id: transactionId }, 'issued: true')
  return `The second charge of ${transactionId} was refunded.`
}

/** `client` is one of this process (`stepwarden.as(…)`) or one of a server (`connectStepwarden`). */
export async function handleTicket(client: Client, text: string): Promise<GuidedAnswer> {
  const agent = createGuidedAgent(client, {
    agentName: 'refund_desk',
    async loop({ task, system, recordStep }) {
      console.log(system)
      const [transactionId = ''] = /TXN-[A-Z]+-\d{3}/.exec(task) ?? []
      const result = await refundByHand(transactionId, recordStep)
      return { success: true, result }
    },
  })
  const answer = await agent.handle(text, {}, { signal: AbortSignal.timeout(60_000) })
  switch (answer.method) {
    case 'procedure':
      console.log(answer.procedureName, answer.success, answer.reply)
      break
    case 'manual_with_learning':
      console.log('by hand', answer.actionsTaken, answer.proposalId)
      break
    case 'manual':
      console.log('nothing was done')
  }
  return answer
}
