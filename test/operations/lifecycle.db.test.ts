import { beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedDefinitions } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp()
const admin = callerOf()
const key = 'REFUND_DELAY_PLAYBOOK'
const definition = seedDefinitions().get(key) ?? {}

function versionsOf(procedureKey = key) {
  return operations.getProcedure
    .invoke(app, admin, { procedureKey })
    .then(({ versions }) => versions.map(({ versionNumber, status }) => [versionNumber, status]))
}

function activate(versionNumber: number, seenActive: number | null) {
  return operations.activateVersion.invoke(app, admin, {
    procedureKey: key,
    versionNumber,
    seenActive,
  })
}

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition })
})

describe('the life of a version', () => {
  it('goes from draft to active to deprecated, one active at a time', async () => {
    await activate(1, null)
    await operations.createVersion.invoke(app, admin, { procedureKey: key })
    await activate(2, 1)

    expect(await versionsOf()).toEqual([
      [2, 'active'],
      [1, 'deprecated'],
    ])
    const { activations } = await operations.getProcedure.invoke(app, admin, { procedureKey: key })
    expect(
      activations.map(({ versionNumber, activeUntil }) => [versionNumber, activeUntil === null]),
    ).toEqual([
      [2, true],
      [1, false],
    ])
    expect(activations[1]?.activeUntil).toBe(activations[0]?.activeFrom)
  })

  it('refuses an activation that saw another version active, and leaves both as they were', async () => {
    await operations.createVersion.invoke(app, admin, { procedureKey: key })

    await expect(activate(3, 1)).rejects.toMatchObject({
      code: 'ACTIVATION_STALE',
      details: { seen: 1, current: 2 },
    })
    await expect(activate(1, 2)).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })

    expect(await versionsOf()).toEqual([
      [3, 'draft'],
      [2, 'active'],
      [1, 'deprecated'],
    ])
  })

  it('refuses an edit of a revision that is gone', async () => {
    const edit = {
      procedureKey: key,
      versionNumber: 3,
      definition: { ...definition, name: 'Other' },
    }

    const edited = await operations.editDraft.invoke(app, admin, { ...edit, revision: 1 })

    expect(edited).toMatchObject({ name: 'Other', revision: 2 })
    await expect(
      operations.editDraft.invoke(app, admin, { ...edit, revision: 1 }),
    ).rejects.toMatchObject({
      code: 'DRAFT_STALE',
      details: { seen: 1, current: 2 },
    })
    await expect(
      operations.editDraft.invoke(app, admin, { ...edit, versionNumber: 2, revision: 1 }),
    ).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })
  })

  it('deletes only drafts, and never gives their number again', async () => {
    await operations.deleteDraft.invoke(app, admin, { procedureKey: key, versionNumber: 3 })
    await expect(
      operations.deleteDraft.invoke(app, admin, { procedureKey: key, versionNumber: 1 }),
    ).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })

    const next = await operations.createVersion.invoke(app, admin, {
      procedureKey: key,
      fromVersionNumber: 1,
    })

    expect(next.versionNumber).toBe(4)
  })

  it('does not activate a draft whose checks found errors', async () => {
    const steps = [{ key: 'a', action: 'Nothing', tool: 'no_such_tool' }]
    const draft = await operations.createVersion.invoke(app, admin, {
      procedureKey: key,
      definition: {
        ...definition,
        steps,
        completionConditions: [],
        escalationRules: [],
        output: {},
        replies: {},
      },
    })

    expect(draft.findings).toContainEqual(
      expect.objectContaining({ rule: 'tool-unknown', severity: 'error', path: 'steps[0].tool' }),
    )
    await expect(activate(draft.versionNumber, 2)).rejects.toMatchObject({
      code: 'VERSION_HAS_ERRORS',
    })
    expect((await versionsOf())[0]).toEqual([draft.versionNumber, 'draft'])
  })

  it('takes a version out of service without a successor', async () => {
    await operations.deprecateVersion.invoke(app, admin, { procedureKey: key, versionNumber: 2 })

    await expect(
      operations.startExecution.invoke(app, admin, { procedureKey: key }),
    ).rejects.toMatchObject({ code: 'PROCEDURE_NOT_ACTIVE' })
    await activate(4, null)
    expect(await versionsOf()).toContainEqual([4, 'active'])
  })

  it('writes each act to the audit log, as one chain', async () => {
    const events = await db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .selectAll()
      .orderBy('seq')
      .execute()

    expect(events.map(({ action }) => action)).toEqual([
      'version.created',
      'version.activated',
      'version.created',
      'version.activated',
      'version.created',
      'version.edited',
      'version.deleted',
      'version.created',
      'version.created',
      'version.deprecated',
      'version.activated',
    ])
    expect(events.filter(({ ungoverned }) => ungoverned).map(({ action }) => action)).toEqual(
      Array(3).fill('version.activated'),
    )
  })
})

describe('refusals', () => {
  it('are told whole, and write nothing', async () => {
    const before = await operations.listProcedures.invoke(app, admin, {})

    await expect(
      operations.createProcedure.invoke(app, admin, {
        definition: { key: 'x', extra: 1, steps: [{}] },
      }),
    ).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    await expect(
      operations.createProcedure.invoke(app, admin, { definition }),
    ).rejects.toMatchObject({
      code: 'PROCEDURE_EXISTS',
    })

    expect(await operations.listProcedures.invoke(app, admin, {})).toEqual(before)
  })

  it.each([
    ['agent', operations.createProcedure, {}],
    ['auditor', operations.activateVersion, {}],
    ['author', operations.activateVersion, {}],
    ['author', operations.startExecution, {}],
  ] as const)(
    'come before anything else for a role that may not: %s',
    async (role, operation, input) => {
      await expect(operation.invoke(app, callerOf('eve', [role]), input)).rejects.toMatchObject({
        code: 'ROLE_MISSING',
      })
    },
  )

  it('come for text that cannot be stored, whatever the operation', async () => {
    for (const [operation, input] of [
      [operations.resolveTicket, { ticket: { text: 'a\u0000b' } }],
      [operations.searchProcedures, { issue: 'a\ud800' }],
      [operations.createProcedure, { definition: { key: 'a\u0000' } }],
    ] as const) {
      await expect(operation.invoke(app, admin, input)).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
      })
    }
  })

  it('come with the path of every problem of a request', async () => {
    await expect(
      operations.activateVersion.invoke(app, admin, {
        procedureKey: 'no',
        versionNumber: 0,
        more: 1,
      }),
    ).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: {
        problems: expect.arrayContaining([expect.objectContaining({ path: 'procedureKey' })]),
      },
    })
  })
})
