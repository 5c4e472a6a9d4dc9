import { z } from 'zod'
import { listProcedures as listRows } from '../db/queries/procedures.ts'
import { defineOperation } from './define.ts'
import { instant, nextCursor, page } from './shapes.ts'

/** A page of procedures, by key. */
export const listProcedures = defineOperation({
  name: 'listProcedures',
  summary: 'List procedures, by key',
  input: z.strictObject(page),
  output: z.object({
    items: z.array(
      z.object({
        procedureKey: z.string(),
        name: z.string(),
        category: z.string(),
        activeVersionNumber: z.int().nullable(),
        latestVersionNumber: z.int(),
        draftCount: z.int(),
        createdAt: instant,
      }),
    ),
    nextCursor,
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db }, { limit, cursor }) {
    const rows = await listRows(db.kysely, {
      limit: limit + 1,
      ...(cursor !== undefined && { after: cursor }),
    })
    const items = rows.slice(0, limit)
    return {
      items: items.map(({ id, key, createdAt, ...item }) => ({
        procedureKey: key,
        ...item,
        createdAt: createdAt.toISOString(),
      })),
      nextCursor: rows.length > limit ? (items.at(-1)?.key ?? null) : null,
    }
  },
})
