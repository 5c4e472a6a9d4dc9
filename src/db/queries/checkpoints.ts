import type { AuditHead } from '../../domain/audit.ts'
import type { Checkpoint } from '../../domain/checkpoint.ts'
import type { Database, Db, Transaction } from '../connect.ts'

/** The tenants whose chain has grown by `events` since its last checkpoint, or at all in `hours`. */
export async function listTenantsToCheckpoint(
  database: Database,
  { events, hours }: { readonly events: number; readonly hours: number },
): Promise<readonly string[]> {
  const rows = await database.system.query<{ id: string }>(
    'tenants_to_checkpoint',
    'SELECT id FROM tenants_to_checkpoint($1, make_interval(hours => $2)) AS names (id)',
    [events, hours],
  )
  return rows.map(({ id }) => id)
}

/** The end of the tenant's chain. */
export async function findAuditHead(db: Db): Promise<AuditHead> {
  const row = await db.selectFrom('audit_heads').select(['seq', 'hash']).executeTakeFirst()
  return row ?? { seq: 0, hash: null }
}

/** Stores a checkpoint; false where the key has signed that event before. */
export async function insertCheckpoint(
  transaction: Transaction,
  checkpoint: Checkpoint,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await transaction
    .insertInto('checkpoints')
    .values({
      tenant_id: checkpoint.tenant,
      seq: checkpoint.seq,
      key_id: checkpoint.keyId,
      hash: checkpoint.hash,
      at: new Date(checkpoint.at),
      signature: checkpoint.signature,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** By event, then key: at most `limit` behind one of an event. */
export async function listCheckpoints(
  db: Db,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly Checkpoint[]> {
  const rows = await db
    .selectFrom('checkpoints')
    .selectAll()
    .where('seq', '>', after)
    .orderBy('seq')
    .orderBy('key_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    v: 1,
    tenant: row.tenant_id,
    seq: row.seq,
    hash: row.hash,
    at: row.at.toISOString(),
    keyId: row.key_id,
    signature: row.signature,
  }))
}
