import type { Db, Transaction } from '../connect.ts'

/** The last sealed record that was looked at. */
export interface LearningCursor {
  readonly sealNumber: number
  readonly position: number
}

/** Takes the recording of a tenant's runs until the transaction ends; undefined when somebody has it. */
export async function lockLearning(
  transaction: Transaction,
  tenantId: string,
): Promise<LearningCursor | undefined> {
  await transaction
    .insertInto('experience_cursors')
    .values({ tenant_id: tenantId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await transaction
    .selectFrom('experience_cursors')
    .select(['seal_number', 'position'])
    .where('tenant_id', '=', tenantId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row && { sealNumber: row.seal_number, position: row.position }
}

/**
 * The next sealed records behind a cursor, in the order in which they were sealed, and how far they go. A seal is committed
 * after the one before it, so nothing is passed over.
 */
export async function listSealedBehind(
  db: Db,
  cursor: LearningCursor,
  limit: number,
): Promise<{
  readonly runs: readonly string[]
  readonly count: number
  readonly last: LearningCursor | undefined
}> {
  const rows = await db
    .selectFrom('sealed_records')
    .select(['execution_id', 'kind', 'seal_number', 'position'])
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('seal_number', 'position'), '>', tuple(cursor.sealNumber, cursor.position)),
    )
    .orderBy('seal_number')
    .orderBy('position')
    .limit(limit)
    .execute()
  const last = rows.at(-1)
  return {
    runs: rows.flatMap(({ kind, execution_id: id }) => (kind === 'run' ? [id] : [])),
    count: rows.length,
    last: last && { sealNumber: last.seal_number, position: last.position },
  }
}

/** Of some runs those that were not erased; until the transaction ends they are not. */
export async function lockRemembered(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  // An erasure has its runs for update, so this waits for it; what was erased shows in the statement after.
  await transaction
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute()
  const erased = await transaction
    .selectFrom('erased_records')
    .select('execution_id')
    .where('execution_id', 'in', ids)
    .execute()
  const gone = new Set(erased.map(({ execution_id: id }) => id))
  return ids.filter((id) => !gone.has(id))
}

export async function moveLearningCursor(
  transaction: Transaction,
  tenantId: string,
  { sealNumber, position }: LearningCursor,
): Promise<void> {
  await transaction
    .updateTable('experience_cursors')
    .set({ seal_number: sealNumber, position })
    .where('tenant_id', '=', tenantId)
    .execute()
}
