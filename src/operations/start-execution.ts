import { z } from 'zod'
import { defineOperation } from './define.ts'
import { runOutput } from './execution-output.ts'
import { getActiveVersion } from './find-version.ts'
import { findRepeatedRun, runVersion } from './run-version.ts'
import { detach, jsonObject, procedureKey, ticket } from './shapes.ts'

/** What starting a run takes besides the procedure, at every operation that starts one. */
export const startInput = {
  input: jsonObject.default({}).describe("The procedure's input, as far as the caller knows it"),
  context: jsonObject
    .optional()
    .describe('Where input is looked for by name, after the caller’s own'),
  customerId: z.string().min(1).max(200).optional(),
  ticketId: z.string().min(1).max(200).optional(),
  onBehalfOf: z.string().min(1).max(200).optional().describe('For whom the caller acts'),
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The same key and request give the same execution, whatever has become of it'),
  durability: z.enum(['effect', 'step']).default('effect').describe('How often a run is committed'),
  mode: z
    .enum(['automatic', 'guided'])
    .optional()
    .describe('guided: an agent confirms each write before it is made'),
}

/**
 * Runs the active version of a procedure to its end, or until it has to wait, and answers the whole record. Repeating it
 * with the same idempotency key starts nothing.
 */
export const startExecution = defineOperation({
  name: 'startExecution',
  summary: 'Run the active version of a procedure',
  input: z.strictObject({
    procedureKey,
    ticket: ticket.optional(),
    ...startInput,
    detach,
  }),
  output: runOutput,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'PROCEDURE_NOT_ACTIVE',
    'PROCEDURE_STOPPED',
    'IDEMPOTENCY_KEY_REUSED',
  ],
  roles: ['agent', 'admin'],
  async run(context, request) {
    const repeated = await findRepeatedRun(context, request)
    if (repeated !== undefined) return repeated
    const version = await getActiveVersion(context.db.kysely, request.procedureKey)
    return runVersion(context, version, request)
  },
})
