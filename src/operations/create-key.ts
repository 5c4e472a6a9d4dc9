import { z } from 'zod'
import { findPrincipal, insertApiKey } from '../db/queries/principals.ts'
import { apiKeyHash, newApiKey } from '../domain/api-key.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { defineAdministration } from './define.ts'
import { displayName, keyShape, principalId, toKeyOutput } from './principal-output.ts'

const dayMs = 86_400_000

/** Makes a key for somebody. Its text is in this answer and nowhere else. */
export const createKey = defineAdministration({
  name: 'createKey',
  summary: 'Make a key for somebody; it is shown this once',
  input: z.strictObject({
    principalId,
    name: displayName.default('key').describe('What it is for'),
    expiresInDays: z
      .int()
      .min(1)
      .max(3650)
      .optional()
      .describe('After how many days it is refused; default never'),
  }),
  output: keyShape.extend({
    key: z.string().describe('What to show at a door. It is not kept, and cannot be shown again'),
  }),
  errors: ['PRINCIPAL_NOT_FOUND', 'PRINCIPAL_DISABLED', 'PRINCIPAL_OF_ISSUER'],
  roles: ['admin'],
  async change({ app, caller }, transaction, { principalId: id, name, expiresInDays }) {
    const { tenantId } = caller.principal
    const principal = await findPrincipal(transaction, id)
    if (principal === undefined) throw new ServiceError('PRINCIPAL_NOT_FOUND', { principalId: id })
    if (principal.disabledAt !== null) {
      throw new ServiceError('PRINCIPAL_DISABLED', { principalId: id })
    }
    if (principal.tokenIssuedAt !== null) {
      throw new ServiceError('PRINCIPAL_OF_ISSUER', { principalId: id })
    }
    const now = app.clock.now()
    const text = newApiKey(tenantId)
    const key = {
      id: newId('key', now),
      principalId: id,
      name,
      createdAt: new Date(now),
      expiresAt: expiresInDays === undefined ? null : new Date(now + expiresInDays * dayMs),
    }
    await insertApiKey(transaction, tenantId, { ...key, keyHash: apiKeyHash(text) })
    const output = toKeyOutput({ ...key, revokedAt: null })
    return {
      output: { ...output, key: text },
      audit: [
        {
          action: 'key.created',
          entityKind: 'key',
          entityId: key.id,
          details: { principalId: id, name, expiresAt: output.expiresAt },
        },
      ],
    }
  },
})
