import { z } from 'zod'
import { listAuditEvents as listRows } from '../db/queries/audit-list.ts'
import { auditEventOutput, toAuditEventOutput } from './audit-event-output.ts'
import { defineOperation } from './define.ts'
import { instant, nextCursor, pageBy, procedureKey } from './shapes.ts'

/** A page of the audit log, newest first. */
export const listAuditEvents = defineOperation({
  name: 'listAuditEvents',
  summary: 'List what people and the service have done, newest first',
  input: z.strictObject({
    ...pageBy((text) => /^\d{1,15}$/.test(text)),
    from: instant.optional().describe('At or after'),
    to: instant.optional().describe('Before'),
    action: z.string().max(100).optional().describe('Only this action: version.activated'),
    entityKind: z.string().max(100).optional(),
    entityId: z.string().max(200).optional(),
    principal: z.string().max(200).optional().describe('Only acts of this principal, by its id'),
    procedureKey: procedureKey.optional(),
  }),
  output: z.object({ items: z.array(auditEventOutput), nextCursor }),
  errors: [],
  roles: ['admin', 'auditor'],
  async run({ db }, { limit, cursor, from, to, ...filter }) {
    const rows = await listRows(
      db.kysely,
      {
        ...filter,
        from: from === undefined ? undefined : new Date(from),
        to: to === undefined ? undefined : new Date(to),
      },
      { limit: limit + 1, before: cursor === undefined ? undefined : Number(cursor) },
    )
    const items = rows.slice(0, limit)
    return {
      items: items.map(toAuditEventOutput),
      nextCursor: rows.length > limit ? String(items.at(-1)?.seq) : null,
    }
  },
})
