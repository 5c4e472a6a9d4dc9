import { z } from 'zod'
import { getStoppableProcedure } from './find-stoppable.ts'
import { procedureKey } from './shapes.ts'
import { defineStop, stopReason } from './switch-operations.ts'

/**
 * Stops a procedure at once: nothing starts it, its executions begin no further write and are paused, and one that is
 * called by another is stored and waits. Writes that had begun are let finish, and named.
 */
export const stopProcedure = defineStop('stopProcedure', {
  kind: 'procedure',
  summary: 'Stop a procedure at once: no start, and no further write of what goes on',
  input: z.strictObject({ procedureKey, reason: stopReason }),
  errors: ['PROCEDURE_NOT_FOUND'],
  find: getStoppableProcedure,
})
