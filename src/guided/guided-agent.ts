import { isServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import { type GuidedAnswer, type ProcedureAnswer, toProcedureAnswer } from './answer.ts'
import { type Choice, eligibleKeys, modeOf, type Selection } from './choose-procedure.ts'
import { workManually } from './manual-work.ts'
import type { GuidedAgentOptions, GuidedClient, TaskOptions } from './options.ts'

export interface GuidedAgent {
  /**
   * Does a task by the approved playbook for it, when there is one with a good record; else by the agent's own loop, which is
   * given what was learned before, and whose steps are recorded and proposed.
   *
   * @throws what searching and starting a run throw, `PROCEDURE_STOPPED` among them: the loop is not asked then. What the loop
   *   throws, and the reason of the signal, once what was done is recorded.
   * @see docs/guided.md
   */
  handle(task: string, context?: JsonObject, options?: TaskOptions): Promise<GuidedAnswer>
}

export function createGuidedAgent(client: GuidedClient, options: GuidedAgentOptions): GuidedAgent {
  const { onAmbiguous = 'ask' } = options
  return {
    async handle(task, context = {}, told = {}) {
      told.signal?.throwIfAborted()
      const selection = await client.searchProcedures({
        ...{ issue: task, context },
        ...(told.category !== undefined && { category: told.category }),
      })
      const choice = await chooseProcedure(client, selection, onAmbiguous)
      told.signal?.throwIfAborted()
      const answer = choice && (await runProcedure(client, choice, task, context, told))
      if (answer !== undefined) return answer
      return workManually(client, options, {
        task,
        context,
        candidates: selection.candidates,
        told,
      })
    },
  }
}

async function chooseProcedure(
  client: GuidedClient,
  selection: Selection,
  onAmbiguous: 'ask' | 'top',
): Promise<Choice | undefined> {
  for (const procedureKey of eligibleKeys(selection, onAmbiguous)) {
    const { standing, procedureName } = await client.getTrackRecord({ procedureKey })
    const mode = modeOf(standing)
    if (mode !== undefined) return { procedureKey, procedureName, mode }
  }
  return undefined
}

/** Undefined when it was taken out of service since the search: nothing has begun then. */
async function runProcedure(
  client: GuidedClient,
  { procedureKey, procedureName, mode }: Choice,
  task: string,
  context: JsonObject,
  { category, customerId, ticketId, idempotencyKey }: TaskOptions,
): Promise<ProcedureAnswer | undefined> {
  try {
    const { execution, steps, reply } = await client.resolveTicket({
      ...{ ticket: { text: task }, context, procedureKey },
      ...(mode === 'guided' && { mode }),
      ...(category !== undefined && { category }),
      ...(customerId !== undefined && { customerId }),
      ...(ticketId !== undefined && { ticketId }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    })
    if (execution === null) return undefined
    return toProcedureAnswer(procedureName, { execution, steps, reply })
  } catch (error) {
    if (isServiceError(error, 'PROCEDURE_NOT_ACTIVE')) return undefined
    // A client of a server waits so long for a run; the run goes on.
    if (!isServiceError(error, 'RUN_UNFINISHED')) throw error
    const run = await client.getExecution({ executionId: error.details.executionId })
    return toProcedureAnswer(procedureName, run)
  }
}
