import { type Client, createTaskRecorder } from '../../src/index.ts'

/** One run of an agent's own loop, as docs/examples/double-charges.yaml has twelve of them. */
export interface AgentRun {
  readonly situation: string
  readonly did: readonly { tool: string; input: object; outputSummary: string }[]
  readonly outcome: string
  readonly success: boolean
  readonly score: number
  readonly issues?: readonly string[]
}

const situation = 'A customer was charged twice'

/** The agent works: each run is recorded, and what was found wrong with it, or worked, becomes a lesson. */
export async function work(agent: Client, runs: readonly AgentRun[]): Promise<void> {
  const recorder = createTaskRecorder(agent, { taskTag: 'double_charge' })
  for (const { situation: ticket, did, outcome, success, score, issues = [] } of runs) {
    recorder.beginTask(ticket)
    for (const { tool, input, outputSummary } of did) {
      recorder.recordStep(tool, Object(input), outputSummary)
    }
    await recorder.completeTask({ outcome, success, score, feedback: { score, issues } })
  }
}

/** What the agent would be shown before the next run, and what it proposes after so many. */
export async function learn(agent: Client) {
  const { matches } = await agent.retrieveExperiences({ situation, outcomeType: 'all', topK: 12 })
  const lessons = await agent.showLessons({ taskTag: 'double_charge' })
  const proposal = await agent.proposeProcedure({ situation, key: 'DOUBLE_CHARGE' })
  return { matches, lessons: lessons.text, proposal }
}

/** A person makes a draft of it, another one approves exactly that, and it serves. */
export async function decide(author: Client, approver: Client, proposalId: string) {
  const { procedureKey, versionNumber } = await author.acceptProposal({ proposalId })
  const { digest } = await approver.getApproval({ procedureKey, versionNumber })
  await approver.reviewVersion({ procedureKey, versionNumber, digest, verdict: 'approve' })
  return approver.activateVersion({ procedureKey, versionNumber, seenActive: null })
}

/** The thirteenth ticket is a playbook's. Its record leads back to the proposal, and that to the twelve runs. */
export async function resolveNext(agent: Client, author: Client, text: string) {
  const { execution, reply } = await agent.resolveTicket({ ticket: { text } })
  if (execution === null) throw new Error(reply?.text)
  const { procedureKey, versionNumber } = execution
  const { version } = await author.getProcedure({ procedureKey, versionNumber })
  const proposalId = version.proposalId ?? ''
  const { evidence } = await author.getProposal({ proposalId })
  return { execution, proposalId, evidence }
}
