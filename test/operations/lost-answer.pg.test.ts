import { createServer, connect as dial, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { openContext } from '../../src/context.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp()
await seedProcedures(app)
const caller = callerOf()
const server = new URL('url' in db.config ? db.config.url : '')

/** Which half of sending the next insert of an execution is lost, with its connection. */
let loses: 'statement' | 'answer' | undefined

/** Stands between the service and the server, as a network does, and cuts a connection at the insert. */
const network = createServer((client) => {
  const upstream = dial(Number(server.port), server.hostname)
  let isCut = false
  let answer = ''
  const cut = () => {
    client.destroy()
    upstream.destroy()
  }
  client.on('data', (sent) => {
    if (loses !== undefined && sent.includes('execution_insert')) {
      isCut = true
      if (loses === 'statement') return cut()
      loses = undefined
    }
    upstream.write(sent)
  })
  upstream.on('data', (received) => {
    if (!isCut) return client.write(received)
    answer += received.toString('latin1')
    // The server has committed it by then.
    return answer.includes('INSERT 0 1') ? cut() : undefined
  })
  for (const socket of [client, upstream] satisfies Socket[]) {
    socket.on('error', cut)
    socket.on('close', cut)
  }
})
await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise<void>((resolve) => network.close(() => resolve())))

async function openThroughNetwork() {
  const address = network.address()
  const url = new URL(server)
  url.hostname = '127.0.0.1'
  url.port = String(typeof address === 'object' ? address?.port : '')
  return openContext(
    { database: { url: url.href }, tenantId: 'default', logLevel: 'silent' },
    { embedder: ngramEmbedder },
  )
}

const request = {
  procedureKey: 'FAILED_PAYMENT_PLAYBOOK',
  input: { transactionId: 'TXN-DEMO-001' },
}
const listRuns = async () => (await operations.listExecutions.invoke(app, caller, {})).items

it('a start that never reached the server leaves nothing behind', async () => {
  await using own = await openThroughNetwork()
  loses = 'statement'
  await expect(operations.startExecution.invoke(own, caller, request)).rejects.toThrow()
  loses = undefined

  expect(await carryOnAll(own)).toEqual([])

  expect(await listRuns()).toEqual([])
})

it('a start whose answer was lost is carried on by the process that does not know of it', async () => {
  await using own = await openThroughNetwork()
  loses = 'answer'
  await expect(operations.startExecution.invoke(own, caller, request)).rejects.toThrow()
  const [stored] = await listRuns()
  expect(stored).toMatchObject({ status: 'running' })
  // Its worker lives, so nobody else may take it.
  expect(await carryOnAll(app)).toEqual([])

  // Only what two looks have found is given back, as a claim may be under way.
  await expect.poll(() => carryOnAll(own), { timeout: 10_000 }).toEqual([stored?.id])

  expect(await listRuns()).toMatchObject([{ id: stored?.id, outcome: 'resolved' }])
  const proof = await operations.replayExecution.invoke(app, caller, {
    executionId: stored?.id ?? '',
  })
  expect(proof.agrees).toBe(true)
})
