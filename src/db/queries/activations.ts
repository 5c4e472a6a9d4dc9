import { canonicalJson } from '../../domain/canonical.ts'
import { type Id, newId } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'

/** When one version served: [activeFrom, activeUntil). */
export interface Activation {
  readonly versionId: Id<'version'>
  readonly activeFrom: Date
  readonly activeUntil: Date | null
}

/** Newest first. */
export async function listActivations(
  db: Db,
  procedureId: Id<'procedure'>,
): Promise<readonly Activation[]> {
  const rows = await db
    .selectFrom('activations')
    .select(['version_id', 'active_from', 'active_until'])
    .where('procedure_id', '=', procedureId)
    .orderBy('active_from', 'desc')
    .execute()
  return rows.map((row) => ({
    versionId: row.version_id as Id<'version'>,
    activeFrom: row.active_from,
    activeUntil: row.active_until,
  }))
}

/** The version that served a procedure at an instant, if one did. */
export async function findActiveAt(
  db: Db,
  procedureId: Id<'procedure'>,
  at: Date,
): Promise<Id<'version'> | undefined> {
  const row = await db
    .selectFrom('activations')
    .select('version_id')
    .where('procedure_id', '=', procedureId)
    .where('active_from', '<=', at)
    .where((eb) => eb.or([eb('active_until', 'is', null), eb('active_until', '>', at)]))
    .executeTakeFirst()
  return row && (row.version_id as Id<'version'>)
}

/**
 * Closes the open range of a procedure, if there is one, at `at` or right after its beginning, and answers the
 * instant: the earliest at which the next may begin. The caller holds the procedure's lock.
 */
export async function updateOpenActivation(
  transaction: Transaction,
  procedureId: Id<'procedure'>,
  by: Principal,
  at: Date,
): Promise<Date> {
  const last = await transaction
    .selectFrom('activations')
    .select(['id', 'active_from', 'active_until'])
    .where('procedure_id', '=', procedureId)
    .orderBy('active_from', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return at
  // A clock that went back must not make two ranges meet in one instant.
  const earliest = (last.active_until ?? last.active_from).getTime() + 1
  const end = new Date(Math.max(at.getTime(), earliest))
  if (last.active_until === null) {
    await transaction
      .updateTable('activations')
      .set({ active_until: end, deactivated_by: canonicalJson(by) })
      .where('id', '=', last.id)
      .execute()
  }
  return end
}

/** Opens the range of a version. The caller holds the procedure's lock and has closed the range before. */
export async function insertActivation(
  transaction: Transaction,
  activation: {
    readonly tenantId: string
    readonly procedureId: Id<'procedure'>
    readonly versionId: Id<'version'>
    readonly activeFrom: Date
    readonly by: Principal
  },
): Promise<void> {
  await transaction
    .insertInto('activations')
    .values({
      tenant_id: activation.tenantId,
      id: newId('activation', activation.activeFrom.getTime()),
      procedure_id: activation.procedureId,
      version_id: activation.versionId,
      active_from: activation.activeFrom,
      active_until: null,
      activated_by: canonicalJson(activation.by),
    })
    .execute()
}
