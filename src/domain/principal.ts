/** The roles of docs/access.md. A principal may have several. */
export const roles = ['agent', 'author', 'approver', 'admin', 'auditor'] as const
export type Role = (typeof roles)[number]

/** Who acts: the same shape at every door, and the one that is recorded. */
export interface Principal {
  readonly id: string
  readonly kind: 'human' | 'ai' | 'service'
  readonly roles: readonly Role[]
  readonly groups: readonly string[]
  readonly tenantId: string
  /** True for the local person of an embedded folder, whom nothing but file permissions has checked. */
  readonly unauthenticated?: true
}
