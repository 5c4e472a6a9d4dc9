import { z } from 'zod'
import { insertPrincipal } from '../db/queries/principals.ts'
import { ServiceError } from '../domain/errors.ts'
import { issuedIdPrefix } from '../domain/issued-id.ts'
import { defineAdministration } from './define.ts'
import {
  displayName,
  groupList,
  principalId,
  principalShape,
  roleList,
  toPrincipalOutput,
} from './principal-output.ts'

/** Whom the audit log names for what nobody has asked for. */
const reservedIds = ['deployment', 'stepwarden']

/** Makes somebody who may act in the tenant: a person, an AI agent or a service. A key lets them in. */
export const createPrincipal = defineAdministration({
  name: 'createPrincipal',
  summary: 'Add a person, an AI agent or a service that may act',
  input: z.strictObject({
    principalId: principalId
      .refine(
        (id) => !reservedIds.includes(id),
        'is how the audit log calls the service itself; take another',
      )
      .refine(
        (id) => !id.startsWith(issuedIdPrefix),
        `begins with ${issuedIdPrefix} as the ids of people whom an issuer lets in; take another`,
      ),
    kind: z.enum(['human', 'ai', 'service']).default('human').describe('It never changes'),
    name: displayName.optional().describe('How people call them; default the id'),
    roles: roleList,
    groups: groupList.default([]),
  }),
  output: principalShape,
  errors: ['PRINCIPAL_EXISTS'],
  roles: ['admin'],
  async change({ app, caller }, transaction, input) {
    const { principalId: id, kind, name = id } = input
    const principal = {
      id,
      kind,
      name,
      roles: [...new Set(input.roles)].sort(),
      groups: [...new Set(input.groups)].sort(),
      createdAt: new Date(app.clock.now()),
      tokenIssuedAt: null,
    }
    if (!(await insertPrincipal(transaction, caller.principal.tenantId, principal))) {
      throw new ServiceError('PRINCIPAL_EXISTS', { principalId: id })
    }
    const { roles, groups } = principal
    return {
      output: toPrincipalOutput({ ...principal, disabledAt: null }),
      audit: [
        {
          action: 'principal.created',
          entityKind: 'principal',
          entityId: id,
          details: { kind, name, roles, groups },
        },
      ],
    }
  },
})
