import type { Id } from '../../domain/ids.ts'
import type { SealedPart, SensitiveValue } from '../../domain/sensitive-value.ts'
import type { Db, Transaction } from '../connect.ts'

/** The columns of a list of such values in JSON, as a statement reads it. */
export const sensitiveColumns =
  'ordinal int, part text, pointer text, "isWhole" boolean, digest text, salt text, value text'

/**
 * What is kept apart of an execution. Only deciding and replay may read it: what people see is made from the rows.
 */
export async function listSensitiveValues(
  db: Db,
  executionId: Id<'execution'>,
): Promise<readonly SensitiveValue[]> {
  const rows = await db
    .selectFrom('sensitive_values')
    .select(['ordinal', 'part', 'pointer', 'is_whole', 'digest', 'salt', 'value'])
    .where('execution_id', '=', executionId)
    .execute()
  return rows.map(({ is_whole: isWhole, ...row }) => ({
    ...row,
    isWhole,
    part: row.part as SealedPart,
  }))
}

/** Adds what is kept apart; what is there already stays as it is. */
export async function insertSensitiveValues(
  transaction: Transaction,
  tenantId: string,
  executionId: Id<'execution'>,
  values: readonly SensitiveValue[],
): Promise<void> {
  if (values.length === 0) return
  await transaction
    .insertInto('sensitive_values')
    .values(
      values.map(({ isWhole, ...one }) => ({
        ...one,
        is_whole: isWhole,
        tenant_id: tenantId,
        execution_id: executionId,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
