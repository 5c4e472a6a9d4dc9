import { z } from 'zod'
import type { Reason } from '../domain/escalation.ts'
import type { Id, IdKind } from '../domain/ids.ts'
import { isId } from '../domain/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'

/** Shapes that several operations share. Instants go out as RFC 3339 in UTC. */

export const procedureKey = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{1,63}$/, 'must be a procedure key such as FAILED_PAYMENT_PLAYBOOK')
  .describe('The stable key of a procedure')

export const versionNumber = z.int().min(1).describe('The number of a version, from 1')

export const toolName = z.string().min(1).max(64).describe('The name of a tool')

export const instant = z.iso.datetime()

export const executionId = idOf('execution', 'exec_…')
export const escalationId = idOf('escalation', 'esc_…')
export const backtestId = idOf('backtest', 'bkt_…')

export const scheduleId = idOf('schedule', 'sch_…')
export const webhookId = idOf('webhook', 'whk_…')
export const deliveryId = idOf('delivery', 'dlv_…')
export const experienceId = idOf('experience', 'exp_…')
export const lessonId = idOf('lesson', 'les_…')
export const showingId = idOf('showing', 'shw_…')
export const proposalId = idOf('proposal', 'prp_…')
export const versionId = idOf('version', 'ver_…')

export const acknowledge = z
  .array(z.string().min(1).max(200))
  .max(1_000)
  .default([])
  .describe('Ids of routing findings that are accepted as they are')

/** Which step of which execution is spoken to. */
export const waitRef = {
  executionId,
  step: z.string().min(1).max(64).describe('The key of the step that waits'),
  iteration: z
    .string()
    .max(100)
    .default('')
    .describe('Its round in a loop, as the record shows it; empty outside loops'),
}

export const detach = z
  .boolean()
  .default(false)
  .describe('Leave it to a worker: the answer comes before anything of it is done')

/** Any value of a record. */
export const anyJson = z.custom<Json>()

export const jsonObject = z
  .custom<JsonObject>(isJsonObject, 'must be a JSON object')
  .meta({ type: 'object' })

export const ticket = z
  .strictObject({
    text: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(1_000_000, 'must have at most 1,000,000 characters'),
    id: z.string().max(200).optional(),
    requester: z.string().max(200).optional(),
    channel: z.string().max(200).optional(),
    language: z.string().max(35).optional(),
    createdAt: instant.optional(),
    tags: z.array(z.string().max(200)).max(100).optional(),
  })
  .describe("The customer's message, and what the caller knows of it")

/** A page of a list: `limit` items, and the cursor of the page before. */
const page = {
  limit: z.int().min(1).max(200).default(50).describe('How many to answer, 1 to 200'),
  cursor: z.string().max(200).optional().describe('`nextCursor` of the page before'),
}

/**
 * A page of a list whose cursors have the form that `isPlace` tells. Any other is refused: an empty page would say that
 * nothing more is there.
 */
export function pageBy(isPlace: (text: string) => boolean) {
  const cursor = page.cursor.refine(
    (text) => text === undefined || isPlace(text),
    'is none that a page has answered',
  )
  return { ...page, cursor }
}

/** A page of a list that goes by the ids of one kind. */
export function pageById(kind: IdKind) {
  return pageBy((text) => isId(kind, text))
}

export const nextCursor = z
  .string()
  .nullable()
  .describe('Give it as `cursor` for the next page; null: none')

/** Why a run ended as it did, as `Reason` of src/domain/escalation.ts; null when it resolved. */
export const reason = z.custom<Reason | null>().meta({
  type: ['object', 'null'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    stepKey: { type: 'string' },
  },
  required: ['code', 'message'],
})

function idOf<
  K extends
    | 'execution'
    | 'escalation'
    | 'backtest'
    | 'schedule'
    | 'webhook'
    | 'delivery'
    | 'experience'
    | 'lesson'
    | 'showing'
    | 'proposal'
    | 'version',
>(kind: K, example: string): z.ZodType<Id<K>> {
  return z
    .custom<Id<K>>(
      (value) => typeof value === 'string' && isId(kind, value),
      `must be the id of ${kind.startsWith('e') ? 'an' : 'a'} ${kind}, ${example}`,
    )
    .meta({
      type: 'string',
      description: `The id of ${kind.startsWith('e') ? 'an' : 'a'} ${kind}, ${example}`,
    })
}
