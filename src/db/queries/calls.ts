import type { Id } from '../../domain/ids.ts'
import type { Db, Transaction } from '../connect.ts'
import { listVersionsById, type ProcedureVersion } from './versions.ts'

/** Makes known which procedures a version calls that has just become active. It goes by itself when it no longer is. */
export async function insertCalls(
  transaction: Transaction,
  tenantId: string,
  versionId: Id<'version'>,
  calledKeys: readonly string[],
): Promise<void> {
  if (calledKeys.length === 0) return
  await transaction
    .insertInto('version_calls')
    .values(
      calledKeys.map((key) => ({ tenant_id: tenantId, called_key: key, version_id: versionId })),
    )
    .execute()
}

/** The active versions with a step that calls a procedure, by their keys. */
export async function listCallers(db: Db, calledKey: string): Promise<readonly ProcedureVersion[]> {
  const rows = await db
    .selectFrom('version_calls')
    .select('version_id')
    .where('called_key', '=', calledKey)
    .execute()
  return listVersionsById(
    db,
    rows.map((row) => row.version_id as Id<'version'>),
  )
}
