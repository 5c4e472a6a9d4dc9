import { sha256 } from './canonical.ts'

/** The actions of the events that name what was erased; the database writes them. */
export const erasureActions = ['executions.erased', 'executions.expired'] as const

/** What stands where a text of an erased run was. */
export const erasedText = 'Erased.'

/**
 * What stands for a customer in the audit log: SHA-256 in hex over the salt, a colon and the id, as the database computes it
 * too. `salt` is 64 hex digits.
 */
export function customerDigest(salt: string, customerId: string): string {
  return sha256(`${salt}:${customerId}`)
}
