/**
 * Erases a customer in a process of its own, which kills itself with SIGKILL after the first batch:
 *
 *   erase-process.ts URL CUSTOMER
 */
import { openContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from './caller.ts'

const [url = '', customerId = ''] = process.argv.slice(2)

await using app = await openContext(
  { database: { url }, tenantId: 'default', logLevel: 'silent' },
  { tools: [], embedder: ngramEmbedder },
)
const caller = {
  ...callerOf('adam', ['admin']),
  onProgress: () => process.kill(process.pid, 'SIGKILL'),
}
await operations.eraseCustomer.invoke(app, caller, { customerId, reason: 'asked for' })
