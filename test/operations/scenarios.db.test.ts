import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedDefinitions } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import type { RawClient } from '../support/database.ts'

const { app, db } = await openTestApp()
const admin = callerOf()
const key = 'REFUND_DELAY_PLAYBOOK'
const definition = seedDefinitions().get(key) ?? {}
const file = new URL('../../seeds/scenarios/refund-delay.yaml', import.meta.url)
const { scenarios } = Object(readDocument(readFileSync(file, 'utf8'), { name: 'seed' }).value)
const other = [{ name: 'only', input: {}, expect: { end: 'escalated', reason: 'missing_input' } }]

const list = (versionNumber: number) =>
  operations.listScenarios.invoke(app, admin, { procedureKey: key, versionNumber })
const set = (versionNumber: number, revision: number, given: unknown, caller = admin) =>
  operations.setScenarios.invoke(app, caller, {
    procedureKey: key,
    versionNumber,
    revision,
    scenarios: given,
  })
const simulate = (input: Record<string, unknown> = {}) =>
  operations.simulateVersion.invoke(app, admin, { procedureKey: key, ...input })
const namesOf = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name)

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, { definition, scenarios })
})

describe('the scenarios of a version', () => {
  it('are made with it, and come back as they were given', async () => {
    const { scenarios: stored, revision, status } = await list(1)

    expect(stored).toEqual(scenarios)
    expect({ revision, status }).toEqual({ revision: 1, status: 'draft' })
  })

  it('are replaced over the revision that was seen, which rises', async () => {
    const replaced = await set(1, 1, other, callerOf('bea'))

    expect(replaced).toMatchObject({ revision: 2, scenarioCount: 1 })
    expect((await list(1)).scenarios).toEqual([{ name: 'only', expect: other[0]?.expect }])
    await expect(set(1, 1, scenarios)).rejects.toMatchObject({
      code: 'DRAFT_STALE',
      details: { seen: 1, current: 2 },
    })
    expect(namesOf((await list(1)).scenarios)).toEqual(['only'])
  })

  it('make an author of whoever writes them, and are in the audit log', async () => {
    const { kysely } = db.database.forTenant('default')
    const version = await kysely
      .selectFrom('procedure_versions')
      .select(['author_ids', 'updated_by'])
      .executeTakeFirstOrThrow()
    const event = await kysely
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'version.scenarios_set')
      .executeTakeFirstOrThrow()

    expect(version.author_ids).toEqual(['ann', 'bea'])
    expect(version.updated_by).toMatchObject({ id: 'bea' })
    expect(event.actor_id).toBe('bea')
    expect(event.before_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(event.after_hash).not.toBe(event.before_hash)
    expect(JSON.parse(event.details)).toMatchObject({ procedureKey: key, scenarioCount: 1 })
  })

  it('are refused whole, with every problem', async () => {
    const refused = set(1, 2, [{ name: 'a' }, { name: 'a', expect: { end: 'well' } }])

    await expect(refused).rejects.toMatchObject({
      code: 'SCENARIOS_INVALID',
      details: {
        problems: [
          { path: 'scenarios[0].expect' },
          { path: 'scenarios[1].name' },
          { path: 'scenarios[1].expect.end' },
        ],
      },
    })
    expect((await list(1)).revision).toBe(2)
  })

  it('are refused with a definition, and nothing is made', async () => {
    const create = operations.createProcedure.invoke(app, admin, {
      definition: { ...definition, key: 'OTHER' },
      scenarios: {},
    })

    await expect(create).rejects.toMatchObject({ code: 'SCENARIOS_INVALID' })
    await expect(
      operations.getProcedure.invoke(app, admin, { procedureKey: 'OTHER' }),
    ).rejects.toMatchObject({ code: 'PROCEDURE_NOT_FOUND' })
  })

  it('need an author or an admin to be set, and anybody may read them', async () => {
    const reader = callerOf('rea', ['agent'])

    await expect(set(1, 2, other, reader)).rejects.toMatchObject({ code: 'ROLE_MISSING' })
    const { scenarios: read } = await operations.listScenarios.invoke(app, reader, {
      procedureKey: key,
    })
    expect(namesOf(read)).toEqual(['only'])
  })

  it('go on into a new version, copied or from a definition, unless others are given', async () => {
    await set(1, 2, scenarios)
    const make = (input: Record<string, unknown>) =>
      operations.createVersion.invoke(app, admin, { procedureKey: key, ...input })

    await make({})
    await make({ definition: { ...definition, name: 'Renamed' } })
    await make({ fromVersionNumber: 1, scenarios: other })
    await make({ fromVersionNumber: 4 })

    const names = namesOf(scenarios)
    expect(namesOf((await list(2)).scenarios)).toEqual(names)
    expect(namesOf((await list(3)).scenarios)).toEqual(names)
    expect(namesOf((await list(4)).scenarios)).toEqual(['only'])
    expect(namesOf((await list(5)).scenarios)).toEqual(['only'])
  })

  it('go with a draft that is deleted', async () => {
    await operations.deleteDraft.invoke(app, admin, { procedureKey: key, versionNumber: 5 })

    const { kysely } = db.database.forTenant('default')
    const left = await kysely
      .selectFrom('scenarios')
      .leftJoin('procedure_versions as v', 'v.id', 'version_id')
      .select('v.id')
      .where('v.id', 'is', null)
      .execute()

    expect(left).toEqual([])
  })
})

