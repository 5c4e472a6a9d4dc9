import type { Db } from '../db/connect.ts'
import { findTriageItem } from '../db/queries/escalations.ts'
import { findExecutionByKey } from '../db/queries/executions.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import { canonicalValue, hashOf } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Durability, ExecutionStart, Ticket } from '../domain/execution.ts'
import { type Id, newId } from '../domain/ids.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import type { SelectionRecord } from '../domain/selection.ts'
import { dueOf } from '../executor/due.ts'
import { startAndRun } from './carry-out.ts'
import { completeInput } from './complete-input.ts'
import type { OperationContext } from './define.ts'
import type { RunOutput } from './execution-output.ts'
import { planOfVersion } from './execution-plan.ts'
import { pinStart } from './pin-start.ts'
import { readRun } from './read-run.ts'
import { modelOf } from './reply-model.ts'

/** What a run is started with. All of the request counts when it is asked whether two are the same. */
export interface RunRequest {
  readonly ticket?: Ticket | undefined
  readonly input: JsonObject
  readonly context?: JsonObject | undefined
  readonly customerId?: string | undefined
  readonly ticketId?: string | undefined
  readonly onBehalfOf?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly durability: Durability
  readonly mode?: 'automatic' | 'guided' | undefined
  /** True: it is stored for a worker to begin, and not begun here. */
  readonly detach?: boolean | undefined
}

/**
 * The run that the request's idempotency key stands for already, in whatever state it is; undefined when the key is
 * new or there is none.
 *
 * @throws ServiceError `IDEMPOTENCY_KEY_REUSED` when it was made by another request.
 */
export async function findRepeatedRun(
  context: OperationContext,
  request: RunRequest,
): Promise<RunOutput | undefined> {
  const { idempotencyKey } = request
  if (idempotencyKey === undefined) return undefined
  const known = await findExecutionByKey(context.db.kysely, idempotencyKey)
  if (known === undefined) {
    await findRepeatedTriage(context.db.kysely, request)
    return undefined
  }
  if (known.requestHash !== hashOf(request)) {
    throw new ServiceError('IDEMPOTENCY_KEY_REUSED', { idempotencyKey, executionId: known.id })
  }
  return readRun(context, known.id)
}

/**
 * The triage item that a request with this idempotency key has opened already; undefined when it has opened none.
 *
 * @throws ServiceError `IDEMPOTENCY_KEY_REUSED` when it was another request.
 */
export async function findRepeatedTriage(
  db: Db,
  request: RunRequest,
): Promise<Id<'escalation'> | undefined> {
  const { idempotencyKey } = request
  if (idempotencyKey === undefined) return undefined
  const known = await findTriageItem(db, idempotencyKey)
  if (known === undefined || known.requestHash === hashOf(request)) return known?.id
  throw new ServiceError('IDEMPOTENCY_KEY_REUSED', { idempotencyKey, executionId: known.id })
}

/**
 * Runs one active version for a request, input filled in from context and ticket, and answers the record, which also
 * keeps `selection`: how the version's procedure was chosen, where a search was made.
 *
 * @throws ServiceError `IDEMPOTENCY_KEY_REUSED`; `PROCEDURE_NOT_ACTIVE` when the version was deprecated meanwhile.
 */
export async function runVersion(
  context: OperationContext,
  version: ProcedureVersion,
  request: RunRequest,
  selection?: SelectionRecord,
): Promise<RunOutput> {
  const { app, caller, db } = context
  const { ticket, idempotencyKey } = request
  const { filled, inputRecord } = await completeInput(modelOf(app), version.definition, request)
  const input = canonicalValue(filled.input)
  if (!isJsonObject(input)) throw new TypeError('the input of a run is an object')
  const plan = await planOfVersion(app, db, version)
  const pinned = await pinStart(app, db, plan)
  const now = app.clock.now()
  const executionId = newId('execution', now)
  const start: ExecutionStart = {
    executionId,
    tenantId: db.tenantId,
    requester: caller.principal,
    startedAt: now,
    input,
    ticket: ticket ?? null,
    ...(request.onBehalfOf !== undefined && { onBehalfOf: request.onBehalfOf }),
    ...(request.customerId !== undefined && { customerId: request.customerId }),
    ...(request.mode === 'guided' && { mode: 'guided' }),
    ...pinned,
  }
  const execution = {
    start,
    due: dueOf(plan, start),
    version,
    durability: request.durability,
    workerId: request.detach === true ? null : app.worker.id,
    context: request.context ?? null,
    ticketId: request.ticketId ?? null,
    onBehalfOf: request.onBehalfOf ?? null,
    idempotencyKey: idempotencyKey ?? null,
    requestHash: idempotencyKey === undefined ? null : hashOf(request),
    selection,
    inputSources: filled.sources,
  }
  const { onStarted, onSteps, isStopping } = caller
  const extras = { onStarted, onSteps, inputRecord, ...(isStopping && { isStopping }) }
  if (await startAndRun(app, db, plan, execution, extras)) {
    return readRun(context, executionId)
  }
  // Another request with the key came first by a moment.
  const repeated = await findRepeatedRun(context, request)
  if (repeated === undefined)
    throw new TypeError('an idempotency key that is taken has an execution')
  return repeated
}
