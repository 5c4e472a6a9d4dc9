/**
 * Runs one ticket in a process of its own and kills it at a boundary:
 *
 *   crash-process.ts DATABASE TICKET STOP_AT
 *
 * DATABASE is a URL or a folder. The process kills itself with SIGKILL when it passes its boundary number STOP_AT, from
 * 1; it prints each boundary that it passes, and `done` at the end.
 */
import { writeSync } from 'node:fs'
import { openContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from './caller.ts'

const [database = '', text = '', stopAt = '0'] = process.argv.slice(2)
let passed = 0

await using app = await openContext(
  {
    database: database.startsWith('postgres') ? { url: database } : { dataDir: database },
    tenantId: 'default',
    logLevel: 'silent',
  },
  {
    embedder: ngramEmbedder,
    onBoundary(boundary, detail) {
      passed += 1
      writeSync(1, `${passed} ${boundary} ${detail}\n`)
      if (passed === Number(stopAt)) process.kill(process.pid, 'SIGKILL')
    },
  },
)
await operations.resolveTicket.invoke(app, callerOf(), { ticket: { text } })
writeSync(1, 'done\n')
