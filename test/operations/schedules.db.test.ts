import { expect, it, vi } from 'vitest'
import { carryOutSchedules } from '../../src/operations/carry-out-schedules.ts'
import { operations } from '../../src/operations/registry.ts'
import { startWorking } from '../../src/operations/work.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const startedAt = Date.parse('2026-11-30T12:00:00Z')
const time = { now: startedAt }
const { app, db } = await openTestApp({ clock: { now: () => time.now } })
const caller = callerOf()
const { kysely } = db.database.forTenant('default')

let count = 0
async function draft(): Promise<string> {
  count += 1
  const procedureKey = `LATER_${count}`
  const steps = [{ key: 'known', action: 'Know', compute: { known: 'true' } }]
  const definition = { key: procedureKey, name: 'Later', description: 'Later', steps }
  await operations.createProcedure.invoke(app, caller, { definition })
  return procedureKey
}

const inMs = (ms: number) => new Date(time.now + ms).toISOString()
const schedule = (procedureKey: string, more: object = {}) =>
  operations.scheduleActivation.invoke(app, caller, {
    procedureKey,
    versionNumber: 1,
    at: inMs(60_000),
    seenActive: null,
    ...more,
  })
const statusOf = async (procedureKey: string) => {
  const { version } = await operations.getProcedure.invoke(app, caller, { procedureKey })
  return version.status
}
const listed = async (procedureKey: string) => {
  const { items } = await operations.listSchedules.invoke(app, caller, { procedureKey })
  return items
}
const edit = (procedureKey: string) => {
  const steps = [{ key: 'known', action: 'Know better', compute: { known: 'true' } }]
  const definition = { key: procedureKey, name: 'Later', description: 'Later', steps }
  const version = { procedureKey, versionNumber: 1, revision: 1 }
  return operations.editDraft.invoke(app, caller, { ...version, definition })
}

it('an activation is carried out when it is due, and not before', async () => {
  const key = await draft()

  const made = await schedule(key)

  expect(made).toMatchObject({
    procedureKey: key,
    versionNumber: 1,
    revision: 1,
    status: 'open',
    at: inMs(60_000),
    scheduledBy: 'ann',
  })
  time.now += 59_000
  await carryOutSchedules(app)
  expect(await statusOf(key)).toBe('draft')

  time.now += 1_000
  const told: object[] = []
  await carryOutSchedules(app, (carriedOut) => told.push(carriedOut))

  expect(told).toEqual([
    {
      ...{ scheduleId: made.scheduleId, procedureKey: key, versionNumber: 1 },
      end: { status: 'activated' },
    },
  ])
  expect(await statusOf(key)).toBe('active')
  expect(await listed(key)).toMatchObject([
    { scheduleId: made.scheduleId, status: 'activated', problem: null, endedAt: inMs(0) },
  ])
  const event = await kysely
    .selectFrom('audit_events')
    .select(['action', 'actor_id', 'origin', 'details'])
    .orderBy('seq', 'desc')
    .executeTakeFirst()
  expect(event).toMatchObject({ action: 'version.activated', actor_id: 'ann', origin: 'schedule' })
  expect(event?.details).toContain(made.scheduleId)
})

it('a worker carries it out', async () => {
  const key = await draft()
  await schedule(key)
  time.now += 60_000

  const working = startWorking(app, { pollMs: 10 })
  try {
    await vi.waitFor(async () => expect(await statusOf(key)).toBe('active'), 10_000)
  } finally {
    await working.stop()
  }
})

it('only a draft is scheduled, for a time to come, and once', async () => {
  const key = await draft()

  await expect(schedule(key, { at: inMs(0) })).rejects.toMatchObject({ code: 'SCHEDULE_IN_PAST' })
  const { scheduleId } = await schedule(key)
  await expect(schedule(key, { at: inMs(5_000) })).rejects.toMatchObject({
    code: 'SCHEDULE_EXISTS',
    details: { scheduleId },
  })

  await operations.activateVersion.invoke(app, caller, {
    procedureKey: key,
    versionNumber: 1,
    seenActive: null,
  })
  await expect(schedule(key)).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })
  await operations.cancelSchedule.invoke(app, caller, { scheduleId })
})

