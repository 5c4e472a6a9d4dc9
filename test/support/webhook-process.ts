/**
 * Sends messages in a process of its own until it is killed:
 *
 *   webhook-process.ts URL HOST CLAIM_MS
 */
import { openContext } from '../../src/context.ts'
import { lookAfterWebhooks } from '../../src/operations/webhook-chore.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'

const [url = '', host = '', claimMs = ''] = process.argv.slice(2)

await using app = await openContext(
  { database: { url }, tenantId: 'default', logLevel: 'warn' },
  { tools: [], embedder: ngramEmbedder, webhooks: { allowHosts: [host] } },
)
process.stdout.write('at work\n')
await lookAfterWebhooks(app, new AbortController().signal, {
  pollMs: 20,
  claimMs: Number(claimMs),
})
