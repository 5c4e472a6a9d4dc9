import type { Said } from './execution.ts'
import { type Principal, roles } from './principal.ts'

/**
 * Whether a person may speak for whom a step asks: a role, a `group:NAME`, or `customer`, for whom the help desk speaks
 * (an agent or an admin).
 */
export function speaksFor(from: string, { roles: own, groups }: Principal): boolean {
  if (from === 'customer') return own.includes('agent') || own.includes('admin')
  if (from.startsWith('group:')) return groups.includes(from.slice('group:'.length))
  const role = roles.find((one) => one === from)
  return role !== undefined && own.includes(role)
}

/** Who may not approve, besides those whom it does not ask. */
export interface NotApproving {
  /** Ids for whom the run acts: nobody approves their own request. */
  readonly requesters: readonly string[]
  /** What was said at the steps whose people may not approve. */
  readonly others: readonly Said[]
  /** What was said at this step already. */
  readonly exchange: readonly Said[]
}

/** Why somebody may not approve; undefined for one who may. `from` is a role or a `group:NAME`. */
export function whyNotApproving(
  from: string,
  principal: Principal,
  { requesters, others, exchange }: NotApproving,
): string | undefined {
  const { id, kind } = principal
  if (kind !== 'human') return `only people approve, and you are a principal of kind ${kind}`
  if (!speaksFor(from, principal)) return whyNotAsked(from)
  if (requesters.includes(id)) return 'nobody approves what they have asked for themselves'
  if (others.some((said) => 'by' in said && said.by.id === id)) {
    return 'who has spoken at an earlier step may not approve here (notBy)'
  }
  if (exchange.some((said) => said.kind === 'approved' && said.by.id === id)) {
    return 'you have approved it already, and one more person is needed'
  }
  return undefined
}

export function whyNotAsked(from: string): string {
  if (from === 'customer') return 'the help desk (role agent or admin) answers for the customer'
  return from.startsWith('group:')
    ? `it asks the group ${from.slice('group:'.length)}`
    : `it asks the role ${from}`
}
