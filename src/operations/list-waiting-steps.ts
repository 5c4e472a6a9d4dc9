import { z } from 'zod'
import { listWaitingSteps as listRows } from '../db/queries/waiting-steps.ts'
import { ServiceError } from '../domain/errors.ts'
import { roles } from '../domain/principal.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'
import { defineOperation } from './define.ts'
import { dueOutput, overdueFilter, toDueOutput } from './due-output.ts'
import { anyJson, executionId, nextCursor, page, procedureKey } from './shapes.ts'
import { type SaidOutput, toExchangeOutput } from './step-output.ts'

/** The steps that wait for people: all of the tenant, or those that the caller is asked at. */
export const listWaitingSteps = defineOperation({
  name: 'listWaitingSteps',
  summary: 'List the steps that wait for somebody',
  input: z.strictObject({
    ...page,
    executionId: executionId.optional(),
    mine: z
      .boolean()
      .default(false)
      .describe('Only those that ask one of your roles or groups, or the customer'),
    overdue: overdueFilter,
  }),
  output: z.object({
    items: z.array(
      z.object({
        executionId: z.string(),
        step: z.string(),
        iteration: z.string(),
        kind: z.string().describe('ask, approval, or tool: a write of a guided run'),
        procedureKey,
        versionNumber: z.int(),
        customerId: z.string().nullable(),
        ticketId: z.string().nullable(),
        asks: anyJson.describe('From whom, what, and until when; of a write what would be sent'),
        exchange: z.array(z.custom<SaidOutput>()).readonly().describe('What was said so far'),
        since: z.string(),
        ...dueOutput,
      }),
    ),
    nextCursor,
  }),
  errors: [],
  roles,
  async run({ app, caller: { principal }, db }, { limit, cursor, mine, overdue, executionId: id }) {
    const now = app.clock.now()
    const own = [...principal.roles, ...principal.groups.map((group) => `group:${group}`)]
    const forCustomer = principal.roles.includes('agent') || principal.roles.includes('admin')
    const rows = await listRows(db.kysely, {
      limit: limit + 1,
      after: cursor === undefined ? undefined : placeOf(cursor),
      executionId: id,
      ...(overdue && { overdueAt: new Date(now) }),
      ...(mine && { from: forCustomer ? [...own, 'customer'] : own }),
    })
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    return {
      items: shown.map(({ stepKey, input, startedAt, dueAt, dueWarnAt, ordinal: _, ...row }) => ({
        ...row,
        ...toDueOutput({ dueAt, dueWarnAt }, null, now),
        exchange: toExchangeOutput(row.exchange),
        step: stepKey,
        asks: withoutMarks(input),
        since: startedAt.toISOString(),
      })),
      nextCursor:
        rows.length > limit && last !== undefined ? `${last.executionId}:${last.ordinal}` : null,
    }
  },
})

function placeOf(cursor: string): { readonly executionId: string; readonly ordinal: number } {
  const [id = '', ordinal = ''] = cursor.split(':')
  if (/^[1-9]\d{0,8}$/.test(ordinal)) return { executionId: id, ordinal: Number(ordinal) }
  const problems = [{ path: 'cursor', message: 'is none that a page has answered' }]
  throw new ServiceError('REQUEST_INVALID', { operation: 'listWaitingSteps', problems })
}
