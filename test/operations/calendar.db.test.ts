import { describe, expect, it } from 'vitest'
import { carryOnById } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

/** A Friday, in the morning. */
const friday = Date.UTC(2026, 11, 18, 8, 30)
let now = friday
const { app, db } = await openTestApp({ tools: [], clock: { now: () => now } })
const admin = callerOf()
const set = (calendar: unknown) => operations.setCalendar.invoke(app, admin, { calendar })
const get = () => operations.getCalendar.invoke(app, callerOf('ann', ['agent']), {})

describe('the calendar of a tenant', () => {
  it('is Monday to Friday until somebody sets it, and is kept in order', async () => {
    expect(await get()).toEqual({
      calendar: { weekdays: [1, 2, 3, 4, 5], holidays: [] },
      isDefault: true,
    })

    await set({ weekdays: [6, 1, 2], holidays: ['2027-01-01', '2026-12-25'] })

    expect(await get()).toEqual({
      calendar: { weekdays: [1, 2, 6], holidays: ['2026-12-25', '2027-01-01'] },
      isDefault: false,
    })
  })

  it('wakes a run after ten working days over a holiday, whatever is set meanwhile', async () => {
    const holidays = ['2026-12-24', '2026-12-25', '2027-01-01']
    await set({ weekdays: [1, 2, 3, 4, 5], holidays })
    const steps = [{ key: 'rest', action: 'Rest', wait: { for: '10 workdays' } }]
    await operations.createProcedure.invoke(app, admin, {
      definition: { key: 'RESTS', name: 'Rests', description: 'Rests', issuePatterns: [], steps },
    })
    const version = { procedureKey: 'RESTS', versionNumber: 1, seenActive: null }
    await operations.activateVersion.invoke(app, admin, version)

    const started = await operations.startExecution.invoke(app, admin, { procedureKey: 'RESTS' })
    const { id: executionId } = started.execution
    await set({ weekdays: [1], holidays: [] })
    const wake = async (at: number) => {
      now = at
      await carryOnById(app, db.database.forTenant('default'), executionId as never)
      return (await operations.getExecution.invoke(app, admin, { executionId })).execution.status
    }

    // Three days off besides two weekends: Wednesday the 6th, at the time of day that it began.
    const due = Date.UTC(2027, 0, 6, 8, 30)
    expect(started.execution.wakeAt).toBe(new Date(due).toISOString())
    expect(await wake(due - 60_000)).toBe('waiting')
    expect(await wake(due)).toBe('completed')
  })

  it('tells all that is wrong with one at once, and changes nothing then', async () => {
    const before = await get()

    const refused = set({
      weekdays: [0, 8, 1, 1],
      holidays: ['2026-02-30', 'Christmas', 20261225],
      zone: 'Europe/Berlin',
    })

    await expect(refused).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: {
        problems: expect.arrayContaining([
          expect.objectContaining({ path: 'calendar.weekdays[0]' }),
          expect.objectContaining({ path: 'calendar.weekdays[1]' }),
          expect.objectContaining({ path: 'calendar.holidays[0]' }),
          expect.objectContaining({ path: 'calendar.holidays[1]' }),
          expect.objectContaining({ path: 'calendar.holidays[2]' }),
          expect.objectContaining({ path: 'calendar.zone' }),
        ]),
      },
    })
    await expect(set({ weekdays: [] })).rejects.toThrow('at least one working day')
    await expect(set({ weekdays: [1, 1] })).rejects.toThrow('must not name a day twice')
    expect(await get()).toEqual(before)
  })

  it('has working days enough for the longest duration', async () => {
    const mondays = Array.from({ length: 300 }, (_, week) =>
      new Date(Date.UTC(2027, 0, 4) + week * 7 * 86_400_000).toISOString().slice(0, 10),
    )

    await expect(set({ weekdays: [1], holidays: mondays })).rejects.toThrow('so many holidays')
    await set({ weekdays: [1], holidays: mondays.slice(0, 150) })
  })

  it('is set by an admin alone, and written to the audit log', async () => {
    const agent = callerOf('ann', ['agent', 'author', 'approver', 'auditor'])
    const calendar = { weekdays: [2] }

    await expect(operations.setCalendar.invoke(app, agent, { calendar })).rejects.toMatchObject({
      code: 'ROLE_MISSING',
    })
    await set(calendar)

    const event = await db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(event).toMatchObject({ action: 'calendar.set', entity_id: 'default' })
    expect(JSON.parse(event.details)).toEqual({ weekdays: [2], holidays: [] })
    expect(event.before_hash).not.toBe(event.after_hash)
  })
})