it.each([
  ['the draft was edited', edit, 'DRAFT_STALE'],
  [
    'another version serves',
    async (procedureKey: string) => {
      await operations.createVersion.invoke(app, caller, { procedureKey })
      const other = { procedureKey, versionNumber: 2, seenActive: null }
      await operations.activateVersion.invoke(app, caller, other)
    },
    'ACTIVATION_STALE',
  ],
])('is refused when %s meanwhile, and says so', async (_name, change, code) => {
  const key = await draft()
  const { scheduleId } = await schedule(key)
  await change(key)
  time.now += 60_000

  await carryOutSchedules(app)
  await carryOutSchedules(app)

  const items = await listed(key)
  expect(items).toMatchObject([{ scheduleId, status: 'refused', problem: { code } }])
  expect(items[0]?.problem?.message).toContain(key)
  const events = await kysely
    .selectFrom('audit_events')
    .select(['action', 'origin'])
    .where('action', '=', 'activation.refused')
    .where('details', 'like', `%${scheduleId}%`)
    .execute()
  expect(events).toEqual([{ action: 'activation.refused', origin: 'schedule' }])
})

it('is refused when whoever scheduled it may no longer decide what serves', async () => {
  for (const [principalId, change] of [
    ['sam', { roles: ['agent' as const] }],
    ['kim', { disabled: true }],
  ] as const) {
    const key = await draft()
    const somebody = { principalId, roles: ['approver' as const] }
    await operations.createPrincipal.invoke(app, caller, somebody)
    await operations.scheduleActivation.invoke(app, callerOf(principalId, ['approver']), {
      procedureKey: key,
      versionNumber: 1,
      at: inMs(60_000),
      seenActive: null,
    })
    await operations.changePrincipal.invoke(app, caller, { principalId, ...change })
    time.now += 60_000

    await carryOutSchedules(app)

    expect(await statusOf(key)).toBe('draft')
    expect(await listed(key)).toMatchObject([
      { status: 'refused', problem: { code: 'ROLE_MISSING' } },
    ])
  }
})

it('can be cancelled while it is open, and then never happens', async () => {
  const key = await draft()
  const { scheduleId } = await schedule(key)

  const cancelled = await operations.cancelSchedule.invoke(app, callerOf('bea'), { scheduleId })

  expect(cancelled).toMatchObject({ status: 'cancelled', cancelledBy: 'bea' })
  time.now += 60_000
  await carryOutSchedules(app)
  expect(await statusOf(key)).toBe('draft')
  await expect(operations.cancelSchedule.invoke(app, caller, { scheduleId })).rejects.toMatchObject(
    { code: 'SCHEDULE_ENDED', details: { status: 'cancelled' } },
  )
  const nobody = `sch_${'0'.repeat(21)}`
  await expect(
    operations.cancelSchedule.invoke(app, caller, { scheduleId: nobody }),
  ).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
})

it('goes with its draft', async () => {
  const key = await draft()
  await schedule(key)

  await operations.deleteDraft.invoke(app, caller, { procedureKey: key, versionNumber: 1 })

  expect(await listed(key)).toEqual([])
})

it('is the act of one process, however many look', async () => {
  const key = await draft()
  await schedule(key)
  time.now += 60_000

  await Promise.all([carryOutSchedules(app), carryOutSchedules(app), carryOutSchedules(app)])

  const { activations } = await operations.getProcedure.invoke(app, caller, { procedureKey: key })
  expect(activations).toHaveLength(1)
  expect(await listed(key)).toMatchObject([{ status: 'activated' }])
})

it('needs a role that approves; whoever reads procedures sees it', async () => {
  const key = await draft()
  const { scheduleId } = await schedule(key)

  for (const role of ['agent', 'author', 'auditor'] as const) {
    const other = callerOf('eve', [role])
    const request = { procedureKey: key, versionNumber: 1, at: inMs(1_000), seenActive: null }
    for (const attempt of [
      operations.scheduleActivation.invoke(app, other, request),
      operations.cancelSchedule.invoke(app, other, { scheduleId }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'ROLE_MISSING' })
    }
    const { items } = await operations.listSchedules.invoke(app, other, { procedureKey: key })
    expect(items).toHaveLength(1)
  }
  await operations.cancelSchedule.invoke(app, caller, { scheduleId })
})
