import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const hourMs = 3_600_000
/** A Thursday. */
let now = Date.UTC(2026, 11, 24, 9)
const { app } = await openTestApp({ tools: [], clock: { now: () => now } })
const admin = callerOf()

let count = 0
async function start(due: object | undefined, more: object = {}, step?: object) {
  count += 1
  const key = `DUE_${count}`
  const ask = { ask: 'agent', message: 'Well?', answer: { type: 'string' }, deadline: '30d' }
  const steps = [{ key: 'ask', action: 'Ask', ...(step ?? ask) }]
  await operations.createProcedure.invoke(app, admin, {
    definition: { key, name: key, description: key, issuePatterns: [], steps, due },
  })
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, admin, version)
  const { execution } = await operations.startExecution.invoke(app, admin, {
    procedureKey: key,
    ...more,
  })
  return execution
}
const get = async (executionId: string) =>
  (await operations.getExecution.invoke(app, admin, { executionId })).execution
const overdueIds = async () =>
  (await operations.listExecutions.invoke(app, admin, { overdue: true })).items.map(({ id }) => id)
const isoAt = (at: number) => new Date(at).toISOString()

describe('when a case is due', () => {
  it('is counted from its start, waiting included, and flags it soon and late', async () => {
    const startedAt = now
    const { id, ...started } = await start({ after: '2d', warn: '1d' })
    expect(started).toMatchObject({
      dueAt: isoAt(startedAt + 48 * hourMs),
      dueSoon: false,
      overdue: false,
    })

    now = startedAt + 24 * hourMs
    expect(await get(id)).toMatchObject({ status: 'waiting', dueSoon: true, overdue: false })
    expect(await overdueIds()).not.toContain(id)

    now = startedAt + 48 * hourMs + 1
    expect(await get(id)).toMatchObject({ status: 'waiting', dueSoon: false, overdue: true })
    expect(await overdueIds()).toContain(id)
    const query = { executionId: id, overdue: true }
    const waiting = await operations.listWaitingSteps.invoke(app, admin, query)
    expect(waiting.items).toMatchObject([{ step: 'ask', overdue: true }])
  })

  it('is late for ever where it was done late, and in time where it was done in time', async () => {
    const late = await start({ after: '1h' })
    const early = await start({ after: '1h' })
    const answer = { step: 'ask', answer: 'well' }
    await operations.answerStep.invoke(app, admin, { executionId: early.id, ...answer })
    now += 2 * hourMs
    await operations.answerStep.invoke(app, admin, { executionId: late.id, ...answer })
    now += 2 * hourMs

    expect(await get(late.id)).toMatchObject({ status: 'completed', overdue: true })
    expect(await get(early.id)).toMatchObject({ overdue: false, dueSoon: false })
    expect(await overdueIds()).toContain(late.id)
    expect(await overdueIds()).not.toContain(early.id)
  })

  it('is counted from the ticket where the playbook says so, else from the start', async () => {
    const from = 'has(ticket.createdAt) ? ticket.createdAt : execution.startedAt'
    const createdAt = isoAt(now - 5 * hourMs)

    const dated = await start({ after: '6h', from }, { ticket: { text: 'Hi', createdAt } })
    const undated = await start({ after: '6h', from }, { ticket: { text: 'Hi' } })
    const nonsense = await start({ after: '6h', from: '"soon"' })
    const none = await start(undefined)

    expect(dated.dueAt).toBe(isoAt(now + hourMs))
    expect(undated.dueAt).toBe(isoAt(now + 6 * hourMs))
    expect(nonsense.dueAt).toBe(isoAt(now + 6 * hourMs))
    expect(none).toMatchObject({ dueAt: null, dueSoon: false, overdue: false })
  })

  it('goes on with a person who has taken the case over, until they have resolved it', async () => {
    const { id: executionId } = await start({ after: '1h' }, {}, { end: 'escalated' })
    const ofRun = async () => {
      const { items } = await operations.listEscalations.invoke(app, admin, {})
      return items.find((one) => one.executionId === executionId)
    }
    expect(await ofRun()).toMatchObject({ overdue: false })

    now += 2 * hourMs
    const late = await ofRun()
    const { items } = await operations.listEscalations.invoke(app, admin, { overdue: true })
    const escalationId = late?.id ?? ''
    const shown = await operations.getEscalation.invoke(app, admin, { escalationId })

    expect(late).toMatchObject({ overdue: true })
    expect(items.map(({ id }) => id)).toContain(escalationId)
    expect(shown).toMatchObject({
      escalation: { overdue: true },
      run: { execution: { status: 'escalated', overdue: false } },
    })
  })

  it('is counted in the working days that the run was started with', async () => {
    const calendar = { weekdays: [1, 2, 3, 4, 5], holidays: ['2026-12-28'] }
    now = Date.UTC(2026, 11, 25, 9)
    await operations.setCalendar.invoke(app, admin, { calendar })

    const { id, dueAt } = await start({ after: '1 workdays' })
    await operations.setCalendar.invoke(app, admin, { calendar: { ...calendar, holidays: [] } })

    // Friday, then a weekend and a holiday.
    expect(dueAt).toBe('2026-12-29T09:00:00.000Z')
    expect((await get(id)).dueAt).toBe(dueAt)
  })
})
