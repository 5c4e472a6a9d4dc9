import { beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const startedAt = Date.parse('2026-11-30T12:00:00.000Z')
const hour = 3_600_000
const time = { now: startedAt }
const { app, db } = await openTestApp({ clock: { now: () => time.now } })
const caller = callerOf()
const key = 'HISTORY_PLAYBOOK'

const scenarios = [{ name: 'It is known', expect: { end: 'resolved' } }]

function definitionOf(name: string, expression = 'true') {
  const steps = [{ key: 'known', action: 'Know', compute: { known: expression } }]
  return { key, name, description: 'For tests', steps }
}

const activate = (versionNumber: number, seenActive: number | null) =>
  operations.activateVersion.invoke(app, caller, { procedureKey: key, versionNumber, seenActive })
const rollBack = (toVersionNumber: number, seenActive: number | null) =>
  operations.rollBackProcedure.invoke(app, caller, {
    procedureKey: key,
    toVersionNumber,
    seenActive,
  })
const show = (more: object = {}) =>
  operations.getProcedure.invoke(app, caller, { procedureKey: key, ...more })

beforeAll(async () => {
  await operations.createProcedure.invoke(app, caller, {
    definition: definitionOf('First'),
    scenarios,
  })
  await activate(1, null)
  time.now += hour
  await operations.createVersion.invoke(app, caller, {
    procedureKey: key,
    definition: definitionOf('Second'),
    scenarios: [],
  })
  await activate(2, 1)
  time.now += hour
  await operations.deprecateVersion.invoke(app, caller, { procedureKey: key, versionNumber: 2 })
  time.now += hour
})

describe('the version that served at an instant', () => {
  const asOf = (ms: number) => show({ asOf: new Date(startedAt + ms).toISOString() })

  it('is found by the ranges of time, which begin and end with the moment of a change', async () => {
    const names = await Promise.all(
      [0, hour - 1, hour, 2 * hour - 1].map(async (ms) => (await asOf(ms)).version.name),
    )

    expect(names).toEqual(['First', 'First', 'Second', 'Second'])
  })

  it('is none before the first, and when nothing served', async () => {
    for (const ms of [-1, 2 * hour]) {
      await expect(asOf(ms)).rejects.toMatchObject({
        code: 'VERSION_NOT_ACTIVE_THEN',
        details: { procedureKey: key, at: new Date(startedAt + ms).toISOString() },
      })
    }
  })

  it('is not asked for together with a number', async () => {
    const both = show({ versionNumber: 1, asOf: new Date(startedAt).toISOString() })

    await expect(both).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [expect.objectContaining({ path: 'asOf' })] },
    })
  })
})

describe('a roll-back', () => {
  it('puts what an earlier version said into service as the next one, scenarios included', async () => {
    const before = await show({ versionNumber: 1 })

    const made = await rollBack(1, null)

    expect(made).toMatchObject({ versionNumber: 3, status: 'active', name: 'First' })
    expect(made.definitionHash).toBe(before.version.definitionHash)
    const stored = await operations.listScenarios.invoke(app, caller, { procedureKey: key })
    expect(stored.scenarios).toEqual(scenarios)
    const { versions } = await show()
    expect(versions.map(({ status }) => status)).toEqual(['active', 'deprecated', 'deprecated'])
    const events = await db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .select(['action', 'details'])
      .orderBy('seq', 'desc')
      .limit(2)
      .execute()
    expect(events.map(({ action }) => action)).toEqual(['version.activated', 'version.created'])
    expect(events[0]?.details).toContain('"rolledBackTo":1')
  })

  it('that may not go live changes nothing at all', async () => {
    const before = await show()

    await expect(rollBack(2, null)).rejects.toMatchObject({ code: 'ACTIVATION_STALE' })

    expect(await show()).toEqual(before)
  })

  it('is to a version that served before, and serves no more', async () => {
    await operations.createVersion.invoke(app, caller, { procedureKey: key })

    await expect(rollBack(3, 3)).rejects.toMatchObject({ code: 'VERSION_NOT_DEPRECATED' })
    await expect(rollBack(4, 3)).rejects.toMatchObject({
      code: 'VERSION_NOT_DEPRECATED',
      message: expect.stringContaining('a draft: activate it'),
    })
    await expect(rollBack(9, 3)).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' })
  })
})

