/**
 * The server of the measurement, in a process of its own: `node server.js URL`. It writes a line of JSON with its address and a
 * key, works through what its standard input asks for without the door, and ends well on SIGTERM. `bare` is the database
 * work alone.
 */
import { createInterface } from 'node:readline'
import { openContext } from '../../src/context.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { activateVersion } from '../../src/operations/activate-version.ts'
import { createKey } from '../../src/operations/create-key.ts'
import { createPrincipal } from '../../src/operations/create-principal.ts'
import { createProcedure } from '../../src/operations/create-procedure.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { accountStanding } from '../executor/playbook.ts'
import { openRawB } from '../executor/raw-b.ts'
import { openBareReads } from './bare.ts'
import { type Load, measureLoad } from './load.ts'

const [url = ''] = process.argv.slice(2)
const principal: Principal = {
  id: 'bench',
  kind: 'service',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
}
const caller: Caller = { principal, origin: 'library' }
const poolSize = 20
const database = { url, poolSize }
const app = await openContext(
  { database, tenantId: 'default', logLevel: 'error' },
  { tools: [accountStanding.tool], embedder: ngramEmbedder },
)
const { procedureKey } = await createProcedure.invoke(app, caller, {
  definition: accountStanding.definition,
})
await activateVersion.invoke(app, caller, { procedureKey, versionNumber: 1, seenActive: null })
await createPrincipal.invoke(app, caller, {
  principalId: 'client',
  kind: 'service',
  roles: ['admin'],
})
const { key } = await createKey.invoke(app, caller, { principalId: 'client' })
const input = accountStanding.inputOf(1)
const { execution } = await operations.startExecution.invoke(app, caller, { procedureKey, input })

const door = await createHttpServer(app, { database })
const address = await door.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(
  `${JSON.stringify({ address, key, procedureKey, input, executionId: execution.id })}\n`,
)

process.on('SIGTERM', async () => {
  await door.close()
  await app[Symbol.asyncDispose]()
  process.exit(0)
})
interface Asked extends Load {
  readonly operation: keyof typeof operations
  readonly body: object
  readonly way: 'direct' | 'bare'
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { operation, body, way, ...load }: Asked = JSON.parse(line)
  const direct = async () => {
    await operations[operation].invoke(app, caller, body)
  }
  const measured =
    way === 'bare' ? await measureBare(operation, direct, load) : await measureLoad(load, direct)
  process.stdout.write(`${JSON.stringify(measured)}\n`)
})

/** A start is held against the hand-written SQL that every figure of the executor is a ratio to. */
async function measureBare(
  operation: keyof typeof operations,
  direct: () => Promise<void>,
  load: Load,
) {
  await using bare =
    operation === 'startExecution'
      ? openRawB(url, poolSize)
      : await openBareReads(url, poolSize, direct)
  return await measureLoad(load, bare.runOne)
}
