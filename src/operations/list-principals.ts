import { z } from 'zod'
import { listPrincipals as listRows } from '../db/queries/principals.ts'
import { defineOperation } from './define.ts'
import { principalId, principalShape, toPrincipalOutput } from './principal-output.ts'
import { nextCursor, pageBy } from './shapes.ts'

/** A page of those who may act in the tenant, by id. */
export const listPrincipals = defineOperation({
  name: 'listPrincipals',
  summary: 'List who may act, by id',
  input: z.strictObject(pageBy((text) => principalId.safeParse(text).success)),
  output: z.object({ items: z.array(principalShape), nextCursor }),
  errors: [],
  roles: ['admin'],
  async run({ db }, { limit, cursor }) {
    const rows = await listRows(db.kysely, {
      limit: limit + 1,
      ...(cursor !== undefined && { after: cursor }),
    })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toPrincipalOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
