import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AppContext, createContext } from '../../src/context.ts'
import { openDatabase } from '../../src/db/connect.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const writes: string[] = []
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'write',
  idempotent: true,
  input: z.object({}),
  output: z.object({ ok: z.boolean() }),
  run: async (_input, { executionId }) => {
    writes.push(executionId)
    return { ok: true }
  },
})
const tools = [pay]
const { app, db } = await openTestApp({ tools })
const caller = callerOf()

async function serve(procedureKey: string): Promise<void> {
  const steps = [{ key: 'pay', action: 'Pay', tool: 'pay' }]
  const definition = { key: procedureKey, name: 'Pay', description: 'Pays', steps, internal: true }
  await operations.createProcedure.invoke(app, caller, { definition })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
}

const start = (on: AppContext, procedureKey: string) =>
  operations.startExecution.invoke(on, caller, { procedureKey, detach: true })

it('of a start and a switch in the same moment, the start is refused or held', async () => {
  const other = await openDatabase(db.config)
  const writer = await createContext(
    other,
    { tenantId: 'default', logLevel: 'silent' },
    { tools, embedder: app.embedders.offline },
  )
  const seen = { refused: 0, held: 0 }
  try {
    for (let round = 0; round < 15; round += 1) {
      const procedureKey = `RACE_${round}`
      await serve(procedureKey)
      await start(writer, procedureKey)
      const wanted = { procedureKey, reason: 'A race.' }
      const starts = Array.from({ length: 12 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index))
        return start(writer, procedureKey)
      })
      const stopping = new Promise((resolve) => setTimeout(resolve, round % 8)).then(() =>
        operations.stopProcedure.invoke(app, caller, wanted),
      )

      const [stopped, ...results] = await Promise.allSettled([stopping, ...starts])

      expect(stopped.status).toBe('fulfilled')
      for (const result of results) {
        if (result.status === 'fulfilled') seen.held += 1
        else {
          expect(isServiceError(result.reason, 'PROCEDURE_STOPPED'), result.reason).toBe(true)
          seen.refused += 1
        }
      }
      const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey })
      expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['paused']))
    }
  } finally {
    await writer[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  }
  expect(seen.refused).toBeGreaterThan(0)
  expect(seen.held).toBeGreaterThan(0)
  expect(writes).toEqual([])
}, 60_000)

it('a start that is not committed yet is waited for, and held', async () => {
  const procedureKey = 'HALF_STARTED'
  await serve(procedureKey)
  const { execution } = await start(app, procedureKey)

  // As `execution` was started, once more, by a process that is slow to commit.
  const stopping = await db.asApp('default', async (client) => {
    await client.query('BEGIN')
    await client.query(
      `INSERT INTO executions (tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
         status, semantics_version, durability, mode, input, requester, tool_contracts, created_at, fence)
       SELECT tenant_id, 'exec_000000000000000000000', procedure_id, procedure_key, version_id, version_number,
         definition_hash, 'pending', semantics_version, durability, mode, input, requester, tool_contracts, created_at, 1
       FROM executions WHERE id = $1`,
      [execution.id],
    )
    const wanted = { procedureKey, reason: 'A race.' }
    const isStopping = operations.stopProcedure.invoke(app, caller, wanted)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await client.query('COMMIT')
    return isStopping
  })

  expect(stopping).toMatchObject({ heldCount: 2 })
  const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey })
  expect(items.map(({ status }) => status)).toEqual(['paused', 'paused'])
})

it('of two switches that are lifted and engaged at once, what both stop stays held', async () => {
  for (let round = 0; round < 8; round += 1) {
    const procedureKey = `BOTH_${round}`
    await serve(procedureKey)
    await start(app, procedureKey)
    const reason = 'A race.'
    await operations.stopProcedure.invoke(app, caller, { procedureKey, reason })

    await Promise.all([
      operations.allowProcedure.invoke(app, caller, { procedureKey }),
      operations.stopTool.invoke(app, caller, { tool: 'pay', reason }),
    ])

    const { items } = await operations.listExecutions.invoke(app, caller, { procedureKey })
    expect(items.map(({ status }) => status)).toEqual(['paused'])
    await operations.allowTool.invoke(app, caller, { tool: 'pay' })
    const after = await operations.listExecutions.invoke(app, caller, { procedureKey })
    expect(after.items.map(({ status }) => status)).toEqual(['running'])
  }
}, 60_000)
