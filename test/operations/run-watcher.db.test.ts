import { getEventListeners } from 'node:events'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { createRunWatcher } from '../../src/operations/run-watcher.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'
import { readEvents } from '../support/sse.ts'
import { watchStatements } from '../support/statements.ts'

const { app, db } = await openTestApp()
const door = await openTestDoor(app)
const ann = callerOf('ann')
const keys = { default: '', other: '' }

beforeAll(async () => {
  await db.addTenant('other')
  for (const tenantId of ['default', 'other'] as const) {
    await seedProcedures(app, callerOf('ann', undefined, tenantId))
    keys[tenantId] = await keyFor(app, 'kim', ['agent'], { tenantId })
  }
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** A run that nobody works on. */
async function start(tenantId: 'default' | 'other'): Promise<string> {
  const { execution } = await operations.startExecution.invoke(
    app,
    callerOf('ann', undefined, tenantId),
    {
      procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
      detach: true,
    },
  )
  return execution.id
}

it('asks once for all streams of a process, whatever runs and tenants they are of', async () => {
  const runs = [
    { id: await start('default'), key: keys.default },
    { id: await start('default'), key: keys.default },
    { id: await start('other'), key: keys.other },
  ]
  const seen: string[] = []
  const leaving = new AbortController()
  const streams = runs.flatMap(({ id, key }) =>
    [1, 2, 3, 4].map((n) =>
      readEvents(`${door.url}/v1/executions/${id}/events`, {
        key,
        signal: leaving.signal,
        onEvent: ({ event, data }) => {
          seen.push(`${id} ${n} ${event} ${data.status ?? ''}`)
        },
      }).catch(() => undefined),
    ),
  )
  await vi.waitFor(() => expect(seen).toHaveLength(12), 20_000)
  const looksIn = (sent: ReturnType<typeof watchStatements>) =>
    sent().filter(({ text }) => text.includes('changed_executions('))
  // The first look finds what may have happened while the streams began, and they read once more.
  const beginning = watchStatements()
  await vi.waitFor(() => expect(looksIn(beginning).length).toBeGreaterThan(2), 20_000)
  vi.restoreAllMocks()
  const statements = watchStatements()
  const looks = () => looksIn(statements)
  await vi.waitFor(() => expect(looks().length).toBeGreaterThan(3), 20_000)
  const idle = statements()

  // Nothing of a run, and nobody's key, is read for that.
  const others = idle.filter(({ text }) => /from "|from step_|FROM step_/.test(text))
  expect(others).toEqual([])
  for (const { values } of looks()) expect(values[1].length).toBeLessThanOrEqual(3)
  expect(new Set(looks().flatMap(({ values }) => values[1])).size).toBe(3)

  vi.restoreAllMocks()
  const [first] = runs
  const after = watchStatements()
  await operations.cancelExecution.invoke(app, ann, { executionId: first?.id })
  await vi.waitFor(
    () => expect(seen.filter((line) => line.endsWith(' end '))).toHaveLength(4),
    20_000,
  )

  // The four that have one key have had it read once, or twice where the reply came after the end.
  const reads = after().filter(({ text }) => /from "step_executions".*order by/s.test(text))
  expect(reads.length).toBeLessThanOrEqual(4)
  expect(new Set(seen.map((line) => line.split(' ')[0])).size).toBe(3)
  leaving.abort()
  await Promise.all(streams)
})

it('a stream that comes to a run that others follow misses nothing that happens meanwhile', async () => {
  const watcher = createRunWatcher<number>(app)
  const id = await start('default')
  const { signal } = new AbortController()
  const early = watcher.watch('default', id)
  await early.after(early.turn, 20_000, signal)

  const late = watcher.watch('default', id)
  const { turn } = late
  await operations.cancelExecution.invoke(app, ann, { executionId: id })
  await late.after(turn, 20_000, signal)

  expect(late.turn).toBeGreaterThan(turn)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  early.close()
  late.close()
  await watcher.close()
})

it('what is read at once for one credential is read once, and by nobody with another', async () => {
  const watcher = createRunWatcher<number>(app)
  const watched = watcher.watch('default', await start('default'))
  const read = vi.fn(async () => 1)

  await Promise.all([watched.read('a', read), watched.read('a', read), watched.read('b', read)])
  await watched.read('a', read)

  expect(read).toHaveBeenCalledTimes(3)
  watched.close()
  await watcher.close()
})

it('nobody waits for one who has gone', async () => {
  const watcher = createRunWatcher<number>(app)
  const watched = watcher.watch('default', await start('default'))
  const leaving = new AbortController()
  leaving.abort()

  await watched.after(1_000, 3_600_000, leaving.signal)

  expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
  watched.close()
  await watcher.close()
})
