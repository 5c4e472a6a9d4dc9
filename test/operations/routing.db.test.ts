import { expect, it } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'

// Two texts with the same known words are one; `late` is what two playbooks may share.
const words = { pay: 1, refund: 1, parcel: 1, late: 1, card: 1, login: 1 }
const { app, db } = await openTestApp({
  embedder: fakeEmbedder(words),
  hostedEmbedder: fakeEmbedder(words, { model: 'hosted-v1' }),
})
const caller = callerOf()

const steps = [{ key: 'known', action: 'Know', compute: { known: 'true' } }]

/** A draft that is found by the words of its description. */
async function draftOf(
  procedureKey: string,
  description: string,
  examples: object = {},
  more: object = {},
): Promise<number> {
  const definition = { key: procedureKey, name: 'Some', description, examples, steps, ...more }
  try {
    const made = await operations.createProcedure.invoke(app, caller, { definition })
    return made.versionNumber
  } catch (error) {
    if (!isServiceError(error, 'PROCEDURE_EXISTS')) throw error
    const made = await operations.createVersion.invoke(app, caller, { procedureKey, definition })
    return made.versionNumber
  }
}

async function activate(procedureKey: string, versionNumber: number, acknowledge: string[] = []) {
  const { versions } = await operations.getProcedure.invoke(app, caller, { procedureKey })
  const seenActive = versions.find(({ status }) => status === 'active')?.versionNumber ?? null
  const request = { procedureKey, versionNumber, seenActive, acknowledge }
  return operations.activateVersion.invoke(app, caller, request)
}

async function retire(procedureKey: string): Promise<void> {
  const { versions } = await operations.getProcedure.invoke(app, caller, { procedureKey })
  const active = versions.find(({ status }) => status === 'active')
  if (active === undefined) return
  const { versionNumber } = active
  await operations.deprecateVersion.invoke(app, caller, { procedureKey, versionNumber })
}

const search = async (issue: string) => {
  const { procedureKey } = await operations.searchProcedures.invoke(app, caller, { issue })
  return procedureKey
}

const findingsOf = async (procedureKey: string, versionNumber: number) => {
  const { version } = await operations.getProcedure.invoke(app, caller, {
    procedureKey,
    versionNumber,
  })
  return version.findings.filter(({ id }) => id !== undefined)
}

it('an example that would go to another procedure keeps a draft from going live', async () => {
  await activate('PARCEL', await draftOf('PARCEL', 'parcel late'))
  const number = await draftOf('REFUND', 'refund', { match: ['My parcel is late', 'a refund'] })

  const found = await findingsOf('REFUND', number)

  expect(found).toMatchObject([
    {
      rule: 'example-routed-elsewhere',
      severity: 'error',
      path: 'examples.match[0]',
      message: expect.stringContaining("'My parcel is late' would go to PARCEL"),
      id: expect.stringMatching(/^example-routed-elsewhere:[0-9a-f]{12}$/),
    },
  ])
  await expect(activate('REFUND', number)).rejects.toMatchObject({
    code: 'ROUTING_NOT_ACKNOWLEDGED',
    details: { procedureKey: 'REFUND', findingIds: [found[0]?.id] },
  })
  await retire('PARCEL')
})

it('what is acknowledged goes live, and stands at the version as a warning', async () => {
  await activate('PARCEL', await draftOf('PARCEL', 'parcel late'))
  const number = await draftOf('REFUND', 'refund', { match: ['My parcel is late'] })
  const [finding] = await findingsOf('REFUND', number)
  const id = finding?.id ?? ''
  await expect(activate('REFUND', number, ['another'])).rejects.toMatchObject({
    code: 'ROUTING_NOT_ACKNOWLEDGED',
  })

  const active = await activate('REFUND', number, [id])

  expect(active.findings).toContainEqual({ ...finding, severity: 'warning' })
  // The next draft of it has the same finding, by the same id.
  const next = await draftOf('REFUND', 'refund card', { match: ['My parcel is late'] })
  expect((await findingsOf('REFUND', next)).map((one) => one.id)).toEqual([id])
  await retire('REFUND')
  await retire('PARCEL')
})

it('a counter-example that would come here keeps a draft from going live', async () => {
  const number = await draftOf('LOGIN', 'login', { noMatch: ['My login', 'My parcel'] })

  expect(await findingsOf('LOGIN', number)).toMatchObject([
    { rule: 'no-match-routed-here', path: 'examples.noMatch[0]' },
  ])
  await expect(activate('LOGIN', number)).rejects.toMatchObject({
    code: 'ROUTING_NOT_ACKNOWLEDGED',
  })
})

