import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import { listVersionsById } from '../db/queries/versions.ts'
import { listWaitingSteps as listRows, type WaitingStep } from '../db/queries/waiting-steps.ts'
import { isId } from '../domain/ids.ts'
import type { JsonSchema } from '../domain/json.ts'
import { roles } from '../domain/principal.ts'
import { schemaText } from '../domain/schema-text.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'
import { walkSteps } from '../domain/step.ts'
import { defineOperation } from './define.ts'
import { dueOutput, overdueFilter, toDueOutput } from './due-output.ts'
import { noteRead } from './note-read.ts'
import { anyJson, executionId, nextCursor, pageBy, procedureKey } from './shapes.ts'
import { type SaidOutput, toExchangeOutput } from './step-output.ts'

/** The steps that wait for people: all of the tenant, or those that the caller is asked at. */
export const listWaitingSteps = defineOperation({
  name: 'listWaitingSteps',
  summary: 'List the steps that wait for somebody',
  input: z.strictObject({
    ...pageBy(isPlace),
    executionId: executionId.optional(),
    mine: z
      .boolean()
      .default(false)
      .describe(
        'Only those that ask one of your roles or groups, or the customer, without the approvals of what you have asked for yourself or have approved already',
      ),
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
        tool: z.string().nullable().describe('Of a write, the tool that would be called with it'),
        answer: z
          .custom<JsonSchema>()
          .nullable()
          .describe('Of an ask, the JSON Schema that the answer must fit'),
        answerText: z.string().nullable().describe('The same in words'),
        exchange: z
          .array(z.custom<SaidOutput>().meta({ type: 'object' }))
          .readonly()
          .describe('What was said so far'),
        since: z.string(),
        ...dueOutput,
      }),
    ),
    nextCursor,
  }),
  errors: [],
  roles,
  async run(context, { limit, cursor, mine, overdue, executionId: id }) {
    const { app, caller, db } = context
    const { principal } = caller
    const now = app.clock.now()
    const own = [...principal.roles, ...principal.groups.map((group) => `group:${group}`)]
    const forCustomer = principal.roles.includes('agent') || principal.roles.includes('admin')
    const rows = await listRows(db.kysely, {
      limit: limit + 1,
      after: cursor === undefined ? undefined : placeOf(cursor),
      executionId: id,
      ...(overdue && { overdueAt: new Date(now) }),
      ...(mine && { from: forCustomer ? [...own, 'customer'] : own, judge: principal }),
    })
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const answers = await listAnswers(db.kysely, shown)
    await noteRead(context, { action: 'waiting_steps.listed', entityKind: 'tenant' })
    return {
      items: shown.map((row, index) => {
        const {
          stepKey,
          input,
          startedAt,
          dueAt,
          dueWarnAt,
          ordinal: _,
          versionId: _id,
          ...rest
        } = row
        const answer = answers[index] ?? null
        return {
          ...rest,
          ...toDueOutput({ dueAt, dueWarnAt }, null, now),
          exchange: toExchangeOutput(row.exchange),
          step: stepKey,
          asks: withoutMarks(input),
          answer,
          answerText: answer === null ? null : schemaText(answer),
          since: startedAt.toISOString(),
        }
      }),
      nextCursor:
        rows.length > limit && last !== undefined ? `${last.executionId}:${last.ordinal}` : null,
    }
  },
})

/** For each step the schema of the answer that it asks for; undefined where it asks for none. */
async function listAnswers(
  db: Db,
  waiting: readonly WaitingStep[],
): Promise<readonly (JsonSchema | undefined)[]> {
  const asks = waiting.filter(({ kind }) => kind === 'ask')
  const versions = await listVersionsById(db, [...new Set(asks.map((row) => row.versionId))])
  const answers = new Map(
    versions.flatMap(({ id, definition }) =>
      Array.from(walkSteps(definition.steps), (step) => [
        `${id} ${step.key}`,
        'ask' in step ? step.answer : undefined,
      ]),
    ),
  )
  return waiting.map(({ versionId, stepKey }) => answers.get(`${versionId} ${stepKey}`))
}

/** A cursor is the last step of a page: `exec_…:3`. */
function isPlace(cursor: string): boolean {
  const { executionId: id, ordinal } = placeOf(cursor)
  return isId('execution', id) && cursor === `${id}:${ordinal}` && ordinal > 0 && ordinal < 1e9
}

function placeOf(cursor: string): { readonly executionId: string; readonly ordinal: number } {
  const [id = '', ordinal = ''] = cursor.split(':')
  return { executionId: id, ordinal: /^[1-9]\d*$/.test(ordinal) ? Number(ordinal) : 0 }
}
