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
import type { Id } from '../domain/ids.ts'
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
    const madeAt = new Date(app.clock.now()).toISOString()
    // One moment for all of it: a row that changes meanwhile would not agree with the events that were read before.
    const lines = await kysely
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((transaction) => readBundle(transaction, input.executionId, { tenantId, madeAt }))
    await kysely.transaction().execute((transaction) =>
      insertAuditEvent(transaction, {
        at: app.clock.now(),
        principal: caller.principal,
        origin: caller.origin,
        action: 'execution.bundled',
        entityKind: 'execution',
        entityId: input.executionId,
      }),
    )
    return { lines }
  },
})

async function readBundle(
  db: Db,
  id: Id<'execution'>,
  { tenantId, madeAt }: { readonly tenantId: string; readonly madeAt: string },
): Promise<EvidenceLine[]> {
  const execution = await findExecution(db, id)
  if (execution === undefined) throw new ServiceError('EXECUTION_NOT_FOUND', { executionId: id })
  const seals = await listRunSeals(db, execution.id)
  if (seals.length === 0) throw new ServiceError('EXECUTION_NOT_SEALED', { executionId: id })
  const head = await findAuditHead(db)
  const { rows, versionIds } = await findRunOrigin(db, execution.versionId, head.seq)
  const numbers = await listEventNumbers(db, {
    versionIds,
    sealNumbers: seals.map(([{ number }]) => number),
    executionId: execution.id,
  })
  const erasures = seals.flatMap(([, { erasedBy }]) => (erasedBy === undefined ? [] : [erasedBy]))
  const { events, checkpoints } = await stretchesOf(
    db,
    [...numbers, ...erasures].sort((a, b) => a - b).filter((seq) => seq <= head.seq),
    head.seq,
  )
  return [
    { kind: 'header', format: 2, scope: 'run', tenant: tenantId, madeAt, asOf: head.seq },
    ...rows,
    ...checkpoints.map((checkpoint) => ({ kind: 'checkpoint' as const, checkpoint })),
    ...events.map((event) => ({ kind: 'event' as const, event })),
    ...seals.flat(),
    { kind: 'end', ...head, unsealed: 0 },
  ]
}

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