describe('a roll-back where approvals are needed', () => {
  const bob = callerOf('bob', ['approver'])

  it('needs the approval of what the version says, and that counts whichever version it was given to', async () => {
    await db.requireApprovals(1)
    const seen = { procedureKey: key, toVersionNumber: 2, seenActive: 3 }
    await expect(operations.rollBackProcedure.invoke(app, bob, seen)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
    })
    expect((await show()).versions.map(({ versionNumber }) => versionNumber)).toEqual([4, 3, 2, 1])

    const copy = { procedureKey: key, fromVersionNumber: 2 }
    const { versionNumber } = await operations.createVersion.invoke(app, caller, copy)
    const named = { procedureKey: key, versionNumber }
    const { digest } = await operations.getApproval.invoke(app, bob, named)
    await operations.reviewVersion.invoke(app, bob, { ...named, digest, verdict: 'approve' })
    const made = await operations.rollBackProcedure.invoke(app, bob, seen)

    expect(made).toMatchObject({ versionNumber: 6, status: 'active', name: 'Second' })
    // Who only rolls back has written nothing.
    const stored = await db.database
      .forTenant('default')
      .kysely.selectFrom('procedure_versions')
      .select(['author_ids', 'approval_digest'])
      .where('version_number', '=', 6)
      .executeTakeFirst()
    expect(stored).toEqual({ author_ids: ['ann'], approval_digest: digest })
    await db.requireApprovals(0)
  })
})

describe('the date of a next look', () => {
  const set = (reviewBy: string | null, versionNumber = 6) =>
    operations.setReviewBy.invoke(app, caller, { procedureKey: key, versionNumber, reviewBy })
  const due = async () => {
    const { items } = await operations.listProcedures.invoke(app, caller, { reviewDue: true })
    return items.map(({ procedureKey }) => procedureKey)
  }
  const at = (ms: number) => new Date(time.now + ms).toISOString()

  it('is set while the version serves, and shown', async () => {
    const { definitionHash } = (await show()).version

    expect(await set(at(hour))).toMatchObject({ reviewBy: at(hour), definitionHash })

    const { version } = await show()
    expect(version).toMatchObject({ status: 'active', reviewBy: at(hour), definitionHash })
    const { items } = await operations.listProcedures.invoke(app, caller, {})
    expect(items).toMatchObject([{ reviewBy: at(hour) }])
  })

  it('lists the procedure once it has passed, and no longer when it is moved', async () => {
    await set(at(hour))
    expect(await due()).toEqual([])

    time.now += hour
    expect(await due()).toEqual([key])

    await set(null)
    expect(await due()).toEqual([])
  })

  it('counts for the version that serves, and no other', async () => {
    await set(at(-hour), 1)

    expect(await due()).toEqual([])
  })

  it('is set by those who approve, and in the audit log', async () => {
    for (const role of ['agent', 'author', 'auditor'] as const) {
      const input = { procedureKey: key, versionNumber: 6, reviewBy: null }
      const setting = operations.setReviewBy.invoke(app, callerOf('eve', [role]), input)
      await expect(setting).rejects.toMatchObject({ code: 'ROLE_MISSING' })
    }
    await set(at(hour))

    const event = await db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .select(['action', 'details'])
      .orderBy('seq', 'desc')
      .executeTakeFirst()
    expect(event?.action).toBe('version.review_by_set')
    expect(JSON.parse(event?.details ?? '')).toMatchObject({ before: null, reviewBy: at(hour) })
  })
})