describe('a simulation', () => {
  it('of a stored version runs its own scenarios, and writes nothing', async () => {
    const before = await countRows()

    const report = await simulate({ versionNumber: 1 })

    expect(report).toMatchObject({ procedureKey: key, versionNumber: 1, ok: true })
    expect(report.scenarios).toHaveLength(scenarios.length)
    expect(report.coverage.unreached).toEqual({ steps: [], branches: [] })
    expect(await countRows()).toEqual(before)
  })

  it('of scenarios that are given says in what they differ', async () => {
    const [first] = scenarios

    const report = await simulate({
      scenarios: [{ ...first, expect: { ...first.expect, path: ['check_refund'] } }],
    })

    expect(report.ok).toBe(false)
    expect(report.scenarios[0]?.differences).toEqual([
      {
        ...{ what: 'path', step: 'identify_transaction', position: 1 },
        ...{ expected: 'check_refund', found: 'identify_transaction' },
      },
    ])
  })

  it('of a definition that is given runs the stored scenarios, or those in the call', async () => {
    const [first, ...rest] = Object(definition).steps

    const changed = await simulate({
      versionNumber: 1,
      definition: { ...definition, steps: [...rest, first] },
    })
    const stranger = await operations.simulateVersion.invoke(app, admin, {
      procedureKey: 'NOT_THERE',
      definition: { ...definition, key: 'NOT_THERE' },
      scenarios: other,
    })

    expect(changed).toMatchObject({ versionNumber: null, ok: false })
    expect(stranger).toMatchObject({ versionNumber: null, ok: true })
  })

  it('refuses what cannot be run, and says why', async () => {
    const [step] = Object(definition).steps
    const broken = { ...definition, steps: [{ ...step, when: 'input.a +' }] }

    await expect(simulate({ definition: broken })).rejects.toMatchObject({
      code: 'DEFINITION_HAS_ERRORS',
      details: {
        problems: expect.arrayContaining([expect.objectContaining({ path: 'steps[0].when' })]),
      },
    })
    await expect(simulate({ definition: { ...definition, key: 'OTHER' } })).rejects.toMatchObject({
      code: 'DEFINITION_KEY_DIFFERS',
    })
    await expect(simulate({ definition: {} })).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    await expect(simulate({ scenarios: 1 })).rejects.toMatchObject({ code: 'SCENARIOS_INVALID' })
    await expect(simulate({ versionNumber: 77 })).rejects.toMatchObject({
      code: 'VERSION_NOT_FOUND',
    })
  })

  it('refuses a draft that was saved with an expression that cannot be read', async () => {
    const [step] = Object(definition).steps
    await operations.createProcedure.invoke(app, admin, {
      definition: { ...definition, key: 'BROKEN', steps: [{ ...step, when: 'input.a +' }] },
    })

    const refused = operations.simulateVersion.invoke(app, admin, { procedureKey: 'BROKEN' })

    await expect(refused).rejects.toMatchObject({ code: 'DEFINITION_HAS_ERRORS' })
  })
})

