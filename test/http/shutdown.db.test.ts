import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

vi.setConfig({ testTimeout: 60_000 })

const look = defineTool({
  name: 'look',
  description: 'Looks an account up',
  effect: 'read',
  input: z.object({}),
  output: z.object({}),
  run: async () => {
    await wait(5)
    return {}
  },
})
const { app, db } = await openTestApp({ tools: [look] })
const root = callerOf()

it('loses no request that it has accepted, when it closes under load', async () => {
  const definition = {
    key: 'LOOK_PLAYBOOK',
    name: 'Look',
    description: 'Looks, three times.',
    issuePatterns: ['look at my account'],
    steps: ['one', 'two', 'three'].map((step) => ({ key: step, action: 'Look', tool: 'look' })),
  }
  await operations.createProcedure.invoke(app, root, { definition })
  const serving = { procedureKey: 'LOOK_PLAYBOOK', versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, root, serving)
  const key = await keyFor(app, 'kim', ['agent'])
  const { door, call } = await openTestDoor(app)
  const answered: string[] = []
  const statuses = new Set<number>()
  let isRefused = 0

  /** Posts starts, one after the other, until the door takes no more. */
  async function client(number: number): Promise<void> {
    for (let count = 0; ; count += 1) {
      const headers = {
        'idempotency-key': `${number}/${count}`,
        // Some wait for the end, and others do not.
        prefer: count % 2 === 0 ? 'wait=30' : 'respond-async',
      }
      try {
        const body = { procedureKey: 'LOOK_PLAYBOOK' }
        const { status, body: answer } = await call('POST /v1/executions', { key, body, headers })
        statuses.add(status)
        if (status !== 201 && status !== 202) return
        answered.push(answer.executionId ?? answer.execution.id)
      } catch {
        isRefused += 1
        return
      }
    }
  }

  const clients = Array.from({ length: 50 }, (_, number) => client(number))
  await vi.waitFor(() => expect(answered.length).toBeGreaterThan(100), { timeout: 30_000 })
  await door.close()
  await Promise.all(clients)

  // Once closed it took nothing more; before, each was answered in full or told that the door is closing.
  await expect(call('GET /healthz')).rejects.toThrow()
  expect(isRefused).toBeGreaterThan(0)
  expect([...statuses].filter((status) => ![201, 202, 503].includes(status))).toEqual([])
  expect(new Set(answered).size).toBe(answered.length)
  // What was given back in the middle is carried on, as another process would.
  const working = startWorking(app)
  await working.untilIdle()
  await working.stop()
  const rows = await db.database
    .forTenant('default')
    .kysely.selectFrom('executions')
    .select(['id', 'status', 'outcome'])
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const id of answered) {
    expect(byId.get(id)).toMatchObject({ status: 'completed', outcome: 'resolved' })
  }
  // Also of those that were stored and whose answer was lost, none is left hanging.
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([])
})
