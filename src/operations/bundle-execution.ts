import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { findAuditHead } from '../db/queries/checkpoints.ts'
import { findExecution } from '../db/queries/executions.ts'
import {
  findAnchor,
  findRunOrigin,
  listEventNumbers,
  listRunSeals,
  listStretch,
} from '../db/queries/run-evidence.ts'
import type { AuditEvent } from '../domain/audit.ts'
import type { Checkpoint } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'
import { type EvidenceLine, evidenceLine } from '../domain/evidence.ts'
import { defineOperation } from './define.ts'
import { executionId } from './shapes.ts'

/** An event that is farther from a checkpoint than this stands alone: what is between would be most of the bundle. */
const maxStretch = 5_000

/**
 * All that proves one run: what it was started from, its rows, its path to the root of its seal, and the events of these
 * up to the next checkpoint. Written to the audit log.
 */
export const bundleExecution = defineOperation({
  name: 'bundleExecution',
  summary: "Gather one run's evidence, to be verified anywhere",
  input: z.strictObject({ executionId }),
  output: z.object({ lines: z.array(evidenceLine) }),
  errors: ['EXECUTION_NOT_FOUND', 'EXECUTION_NOT_SEALED'],
  roles: ['auditor'],
  async run({ app, caller, db }, input) {
    const { kysely, tenantId } = db
    const execution = await findExecution(kysely, input.executionId)
    if (execution === undefined) {
      throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: input.executionId })
    }
    const seals = await listRunSeals(kysely, execution.id)
    if (seals.length === 0) {
      throw new ServiceError('EXECUTION_NOT_SEALED', { executionId: execution.id })
    }
    const head = await findAuditHead(kysely)
    const { rows, versionIds } = await findRunOrigin(kysely, execution.versionId, head.seq)
    const numbers = await listEventNumbers(kysely, {
      versionIds,
      sealNumbers: seals.map(([{ number }]) => number),
      executionId: execution.id,
    })
    const erasures = seals.flatMap(([, { erasedBy }]) => (erasedBy === undefined ? [] : [erasedBy]))
    const { events, checkpoints } = await stretchesOf(
      kysely,
      [...numbers, ...erasures].sort((a, b) => a - b).filter((seq) => seq <= head.seq),
      head.seq,
    )
    const now = app.clock.now()
    const madeAt = new Date(now).toISOString()
    const lines: EvidenceLine[] = [
      { kind: 'header', format: 1, scope: 'run', tenant: tenantId, madeAt },
      ...rows,
      ...checkpoints.map((checkpoint) => ({ kind: 'checkpoint' as const, checkpoint })),
      ...events.map((event) => ({ kind: 'event' as const, event })),
      ...seals.flat(),
      { kind: 'end', ...head, unsealed: 0 },
    ]
    await kysely.transaction().execute((transaction) =>
      insertAuditEvent(transaction, {
        at: now,
        principal: caller.principal,
        origin: caller.origin,
        action: 'execution.bundled',
        entityKind: 'execution',
        entityId: execution.id,
      }),
    )
    return { lines }
  },
})

/** From each event that is needed up to the next checkpoint, those that overlap together. */
async function stretchesOf(
  db: Db,
  numbers: readonly number[],
  end: number,
): Promise<{
  readonly events: readonly AuditEvent[]
  readonly checkpoints: readonly Checkpoint[]
}> {
  const events: AuditEvent[] = []
  const checkpoints: Checkpoint[] = []
  let read = 0
  for (const seq of numbers) {
    if (seq <= read) continue
    const anchor = await findAnchor(db, seq)
    const to = anchor?.seq ?? end
    const isNear = to - seq < maxStretch
    if (anchor !== undefined && isNear) checkpoints.push(anchor)
    read = isNear ? to : seq
    events.push(...(await listStretch(db, { from: seq, to: read })))
  }
  return { events, checkpoints }
}
