import { z } from 'zod'
import { findExecution, findExecutionByKey, listSteps } from '../db/queries/executions.ts'
import { findReply } from '../db/queries/replies.ts'
import { findActiveVersion, type ProcedureVersion } from '../db/queries/versions.ts'
import { canonicalValue, hashOf } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Durability, Ticket } from '../domain/execution.ts'
import { fillInput } from '../domain/fill-input.ts'
import { type Id, newId } from '../domain/ids.ts'
import type { JsonObject } from '../domain/json.ts'
import { startAndRun } from './carry-out.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { type RunOutput, runOutput, toRunOutput } from './execution-output.ts'
import { planOfExecution, planOfVersion } from './execution-plan.ts'
import { jsonObject, procedureKey, ticket } from './shapes.ts'

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
}

/**
 * Runs the active version of a procedure to its end and answers the whole record. Repeating it with the same
 * idempotency key starts nothing.
 */
export const startExecution = defineOperation({
  name: 'startExecution',
  summary: 'Run the active version of a procedure',
  input: z.strictObject({ procedureKey, ticket: ticket.optional(), ...startInput }),
  output: runOutput,
  errors: ['PROCEDURE_NOT_ACTIVE', 'IDEMPOTENCY_KEY_REUSED'],
  roles: ['agent', 'admin'],
  async run(context, request) {
    const version = await findActiveVersion(context.db.kysely, request.procedureKey)
    if (version === undefined) {
      throw new ServiceError('PROCEDURE_NOT_ACTIVE', { procedureKey: request.procedureKey })
    }
    return runVersion(context, version, request)
  },
})

export interface RunRequest {
  readonly ticket?: Ticket | undefined
  readonly input: JsonObject
  readonly context?: JsonObject | undefined
  readonly customerId?: string | undefined
  readonly ticketId?: string | undefined
  readonly onBehalfOf?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly durability: Durability
}

/**
 * Runs one active version for a request, input filled in from context and ticket, and answers the record.
 *
 * @throws ServiceError `IDEMPOTENCY_KEY_REUSED`; `PROCEDURE_NOT_ACTIVE` when the version was deprecated meanwhile.
 */
export async function runVersion(
  context: OperationContext,
  version: ProcedureVersion,
  request: RunRequest,
): Promise<RunOutput> {
  const { app, caller, db } = context
  const { idempotencyKey, ticket, durability } = request
  const requestHash =
    idempotencyKey === undefined
      ? null
      : hashOf({ ...request, procedureKey: version.procedureKey, durability: undefined })
  if (idempotencyKey !== undefined) {
    const known = await findExecutionByKey(db.kysely, idempotencyKey)
    if (known !== undefined) return answerKnown(context, idempotencyKey, requestHash)
  }

  const filled = fillInput({
    schema: version.definition.input,
    input: request.input,
    context: request.context,
    text: ticket?.text,
  })
  const plan = await planOfVersion(app, db, version)
  const now = app.clock.now()
  const executionId = newId('execution', now)
  const started = await startAndRun(
    app,
    db,
    plan,
    {
      start: {
        executionId,
        tenantId: db.tenantId,
        requester: caller.principal,
        startedAt: now,
        input: asObject(canonicalValue(filled.input)),
        ticket: ticket ?? null,
      },
      version,
      durability,
      workerId: app.worker.id,
      context: request.context ?? null,
      customerId: request.customerId ?? null,
      ticketId: request.ticketId ?? null,
      onBehalfOf: request.onBehalfOf ?? null,
      idempotencyKey: idempotencyKey ?? null,
      requestHash,
    },
    caller.onSteps,
  )
  if (!started && idempotencyKey !== undefined) {
    return answerKnown(context, idempotencyKey, requestHash)
  }
  return readRun(context, executionId)
}

/**
 * The whole record of an execution.
 *
 * @throws ServiceError `EXECUTION_NOT_FOUND`.
 */
export async function readRun(
  { app, db }: OperationContext,
  id: Id<'execution'>,
): Promise<RunOutput> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: id })
  const plan = await planOfExecution(app, db, execution)
  const actions = new Map([...plan.nodes.values()].map(({ key, step }) => [key, step.action]))
  const rows = await listSteps(db.kysely, id)
  return toRunOutput(execution, rows, actions, await findReply(db.kysely, id))
}

/** The execution that a key stands for, if it was made by the very same request. */
async function answerKnown(
  context: OperationContext,
  idempotencyKey: string,
  requestHash: string | null,
): Promise<RunOutput> {
  const known = await findExecutionByKey(context.db.kysely, idempotencyKey)
  if (known === undefined) throw new TypeError('an idempotency key that is taken has an execution')
  if (known.requestHash !== requestHash) {
    throw new ServiceError('IDEMPOTENCY_KEY_REUSED', { idempotencyKey, executionId: known.id })
  }
  return readRun(context, known.id)
}

function asObject(value: unknown): JsonObject {
  return Object(value)
}