describe('once a version has left draft', () => {
  beforeAll(async () => {
    await operations.activateVersion.invoke(app, admin, {
      procedureKey: key,
      versionNumber: 1,
      seenActive: null,
    })
  })

  it('its scenarios cannot be set', async () => {
    const { revision } = await list(1)

    await expect(set(1, revision, other)).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })
  })

  const ofFirst = `version_id = (SELECT id FROM procedure_versions WHERE version_number = 1
    AND procedure_key = '${key}')`
  const attacks = {
    'adds one': `INSERT INTO scenarios (tenant_id, version_id, position, scenario)
      SELECT tenant_id, id, 99, '{"name": "new", "expect": {}}' FROM procedure_versions
      WHERE version_number = 1 AND procedure_key = '${key}'`,
    'changes one': `UPDATE scenarios SET scenario = '{"name": "x", "expect": {}}' WHERE ${ofFirst}`,
    'moves them to a draft': `UPDATE scenarios SET position = position + 100 WHERE ${ofFirst}`,
    'deletes one': `DELETE FROM scenarios WHERE ${ofFirst} AND position = 1`,
    'deletes all': 'DELETE FROM scenarios',
    'truncates them': 'TRUNCATE scenarios',
  }

  it.each(
    (['application', 'owner'] as const).flatMap((role) =>
      Object.entries(attacks).map(([what, statement]) => [role, what, statement] as const),
    ),
  )('no statement by hand, as the %s, %s', async (role, _what, statement) => {
    const as = role === 'owner' ? db.asOwner : db.asApp

    const code = await as('default', (client: RawClient) =>
      client.query(statement).then(
        () => 'done',
        (error) => String(error.code),
      ),
    )

    expect(code).toMatch(/^(42501|23001)$/)
    expect((await list(1)).scenarios).toEqual(scenarios)
  })

  it('names its guard in the error', async () => {
    const { kysely } = db.database.forTenant('default')

    await expect(kysely.deleteFrom('scenarios').execute()).rejects.toMatchObject({
      code: '23001',
      constraint: 'scenarios_of_draft',
    })
  })
})

describe('a real run and a simulation on its results', () => {
  it.each([
    'TXN-DEMO-001',
    'TXN-DUP-002',
    'TXN-REFUND-003',
    'TXN-INCONSISTENT-004',
    'TXN-GATEWAY-005',
    'TXN-UNKNOWN-006',
    'no-transaction',
  ])('go the same way for %s', async (transactionId) => {
    const input = { transactionId }
    const run = await operations.startExecution.invoke(app, admin, { procedureKey: key, input })
    const { outcome, reason, result } = run.execution
    const results = run.steps.flatMap(({ key: step, tool, output, error }) => {
      if (tool === null) return []
      return [[step, error === null ? { output } : { fails: 'refused', message: error.message }]]
    })

    const report = await simulate({
      scenarios: [
        {
          name: transactionId,
          input,
          steps: Object.fromEntries(results),
          expect: {
            end: outcome ?? 'escalated',
            ...(reason !== null && { reason: reason.code }),
            ...(reason?.text !== undefined && { text: reason.text }),
            path: run.steps.map((step) => step.key),
            result,
          },
        },
      ],
    })

    expect(report.scenarios.filter(({ ok }) => !ok)).toEqual([])
  })
})

async function countRows(): Promise<Record<string, number>> {
  const { kysely } = db.database.forTenant('default')
  const counts: Record<string, number> = {}
  for (const name of ['executions', 'step_executions', 'audit_events', 'escalations'] as const) {
    const row = await kysely
      .selectFrom(name)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    counts[name] = Number(row.count)
  }
  return counts
}
