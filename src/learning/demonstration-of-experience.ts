import { stepKinds } from '../domain/step.ts'
import type { Contracts, Demonstration } from './demonstration.ts'
import type { Experience } from './experience.ts'

/**
 * An experience as something to learn from; undefined for one of which nothing is left. Of a run only what its tools did
 * counts: what it computed or asked belongs to its playbook.
 */
export function demonstrationOf(
  experience: Experience,
  contracts: Contracts,
): Demonstration | undefined {
  const { id, situation, actionSequence, outcome, outcomeType, score, executionId } = experience
  const isStep = (tool: string) => !contracts.has(tool) && stepKinds.some((kind) => kind === tool)
  const actions = actionSequence
    .filter(({ tool }) => executionId === null || !isStep(tool))
    .map(({ tool, input, outputSummary }) => ({ tool, input, outputSummary }))
  return actions.length === 0 ? undefined : { id, situation, actions, outcome, outcomeType, score }
}
