import { z } from 'zod'
import { getStoppableProcedure } from './find-stoppable.ts'
import { procedureKey } from './shapes.ts'
import { defineAllow } from './switch-operations.ts'

/** Lets a procedure that was stopped be started again; the executions that were held for it go on, and no others. */
export const allowProcedure = defineAllow('allowProcedure', {
  kind: 'procedure',
  summary: 'Let a procedure that was stopped run again',
  input: z.strictObject({ procedureKey }),
  errors: ['PROCEDURE_NOT_FOUND'],
  find: getStoppableProcedure,
})
