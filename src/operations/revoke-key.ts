import { z } from 'zod'
import { findApiKey, updateRevokedAt } from '../db/queries/principals.ts'
import { ServiceError } from '../domain/errors.ts'
import { type Id, isId } from '../domain/ids.ts'
import { defineAdministration } from './define.ts'
import { keepingAdmin } from './keep-admin.ts'
import { keyShape, toKeyOutput } from './principal-output.ts'

/** Takes a key back: the next call with it is refused. One that was taken back before stays as it was. */
export const revokeKey = defineAdministration({
  name: 'revokeKey',
  summary: 'Take a key back, at once and for ever',
  input: z.strictObject({
    keyId: z.custom<Id<'key'>>(
      (value) => typeof value === 'string' && isId('key', value),
      'must be the id of a key, key_… (not the key itself)',
    ),
  }),
  output: keyShape,
  errors: ['KEY_NOT_FOUND', 'PRINCIPAL_LAST_ADMIN'],
  roles: ['admin'],
  async change({ app }, transaction, { keyId }) {
    const known = await findApiKey(transaction, keyId)
    if (known === undefined) throw new ServiceError('KEY_NOT_FOUND', { keyId })
    const at = new Date(app.clock.now())
    const revoke = () => updateRevokedAt(transaction, keyId, at)
    const key = await keepingAdmin(transaction, known.principalId, at, revoke)
    if (key === undefined) throw new TypeError('a key is never deleted')
    return {
      output: toKeyOutput(key),
      audit: [
        {
          action: 'key.revoked',
          entityKind: 'key',
          entityId: keyId,
          details: { principalId: key.principalId, name: key.name },
        },
      ],
    }
  },
})
