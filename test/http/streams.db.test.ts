import { expect, it, onTestFinished, vi } from 'vitest'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const { app } = await openTestApp()
await seedProcedures(app)
const kim = await keyFor(app, 'kim', ['agent'])
const lee = await keyFor(app, 'lee', ['agent'])
const door = await openTestDoor(app, { streams: { all: 3, ofOne: 2 } })

/** Follows a run that nobody works on, until the test ends or `close`. */
async function follow(path: string, key: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const { status, body } = await fetch(`${door.url}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: leaving.signal,
  })
  const refusal = status === 200 ? undefined : await new Response(body).json()
  return { status, refusal, close: () => leaving.abort() }
}

it('nobody takes the event streams of all others, and whoever closes one may open another', async () => {
  const { body } = await door.call('POST /v1/executions', {
    key: kim,
    body: {
      procedureKey: 'DUPLICATE_CHARGE_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
      detach: true,
    },
  })
  const path = `/v1/executions/${body.execution.id}/events`
  const first = await follow(path, kim)
  const second = await follow(path, kim)

  const tooMany = await follow(path, kim)
  const ofAnother = await follow(path, lee)
  const beyondAll = await follow(path, lee)

  expect([first, second, ofAnother].map(({ status }) => status)).toEqual([200, 200, 200])
  expect(tooMany).toMatchObject({
    status: 503,
    refusal: { code: 'STREAMS_EXHAUSTED', details: { max: 2, own: 2 } },
  })
  expect(beyondAll).toMatchObject({ status: 503, refusal: { details: { max: 3 } } })

  first.close()
  await vi.waitFor(async () => expect((await follow(path, kim)).status).toBe(200), 5_000)
})
