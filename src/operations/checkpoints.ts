import { type FileHandle, open } from 'node:fs/promises'
import type { AppContext } from '../context.ts'
import {
  findAuditHead,
  insertCheckpoint,
  listTenantsToCheckpoint,
} from '../db/queries/checkpoints.ts'
import { type Checkpoint, signCheckpoint } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'

/** A chain gets a checkpoint after so many events, and at least so often where it has grown. */
const due = { events: 1_000, hours: 24 } as const

/**
 * Signs the end of a tenant's chain, stores it, and appends it to the checkpoint file where there is one. Undefined for a
 * chain without events. Repeated on the same end it stores and appends nothing, and answers one of its own time.
 *
 * @throws ServiceError `CHECKPOINT_KEY_MISSING`; `FILE_UNWRITABLE` when it is stored and could not be appended.
 */
export async function makeCheckpoint(
  app: AppContext,
  tenantId: string,
): Promise<Checkpoint | undefined> {
  const { checkpointKey, checkpointFile } = app.audit
  if (checkpointKey === undefined) throw new ServiceError('CHECKPOINT_KEY_MISSING', {})
  const { kysely } = app.database.forTenant(tenantId)
  const { seq, hash } = await findAuditHead(kysely)
  if (hash === null) return undefined
  const at = new Date(app.clock.now()).toISOString()
  const checkpoint = signCheckpoint(checkpointKey, { tenant: tenantId, seq, hash, at })
  const isNew = await kysely
    .transaction()
    .execute((transaction) => insertCheckpoint(transaction, checkpoint))
  if (isNew && checkpointFile !== undefined) await append(checkpointFile, checkpoint)
  return checkpoint
}

async function append(file: string, checkpoint: Checkpoint): Promise<void> {
  try {
    const handle = await open(file, 'a+')
    try {
      // After a process that was stopped while it wrote, this line would be glued to what there is of its.
      const start = (await endsInLine(handle)) ? '' : '\n'
      // One write of one line: several processes may append to one file.
      await handle.appendFile(`${start}${JSON.stringify(checkpoint)}\n`)
    } finally {
      await handle.close()
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new ServiceError('FILE_UNWRITABLE', { file, problem }, { cause: error })
  }
}

/** Whether a file is empty or its last line is whole. */
async function endsInLine(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] === 0x0a
}

/** Makes the checkpoints that are due, of all tenants; none without a key. */
export async function makeDueCheckpoints(app: AppContext): Promise<void> {
  if (app.audit.checkpointKey === undefined) return
  for (const tenantId of await listTenantsToCheckpoint(app.database, due)) {
    await makeCheckpoint(app, tenantId)
  }
}
