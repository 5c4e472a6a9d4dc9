import { type Client, createTaskRecorder } from '../../src/index.ts'

/** One task of an agent that keeps what it did, and learns from how it was judged. */
export async function recordTask(client: Client): Promise<number | null> {
  const recorder = createTaskRecorder(client, { agentId: 'billing bot', taskTag: 'refunds' })
  recorder.beginTask('The customer was charged twice for one order')
  recorder.recordStep('issue_refund', { id: 'TXN-DUP-002' }, 'refund submitted')
  const feedback = { score: 0.9, issues: [] }
  const { entryCount } = await recorder.completeTask({ outcome: 'Done', success: true, feedback })
  return entryCount
}
