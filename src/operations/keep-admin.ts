import type { Transaction } from '../db/connect.ts'
import { hasAdmin, lockAdmins } from '../db/queries/principals.ts'
import { ServiceError } from '../domain/errors.ts'

/**
 * Makes a change by which somebody may be no admin any more, or have no key. Where nobody was left who could make another,
 * it is taken back with its transaction; two of them wait for each other. A tenant that has none to lose loses none.
 *
 * @throws ServiceError `PRINCIPAL_LAST_ADMIN`
 */
export async function keepingAdmin<T>(
  transaction: Transaction,
  principalId: string,
  at: Date,
  change: () => Promise<T>,
): Promise<T> {
  await lockAdmins(transaction)
  const had = await hasAdmin(transaction, at)
  const changed = await change()
  if (had && !(await hasAdmin(transaction, at))) {
    throw new ServiceError('PRINCIPAL_LAST_ADMIN', { principalId })
  }
  return changed
}
