import { z } from 'zod'
import type { ApiKey, StoredPrincipal } from '../db/queries/principals.ts'
import { roles } from '../domain/principal.ts'
import { instant } from './shapes.ts'

export const principalId = z
  .string()
  .regex(/^[!-~]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
  .describe('Who acts; it never changes, and stands in the record for ever')

export const roleList = z
  .array(z.enum(roles))
  .max(roles.length)
  .describe(`What they may do, together: ${roles.join(', ')}`)

export const groupList = z
  .array(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be a name such as refund-desk'))
  .max(100)
  .describe('Groups that a playbook may name: group:refund-desk')

export const displayName = z.string().regex(/\S/, 'must not be empty').max(200)

export const principalShape = z
  .object({
    principalId: z.string(),
    kind: z.enum(['human', 'ai', 'service']),
    name: z.string(),
    roles: z.array(z.enum(roles)),
    groups: z.array(z.string()),
    createdAt: instant,
    disabledAt: instant.nullable().describe('Since when they may do nothing; null: they may'),
    tokenIssuedAt: instant
      .nullable()
      .describe(
        'Of whom an issuer lets in: of when the newest token is that was noted, within an hour',
      ),
  })
  .meta({ id: 'PrincipalState' })

export function toPrincipalOutput(principal: StoredPrincipal): z.infer<typeof principalShape> {
  return {
    principalId: principal.id,
    kind: principal.kind,
    name: principal.name,
    roles: [...principal.roles],
    groups: [...principal.groups],
    createdAt: principal.createdAt.toISOString(),
    disabledAt: principal.disabledAt?.toISOString() ?? null,
    tokenIssuedAt: principal.tokenIssuedAt?.toISOString() ?? null,
  }
}

export const keyShape = z.object({
  keyId: z.string(),
  principalId: z.string(),
  name: z.string(),
  createdAt: instant,
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
})

export function toKeyOutput(key: ApiKey): z.infer<typeof keyShape> {
  return {
    keyId: key.id,
    principalId: key.principalId,
    name: key.name,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  }
}
