import { z } from 'zod'
import { listApiKeys } from '../db/queries/principals.ts'
import { defineOperation } from './define.ts'
import { keyShape, principalId, toKeyOutput } from './principal-output.ts'
import { nextCursor, pageById } from './shapes.ts'

/** A page of keys, newest first, without their texts. */
export const listKeys = defineOperation({
  name: 'listKeys',
  summary: 'List keys, newest first; their texts are kept nowhere',
  input: z.strictObject({ principalId: principalId.optional(), ...pageById('key') }),
  output: z.object({ items: z.array(keyShape), nextCursor }),
  errors: [],
  roles: ['admin'],
  async run({ db }, { principalId: id, limit, cursor }) {
    const rows = await listApiKeys(db.kysely, {
      limit: limit + 1,
      ...(cursor !== undefined && { before: cursor }),
      ...(id !== undefined && { principalId: id }),
    })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toKeyOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