it('an example of another active procedure that would come here keeps a draft from going live', async () => {
  const example = 'pay late card'
  await activate('PAYMENT', await draftOf('PAYMENT', 'pay late', { match: [example] }))
  expect(await search(example)).toBe('PAYMENT')
  const number = await draftOf('CARD', 'pay late card')

  const found = await findingsOf('CARD', number)

  expect(found).toMatchObject([
    {
      rule: 'example-taken-away',
      path: 'issuePatterns',
      message: expect.stringContaining(`'${example}', an example of PAYMENT, would come here`),
    },
  ])
  await expect(activate('CARD', number)).rejects.toMatchObject({ code: 'ROUTING_NOT_ACKNOWLEDGED' })
  // It is true.
  await activate('CARD', number, [found[0]?.id ?? ''])
  expect(await search(example)).toBe('CARD')
  await retire('CARD')
  await retire('PAYMENT')
})

it('one that would be left to an agent does not', async () => {
  await activate('PAYMENT', await draftOf('PAYMENT', 'pay late', { match: ['pay late'] }))
  const number = await draftOf('CARD', 'pay late')

  expect(await findingsOf('CARD', number)).toEqual([])

  await activate('CARD', number)
  expect(await search('pay late')).toBeNull()
  await retire('CARD')
  await retire('PAYMENT')
})

it('what the predecessor has taken away already is not told again', async () => {
  await activate('CARD', await draftOf('CARD', 'pay late card'))
  const other = await draftOf('PAYMENT', 'pay late', { match: ['pay late card'] })
  const [elsewhere] = await findingsOf('PAYMENT', other)
  await activate('PAYMENT', other, [elsewhere?.id ?? ''])

  const number = await draftOf('CARD', 'pay late card')

  expect(await findingsOf('CARD', number)).toEqual([])
  await activate('CARD', number)
  await retire('CARD')
  await retire('PAYMENT')
})

it('the predecessor takes nothing from its successor', async () => {
  const examples = { match: ['parcel late'] }
  await activate('PARCEL', await draftOf('PARCEL', 'parcel late', examples))

  const number = await draftOf('PARCEL', 'parcel late', examples)

  expect(await findingsOf('PARCEL', number)).toEqual([])
  await activate('PARCEL', number)
  await retire('PARCEL')
})

it('examples that were edited count as they are now', async () => {
  const number = await draftOf('LOGIN', 'login', { noMatch: ['My login'] })
  const definition = { key: 'LOGIN', name: 'Some', description: 'login', steps }
  const version = { procedureKey: 'LOGIN', versionNumber: number, revision: 1 }

  await operations.editDraft.invoke(app, caller, { ...version, definition })

  expect(await findingsOf('LOGIN', number)).toEqual([])
  await activate('LOGIN', number)
  await retire('LOGIN')
})

it('an internal procedure is not searched for, and has none', async () => {
  await activate('PARCEL', await draftOf('PARCEL', 'parcel late'))
  const examples = { match: ['parcel late'] }

  const number = await draftOf('INNER', 'refund', examples, { internal: true })

  expect(await findingsOf('INNER', number)).toEqual([])
  await activate('INNER', number)
  await retire('PARCEL')
})

it('a draft whose examples have no vectors is not activated', async () => {
  const number = await draftOf('LOGIN', 'login', { match: ['My login'] })
  await db.asApp('default', (client) =>
    client.query(`DELETE FROM example_vectors WHERE version_id =
      (SELECT id FROM procedure_versions WHERE procedure_key = 'LOGIN' AND version_number = ${number})`),
  )

  await expect(activate('LOGIN', number)).rejects.toMatchObject({ code: 'VERSION_NOT_EMBEDDED' })
})

it('where approvals are needed, what they acknowledge counts and nothing else', async () => {
  await db.requireApprovals(1)
  const bob = callerOf('bob', ['approver'])
  const number = await draftOf('LOGIN', 'login', { noMatch: ['My login'] })
  const ids = (await findingsOf('LOGIN', number)).flatMap(({ id }) => id ?? [])
  const named = { procedureKey: 'LOGIN', versionNumber: number }
  const { digest, routing } = await operations.getApproval.invoke(app, bob, named)
  expect(routing.map(({ id }) => id)).toEqual(ids)
  const approve = { ...named, digest, verdict: 'approve' as const }

  await operations.reviewVersion.invoke(app, bob, approve)
  await expect(activate('LOGIN', number, ids)).rejects.toMatchObject({
    code: 'ROUTING_NOT_ACKNOWLEDGED',
  })
  await operations.reviewVersion.invoke(app, bob, { ...approve, acknowledge: ids })

  await activate('LOGIN', number)
  await retire('LOGIN')
  await db.requireApprovals(0)
})

it('routing tests go by the model in use, also after a switch', async () => {
  const number = await draftOf('CARD', 'card', { noMatch: ['My card'] })
  const [finding] = await findingsOf('CARD', number)
  await operations.switchEmbeddings.invoke(app, caller, { model: 'hosted-v1' })
  for (let isDone = false; !isDone; ) {
    isDone = (await operations.continueEmbeddingSwitch.invoke(app, caller, {})).isDone
  }

  expect(await findingsOf('CARD', number)).toEqual([finding])
  expect(finding?.rule).toBe('no-match-routed-here')
  await expect(activate('CARD', number)).rejects.toMatchObject({ code: 'ROUTING_NOT_ACKNOWLEDGED' })
})
