import { z } from 'zod'
import { findOutsideByKey, insertOutsideExecution } from '../db/queries/outside-executions.ts'
import { findVersionById } from '../db/queries/versions.ts'
import { hashOf } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { versionId } from './shapes.ts'
import { openWithholding } from './withhold-sensitive.ts'

const maxDurationMs = 366 * 86_400_000

/**
 * Keeps how a run went that was made elsewhere, by a version that serves or has served. It stands in the track record apart from the
 * runs of this service, and nothing goes by it: no search, no guided agent, no insight.
 */
export const recordExecution = defineOperation({
  name: 'recordExecution',
  summary: 'Record how a run went that was made elsewhere',
  input: z.strictObject({
    versionId,
    success: z.boolean(),
    durationMs: z.int().min(0).max(maxDurationMs).describe('How long it took, to 366 days'),
    note: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(200)
      .optional()
      .describe('Where it ran, say. Nothing about a customer may stand in it'),
    idempotencyKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('The same key and request are recorded once'),
  }),
  output: z.object({
    outsideExecutionId: z.string(),
    isNew: z.boolean().describe('False: the key was there already, with this request'),
    procedureKey: z.string(),
    versionNumber: z.int(),
  }),
  errors: ['VERSION_UNKNOWN', 'VERSION_NEVER_SERVED', 'IDEMPOTENCY_KEY_REUSED'],
  roles: ['agent', 'admin'],
  async run(context, told) {
    const { app, caller, db } = context
    const version = await findVersionById(db.kysely, told.versionId)
    if (version === undefined) {
      throw new ServiceError('VERSION_UNKNOWN', { versionId: told.versionId })
    }
    const { procedureKey, versionNumber } = version
    if (version.status === 'draft') {
      throw new ServiceError('VERSION_NEVER_SERVED', { procedureKey, versionNumber })
    }
    const now = app.clock.now()
    const { note, idempotencyKey } = told
    const id = newId('outside', now)
    const isNew = await insertOutsideExecution(db.kysely, db.tenantId, {
      id,
      versionId: version.id,
      success: told.success,
      durationMs: told.durationMs,
      // What is withheld may be longer than what it stands for.
      note:
        note === undefined
          ? null
          : (await openWithholding(db)).text(note).slice(0, 200).toWellFormed(),
      recordedBy: caller.principal,
      recordedAt: new Date(now),
      idempotencyKey: idempotencyKey ?? null,
      requestHash: idempotencyKey === undefined ? null : hashOf(told),
    })
    const outsideExecutionId =
      isNew || idempotencyKey === undefined ? id : await knownBy(context, idempotencyKey, told)
    return { outsideExecutionId, isNew, procedureKey, versionNumber }
  },
})

/** The run that a key stands for, if this is the request that it came with. */
async function knownBy(
  { db }: OperationContext,
  idempotencyKey: string,
  told: object,
): Promise<string> {
  const known = await findOutsideByKey(db.kysely, idempotencyKey)
  if (known === undefined) throw new TypeError('a key that is taken has a run')
  if (known.requestHash === hashOf(told)) return known.id
  throw new ServiceError('IDEMPOTENCY_KEY_REUSED', { idempotencyKey, executionId: known.id })
}
