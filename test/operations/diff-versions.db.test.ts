import { beforeAll, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedDefinitions } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp()
const admin = callerOf()
const key = 'REFUND_DELAY_PLAYBOOK'
const definition = seedDefinitions().get(key) ?? {}
const scenario = { name: 'only', input: {}, expect: { end: 'escalated', reason: 'missing_input' } }

const diff = (input: object = {}, caller = admin) =>
  operations.diffVersions.invoke(app, caller, { procedureKey: key, ...input })

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition, scenarios: [scenario] })
  await operations.activateVersion.invoke(app, admin, {
    procedureKey: key,
    versionNumber: 1,
    seenActive: null,
  })
  await operations.createVersion.invoke(app, admin, {
    procedureKey: key,
    definition: { ...definition, timeLimit: '2h' },
    scenarios: [{ ...scenario, expect: { end: 'declined' } }],
  })
})

it('compares the version that serves with the newest, scenarios included', async () => {
  const found = await diff()

  expect(found).toMatchObject({
    procedureKey: key,
    before: { versionNumber: 1 },
    after: { versionNumber: 2 },
    isSame: false,
    changes: [
      { kind: 'added', field: 'timeLimit', after: '2h' },
      { of: 'scenario', field: 'expect.end', before: 'escalated', after: 'declined' },
      { kind: 'removed', of: 'scenario', field: 'expect.reason' },
    ],
  })
  expect(found.before.definitionHash).not.toBe(found.after.definitionHash)
})

it('compares versions by their numbers, also from the later to the earlier', async () => {
  const back = await diff({ fromVersionNumber: 2, toVersionNumber: 1 })
  const same = await diff({ fromVersionNumber: 2, toVersionNumber: 2 })

  expect(back.changes[0]).toMatchObject({ kind: 'removed', field: 'timeLimit', before: '2h' })
  expect(same).toMatchObject({ isSame: true, changes: [] })
})

it('compares a version with a definition, whose scenarios are those of the version', async () => {
  const found = await diff({ definition: { ...definition, name: 'Other' } })

  expect(found.after.versionNumber).toBeNull()
  expect(found.changes).toMatchObject([{ kind: 'changed', field: 'name', after: 'Other' }])
})

it('compares scenarios that are given', async () => {
  const found = await diff({ fromVersionNumber: 1, toVersionNumber: 1, scenarios: [] })

  expect(found.changes).toMatchObject([{ kind: 'removed', of: 'scenario', name: 'only' }])
})

it('refuses what is not there, and what is none', async () => {
  await expect(diff({ toVersionNumber: 7 })).rejects.toMatchObject({ code: 'VERSION_NOT_FOUND' })
  await expect(diff({ procedureKey: 'NOT_THERE' })).rejects.toMatchObject({
    code: 'PROCEDURE_NOT_FOUND',
  })
  await expect(diff({ definition: {} })).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
  await expect(diff({ scenarios: 1 })).rejects.toMatchObject({ code: 'SCENARIOS_INVALID' })
  await expect(diff({ definition: { ...definition, key: 'OTHER' } })).rejects.toMatchObject({
    code: 'DEFINITION_KEY_DIFFERS',
  })
})

it('is for everybody who may read procedures', async () => {
  for (const role of ['agent', 'author', 'approver', 'admin', 'auditor'] as const) {
    await expect(diff({}, callerOf('rea', [role]))).resolves.toMatchObject({ isSame: false })
  }
})
