import type { z } from 'zod'
import type { proposeProcedure } from '../operations/propose-procedure.ts'

/** What was proposed, and that people decide. */
export function tellProposed(output: z.infer<typeof proposeProcedure.output>): string {
  const { proposalId, isNew, status, procedureKey, unknownTools } = output
  if (!isNew) return `The same was proposed before, as ${proposalId}; it is ${status}.`
  const unknown =
    unknownTools.length === 0
      ? ''
      : ` A person is asked for what no tool does here: ${unknownTools.join(', ')}.`
  return `Proposed as ${proposalId}, a draft of ${procedureKey}, for people to decide on.${unknown}`
}
