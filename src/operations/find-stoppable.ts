import { findProcedure } from '../db/queries/procedures.ts'
import { listContractNames } from '../db/queries/tool-contracts.ts'
import { ServiceError } from '../domain/errors.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { procedureNotFound } from './find-version.ts'
import type { FindStoppable } from './switch-operations.ts'

/**
 * A procedure that a switch is for, whether or not a version of it is active.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`.
 */
export const getStoppableProcedure: FindStoppable<{ readonly procedureKey: string }> = async (
  _context,
  transaction,
  { procedureKey },
) => {
  const procedure = await findProcedure(transaction, procedureKey)
  if (procedure === undefined) throw await procedureNotFound(transaction, procedureKey)
  return { named: procedureKey, entityId: procedure.id }
}

/**
 * A tool that a switch is for: one of this process, or one that a version has pinned and that may be registered where its
 * executions go on.
 *
 * @throws ServiceError `TOOL_NOT_FOUND`.
 */
export const getStoppableTool: FindStoppable<{ readonly tool: string }> = async (
  { app },
  transaction,
  { tool },
) => {
  if (app.tools.current.has(tool)) return { named: tool, entityId: tool }
  const pinned = await listContractNames(transaction)
  if (pinned.includes(tool)) return { named: tool, entityId: tool }
  const nearest = nearestName(tool, [...app.tools.current.keys(), ...pinned])
  throw new ServiceError('TOOL_NOT_FOUND', { tool, ...(nearest !== undefined && { nearest }) })
}
