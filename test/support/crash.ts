import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'
import type { DatabaseConfig } from '../../src/config/config.ts'
import { type AppContext, openContext } from '../../src/context.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from './caller.ts'

export const duplicateTicket = 'I was charged twice for TXN-DUP-002'

/** Runs the ticket in a process that kills itself at a boundary, and answers what it had passed by then. */
export async function crashAt(database: string, stopAt: number): Promise<readonly string[]> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'test/support/crash-process.ts', database, duplicateTicket, String(stopAt)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  await once(child, 'close')
  const lines = output.trim().split('\n')
  const isDone = lines.at(-1) === 'done'
  // Either the boundary was reached and the process is gone, or the run came to its end before.
  if (child.signalCode !== 'SIGKILL' && !isDone) throw new Error(`the process failed: ${errors}`)
  return lines
}

/** Opens the database as the next command does, and checks that nothing was lost and nothing done twice. */
export async function expectWhole(database: DatabaseConfig, wasStarted: boolean): Promise<void> {
  await using app = await openContext(
    { database, tenantId: 'default', logLevel: 'silent' },
    { embedder: ngramEmbedder },
  )
  await carryOnAll(app)
  const done = wasStarted ? 1 : 0

  const runs = await operations.listExecutions.invoke(app, callerOf(), {})
  expect(runs.items.map(({ status, outcome }) => [status, outcome])).toEqual(
    Array(done).fill(['completed', 'resolved']),
  )
  expect(await deskCounts(app)).toEqual({ refunds: done, messages: done })
  for (const { id } of runs.items) {
    const proof = await operations.replayExecution.invoke(app, callerOf(), { executionId: id })
    expect(proof).toMatchObject({ agrees: true, divergence: null })
    const run = await operations.getExecution.invoke(app, callerOf(), { executionId: id })
    expect(run.reply?.text).toContain('TXN-DUP-002')
  }

  await operations.resolveTicket.invoke(app, callerOf(), { ticket: { text: duplicateTicket } })
  expect(await deskCounts(app)).toEqual({ refunds: 1, messages: done + 1 })
}

async function deskCounts(app: AppContext): Promise<{ refunds: number; messages: number }> {
  const { kysely } = app.database.forTenant('default')
  const refunds = await kysely.selectFrom('desk_refunds').select('id').execute()
  const messages = await kysely.selectFrom('desk_messages').select('id').execute()
  return { refunds: refunds.length, messages: messages.length }
}
