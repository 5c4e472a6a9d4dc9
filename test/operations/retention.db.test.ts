import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listTenantsWithRetention } from '../../src/db/queries/erasures.ts'
import { expireRuns } from '../../src/operations/expire-runs.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import {
  createMarked,
  escalateMarked,
  findText,
  markedStart,
  openMarked,
  runMarked,
  triageMarked,
} from '../support/marked.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const db = await openTestDatabase()
let aheadMs = 0
const app = await openMarked(db, () => Date.now() + aheadMs)
afterAll(() => app[Symbol.asyncDispose]())
const { kysely } = db.database.forTenant('default')
const admin = callerOf('adam', ['admin'])
const auditor = callerOf('aud', ['auditor'])
const dayMs = 86_400_000
const erasedAtOf = async (executionId: string) =>
  (await operations.getExecution.invoke(app, auditor, { executionId })).execution.erasedAt

beforeAll(() => createMarked(app))

describe('how long values are kept', () => {
  it('is for ever, until an admin says otherwise, which is written down', async () => {
    expect(await operations.getRetention.invoke(app, admin, {})).toEqual({ days: null })
    expect(await listTenantsWithRetention(db.database)).toEqual([])

    await operations.setRetention.invoke(app, admin, { days: 30 })

    expect(await operations.getRetention.invoke(app, admin, {})).toEqual({ days: 30 })
    expect(await listTenantsWithRetention(db.database)).toEqual(['default'])
    const event = await kysely
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'retention.set')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(event.details)).toEqual({ before: null, days: 30 })
    for (const days of [0, 1.5, 36_501]) {
      await expect(operations.setRetention.invoke(app, admin, { days })).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
      })
    }
    await expect(operations.setRetention.invoke(app, auditor, { days: 1 })).rejects.toMatchObject({
      code: 'ROLE_MISSING',
    })
  })
})

describe('what is older', () => {
  it('is erased, and nothing else, and the log says how much', async () => {
    const old = [await runMarked(app, 'Old1'), ...(await escalateMarked(app, 'Old1'))]
    await triageMarked(app, 'Old1')
    const open = await operations.resolveTicket.invoke(app, callerOf(), {
      ...markedStart('Open1'),
      ticket: { text: 'Zebra quantum xylophone Open1' },
    })
    const waiting = await operations.startExecution.invoke(app, callerOf(), {
      ...markedStart('Waits1'),
      procedureKey: 'ESCALATES',
    })
    expect(await expireRuns(app, 'default')).toBe(0)
    aheadMs = 31 * dayMs
    const young = await runMarked(app, 'Young1')

    expect(await expireRuns(app, 'default')).toBe(4)

    expect(await findText(db, 'Old1')).toEqual([])
    for (const id of old) expect(await erasedAtOf(id)).not.toBeNull()
    expect(await erasedAtOf(young)).toBeNull()
    expect(await erasedAtOf(waiting.execution.id)).toBeNull()
    const item = await operations.getEscalation.invoke(app, auditor, {
      escalationId: open.triageId,
    })
    expect(item.escalation.ticket?.text).toContain('Open1')
    const event = await kysely
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'executions.expired')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(event.details)).toMatchObject({
      reason: 'older than 30 days',
      count: 3,
      executions: [...old].sort(),
    })
    expect(event).toMatchObject({ actor_id: 'stepwarden', actor_kind: 'service' })
    const verdict = await operations.verifyAudit.invoke(app, auditor, { replay: true })
    expect(verdict.problems).toEqual([])
    expect(verdict.counts.erased).toBe(3)
    expect(await expireRuns(app, 'default')).toBe(0)
  })
})
