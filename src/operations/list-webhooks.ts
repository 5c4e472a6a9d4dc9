import { z } from 'zod'
import { listWebhooks as listRows } from '../db/queries/webhooks.ts'
import { defineOperation } from './define.ts'
import { nextCursor, pageById } from './shapes.ts'
import { toWebhookOutput, webhookOutput } from './webhook-output.ts'

/** A page of the tenant's webhooks, oldest first. */
export const listWebhooks = defineOperation({
  name: 'listWebhooks',
  summary: 'List the services that are told of what happens, and how that goes',
  input: z.strictObject(pageById('webhook')),
  output: z.object({ items: z.array(webhookOutput), nextCursor }),
  errors: [],
  roles: ['admin'],
  async run({ db }, { limit, cursor }) {
    const rows = await listRows(db.kysely, { limit: limit + 1, after: cursor })
    const items = rows.slice(0, limit)
    return {
      items: items.map(toWebhookOutput),
      nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
    }
  },
})
