import { beforeAll, expect, it } from 'vitest'
import { connectStepwarden, followExecution, isServiceError } from '../../src/client/index.ts'
import { roles } from '../../src/domain/principal.ts'
import { openTestApp, seedDefinitions, seedProcedures } from '../support/app.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const { app } = await openTestApp()
const { url } = await openTestDoor(app)
let key = ''
const options = { url, key: () => key }
const client = connectStepwarden(options)

beforeAll(async () => {
  await seedProcedures(app)
  key = await keyFor(app, 'kim', roles)
})

it('resolves a ticket and follows it, typed', async () => {
  const ticket = { text: 'I was charged twice for TXN-DUP-002' }
  const { execution, reply, steps } = await client.resolveTicket({ ticket, idempotencyKey: 'one' })
  expect(execution?.outcome).toBe('resolved')
  const told: string[] = []
  for await (const { event, data } of followExecution(options, execution?.id ?? '')) {
    told.push(event)
    if (event === 'reply') expect(data.text).toBe(reply?.text)
  }
  expect(told.filter((event) => event === 'step')).toHaveLength(steps.length)
  expect(told.at(-1)).toBe('end')
  const { items } = await client.listExecutions({ limit: 1, status: 'completed' })
  expect(items.map(({ id }) => id)).toEqual([execution?.id])
})

it('edits a draft by its revision', async () => {
  const definition = { ...seedDefinitions().get('FAILED_PAYMENT_PLAYBOOK'), key: 'OF_A_CLIENT' }
  await client.createProcedure({ definition })
  const named = { procedureKey: 'OF_A_CLIENT', versionNumber: 1 }
  expect(await client.editDraft({ ...named, revision: 1, definition })).toMatchObject({
    revision: 2,
  })
  await expect(client.editDraft({ ...named, revision: 1, definition })).rejects.toMatchObject({
    code: 'DRAFT_STALE',
    details: { seen: 1, current: 2 },
  })
})

it('throws what the service throws', async () => {
  const missing = await client.getProcedure({ procedureKey: 'NOT_THERE' }).catch((error) => error)
  expect(isServiceError(missing, 'PROCEDURE_NOT_FOUND')).toBe(true)
  expect(missing.message).toContain('NOT_THERE')
  const strangers = connectStepwarden({ url, key: 'sw_default_nothing' })
  await expect(strangers.getStats({})).rejects.toMatchObject({ code: 'KEY_REFUSED' })
  const elsewhere = connectStepwarden({ url: `${url}/other`, key })
  await expect(elsewhere.getStats({})).rejects.toMatchObject({ code: 'ROUTE_NOT_FOUND' })
  const follow = followExecution(options, 'exec_000000000000000000000')
  await expect(follow.next()).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' })
})

it('names a run that it does not wait for, and has it under the same idempotency key', async () => {
  const hasty = connectStepwarden({ ...options, waitSeconds: 0 })
  const start = { ticket: { text: 'I was charged twice for TXN-DUP-002' }, idempotencyKey: 'hasty' }
  const left = await hasty.resolveTicket(start).catch((error) => error)
  expect(isServiceError(left, 'RUN_UNFINISHED')).toBe(true)
  const { executionId } = left.details
  expect(left.message).toContain(executionId)
  await expect
    .poll(async () => (await client.getExecution({ executionId })).reply, { timeout: 10_000 })
    .not.toBeNull()
  const again = await hasty.resolveTicket(start)
  expect(again.execution).toMatchObject({ id: executionId, outcome: 'resolved' })
})
