import { z } from 'zod'
import { listEngagedSwitches } from '../db/queries/kill-switches.ts'
import { listProcedures as listRows } from '../db/queries/procedures.ts'
import { stoppedBy } from '../domain/kill-switch.ts'
import { defineOperation } from './define.ts'
import { instant, nextCursor, pageBy, procedureKey } from './shapes.ts'
import { stoppedOutput } from './stopped-output.ts'

/** A page of procedures, by key. */
export const listProcedures = defineOperation({
  name: 'listProcedures',
  summary: 'List procedures, by key',
  input: z.strictObject({
    ...pageBy((text) => procedureKey.safeParse(text).success),
    reviewDue: z
      .boolean()
      .default(false)
      .describe('Only those whose active version was to be looked at by now'),
  }),
  output: z.object({
    items: z.array(
      z.object({
        procedureKey: z.string(),
        name: z.string(),
        category: z.string(),
        activeVersionNumber: z.int().nullable(),
        latestVersionNumber: z.int(),
        draftCount: z.int(),
        stopped: stoppedOutput,
        reviewBy: instant.nullable().describe('Of the active version'),
        createdAt: instant,
      }),
    ),
    nextCursor,
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }, { limit, cursor, reviewDue }) {
    const rows = await listRows(db.kysely, {
      limit: limit + 1,
      ...(cursor !== undefined && { after: cursor }),
      ...(reviewDue && { reviewDueAt: new Date(app.clock.now()) }),
    })
    const items = rows.slice(0, limit)
    const engaged = await listEngagedSwitches(db.kysely)
    const stopped = new Map(
      engaged.flatMap((one) =>
        one.kind === 'procedure' ? [[one.name, stoppedBy(one)] as const] : [],
      ),
    )
    return {
      items: items.map(({ id, key, createdAt, reviewBy, ...item }) => ({
        procedureKey: key,
        ...item,
        stopped: stopped.get(key) ?? null,
        reviewBy: reviewBy?.toISOString() ?? null,
        createdAt: createdAt.toISOString(),
      })),
      nextCursor: rows.length > limit ? (items.at(-1)?.key ?? null) : null,
    }
  },
})
