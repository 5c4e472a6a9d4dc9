import type { Principal, Role } from '../../src/domain/principal.ts'
import type { Caller } from '../../src/operations/define.ts'

export function principalOf(id: string, roles: readonly Role[], tenantId = 'default'): Principal {
  return { id, kind: 'human', roles, groups: [], tenantId }
}

export function callerOf(
  id = 'ann',
  roles: readonly Role[] = ['agent', 'author', 'approver', 'admin', 'auditor'],
  tenantId = 'default',
): Caller {
  return { principal: principalOf(id, roles, tenantId), origin: 'library' }
}
