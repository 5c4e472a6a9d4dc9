import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp()
const admin = callerOf()
const key = 'REFUND_DELAY_PLAYBOOK'
const textOf = (folder: string) =>
  readFileSync(new URL(`../../seeds/${folder}/refund-delay.yaml`, import.meta.url), 'utf8')
const readValue = (text: string) => Object(readDocument(text, { name: 'test' }).value)

const source = `# Why it is there.\n${textOf('procedures')}`
const definition = readValue(source)
const scenariosSource = `# Tests.\n${textOf('scenarios')}`
const { scenarios } = readValue(scenariosSource)

async function textsOf(versionNumber: number) {
  const asked = { procedureKey: key, versionNumber }
  const { version } = await operations.getProcedure.invoke(app, admin, asked)
  const listed = await operations.listScenarios.invoke(app, admin, asked)
  return { source: version.source, scenariosSource: listed.source }
}
const makeVersion = (input: object) =>
  operations.createVersion.invoke(app, admin, { procedureKey: key, ...input })
const edit = (versionNumber: number, revision: number, input: object) =>
  operations.editDraft.invoke(app, admin, { procedureKey: key, versionNumber, revision, ...input })

beforeAll(async () => {
  await operations.createProcedure.invoke(app, admin, {
    definition,
    source,
    scenarios,
    scenariosSource,
  })
})

describe('the texts of a version', () => {
  it('come back as they were given, comments and all', async () => {
    expect(await textsOf(1)).toEqual({ source, scenariosSource })
  })

  it('go on into a copy, and with scenarios that are taken along', async () => {
    await makeVersion({})
    await makeVersion({ definition })

    expect(await textsOf(2)).toEqual({ source, scenariosSource })
    expect(await textsOf(3)).toEqual({ source: null, scenariosSource })
  })

  it('are lost when a draft is edited as a value, and kept when it says the same', async () => {
    await edit(2, 1, { definition, scenarios })
    expect(await textsOf(2)).toEqual({ source, scenariosSource })

    await edit(2, 2, { definition: { ...definition, name: 'Other' }, scenarios: [] })
    expect(await textsOf(2)).toEqual({ source: null, scenariosSource: null })

    await edit(2, 3, { definition, source })
    expect(await textsOf(2)).toEqual({ source, scenariosSource: null })
  })

  it('are lost with other scenarios, and set with a text of them', async () => {
    const set = (revision: number, given: object) =>
      operations.setScenarios.invoke(app, admin, {
        procedureKey: key,
        versionNumber: 3,
        revision,
        ...given,
      })

    await set(1, { scenarios })
    expect((await textsOf(3)).scenariosSource).toBe(scenariosSource)
    await set(2, { scenarios: scenarios.slice(1) })
    expect((await textsOf(3)).scenariosSource).toBeNull()
    await set(3, { scenarios, source: scenariosSource })
    expect((await textsOf(3)).scenariosSource).toBe(scenariosSource)
  })

  it('are refused when they say something else than what is stored beside them', async () => {
    const other = source.replace('Refund Delay', 'Another')
    const strange = scenariosSource.replace(key, 'OTHER_PLAYBOOK')
    const refused = [
      () => edit(3, 4, { definition, source: other }),
      () => edit(3, 4, { definition, source: '{' }),
      () => edit(3, 4, { definition, scenarios, scenariosSource: strange }),
      () => edit(3, 4, { definition, scenarios: [], scenariosSource }),
      () => edit(3, 4, { definition, scenariosSource }),
      () => makeVersion({ source }),
      () => makeVersion({ scenariosSource }),
    ]

    for (const one of refused) {
      await expect(one()).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        details: { problems: [{ path: expect.stringMatching(/^(source|scenariosSource)$/) }] },
      })
    }
  })

  it.each([
    ['more than 256 KiB, comments included', `\n# ${'é'.repeat(131_072)}`, '262144'],
    ['a control character', '\n# \u001b[2J', 'U+001B'],
  ])('are refused with %s', async (_what, more, message) => {
    const saved = edit(3, 4, { definition, source: `${source}${more}` })

    await expect(saved).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [{ path: 'source', message: expect.stringContaining(message) }] },
    })
  })

  it('change no hash', async () => {
    const asked = { procedureKey: key }
    const { versions } = await operations.getProcedure.invoke(app, admin, asked)

    expect(new Set(versions.map(({ definitionHash }) => definitionHash)).size).toBe(1)
  })
})

describe('an edit of a draft', () => {
  it('takes its scenarios along in one revision, and tells of both in the audit log', async () => {
    const saved = await edit(3, 4, { definition, scenarios: scenarios.slice(0, 1) })

    const events = await db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .select(['action', 'details'])
      .where('entity_id', '=', saved.versionId)
      .orderBy('seq', 'desc')
      .limit(2)
      .execute()
    expect(saved.revision).toBe(5)
    expect(events.map(({ action }) => action)).toEqual(['version.scenarios_set', 'version.edited'])
    expect(JSON.parse(events[0]?.details ?? '')).toMatchObject({ revision: 5, scenarioCount: 1 })
  })
})

describe('the database', () => {
  it.each(['application', 'owner'] as const)(
    'lets the %s change the texts of a draft alone',
    async (role) => {
      await operations.activateVersion.invoke(app, admin, {
        procedureKey: key,
        versionNumber: role === 'owner' ? 2 : 1,
        seenActive: role === 'owner' ? 1 : null,
      })
      const as = role === 'owner' ? db.asOwner : db.asApp
      const change = (column: string, status: string) =>
        as('default', (client) =>
          client.query(
            `UPDATE procedure_versions SET ${column} = '# ${role} ${status}' WHERE status = '${status}'`,
          ),
        )

      for (const column of ['source', 'scenarios_source']) {
        await expect(change(column, 'active')).rejects.toMatchObject({ code: '23001' })
        await expect(change(column, 'draft')).resolves.toBeDefined()
      }
      const both = as('default', (client) =>
        client.query(
          `UPDATE procedure_versions SET status = 'deprecated', source = '# y' WHERE status = 'active'`,
        ),
      )
      await expect(both).rejects.toMatchObject({ code: '23001' })
    },
  )

  it('refuses a text of more than 256 KiB', async () => {
    const long = db.asOwner('default', (client) =>
      client.query(
        `UPDATE procedure_versions SET source = repeat('x', 262145) WHERE status = 'draft'`,
      ),
    )

    await expect(long).rejects.toMatchObject({ code: '23514' })
  })
})
