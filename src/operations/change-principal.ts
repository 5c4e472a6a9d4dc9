import { z } from 'zod'
import { findPrincipal, updatePrincipal } from '../db/queries/principals.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { keepingAdmin } from './keep-admin.ts'
import {
  displayName,
  groupList,
  principalId,
  principalShape,
  roleList,
  toPrincipalOutput,
} from './principal-output.ts'

/** Changes what somebody may do, from their next call on. What is left out stays as it is. */
export const changePrincipal = defineAdministration({
  name: 'changePrincipal',
  summary: 'Change the name, roles or groups of somebody, or shut them out',
  input: z
    .strictObject({
      principalId,
      name: displayName.optional(),
      roles: roleList.optional(),
      groups: groupList.optional(),
      disabled: z.boolean().optional().describe('Whether their keys and tokens are refused'),
    })
    .refine(
      ({ name, roles, groups, disabled }) => name ?? roles ?? groups ?? disabled !== undefined,
      {
        message: 'must change something: name, roles, groups or disabled',
      },
    ),
  output: principalShape,
  errors: ['PRINCIPAL_NOT_FOUND', 'PRINCIPAL_OF_ISSUER', 'PRINCIPAL_LAST_ADMIN'],
  roles: ['admin'],
  async change({ app }, transaction, { principalId: id, disabled, ...input }) {
    const before = await findPrincipal(transaction, id)
    if (before === undefined) throw new ServiceError('PRINCIPAL_NOT_FOUND', { principalId: id })
    if (before.tokenIssuedAt !== null && (input.name ?? input.roles ?? input.groups)) {
      throw new ServiceError('PRINCIPAL_OF_ISSUER', { principalId: id })
    }
    const since = before.disabledAt ?? new Date(app.clock.now())
    const write = () =>
      updatePrincipal(transaction, id, {
        ...(input.name !== undefined && { name: input.name }),
        ...(input.roles && { roles: [...new Set(input.roles)].sort() }),
        ...(input.groups && { groups: [...new Set(input.groups)].sort() }),
        ...(disabled !== undefined && { disabledAt: disabled ? since : null }),
      })
    const mayTake = input.roles !== undefined || disabled === true
    const at = new Date(app.clock.now())
    const after = mayTake ? await keepingAdmin(transaction, id, at, write) : await write()
    if (after === undefined) throw new TypeError('a principal is never deleted')
    const output = toPrincipalOutput(after)
    const { name, roles, groups, disabledAt } = output
    return {
      output,
      audit: [
        {
          action: 'principal.changed',
          entityKind: 'principal',
          entityId: id,
          details: { name, roles, groups, disabledAt },
        },
      ],
    }
  },
})
