import { describe, expect, test } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp()

function definitionOf(key: string, steps: readonly object[], more: object = {}): object {
  return { key, name: key, description: 'For tests', internal: true, steps, ...more }
}

async function create(definition: object): Promise<readonly string[]> {
  const { findings } = await operations.createProcedure.invoke(app, callerOf(), { definition })
  return findings.map(({ rule, path }) => `${rule} ${path}`)
}

const known = { key: 'known', action: 'Know', compute: { known: "input.email == 'a@b.example'" } }
const called = definitionOf('CALLED', [known], {
  input: { type: 'object', required: ['email'], properties: { email: { type: 'string' } } },
  output: { isKnown: 'steps.known.output.known' },
})
const calling = (key: string, given: object) =>
  definitionOf(key, [
    { key: 'who', action: 'Call', call: 'CALLED', with: given },
    { key: 'use', action: 'Use', compute: { ok: 'steps.who.output.output.isKnown' } },
  ])

test('a call is checked against the version that is active, and against none that is not', async () => {
  await create(called)

  expect(await create(calling('BEFORE', { email: 'x' }))).toContain('call-unknown steps[0].call')

  await operations.activateVersion.invoke(app, callerOf(), {
    procedureKey: 'CALLED',
    versionNumber: 1,
    seenActive: null,
  })
  const right = await create(calling('RIGHT', { email: 'x' }))
  const wrong = await create(calling('WRONG', { mail: 'x' }))

  expect(right.filter((one) => !one.startsWith('kind-unavailable'))).toEqual([
    'no-completion-condition completionConditions',
  ])
  expect(wrong).toEqual(
    expect.arrayContaining(['missing-field steps[0].with', 'unknown-field steps[0].with.mail']),
  )
})

test('what is told of a version is what is found now, and what it went live with', async () => {
  const findingsOf = async (procedureKey: string) => {
    const { version } = await operations.getProcedure.invoke(app, callerOf(), { procedureKey })
    return version.findings.map(({ rule }) => rule)
  }
  const activate = (procedureKey: string) =>
    operations.activateVersion.invoke(app, callerOf(), {
      procedureKey,
      versionNumber: 1,
      seenActive: null,
    })
  const step = { key: 'who', action: 'Call', call: 'LATER', with: { email: 'x' } }
  expect(await create(definitionOf('EARLY', [step]))).toContain('call-unknown steps[0].call')
  expect(await findingsOf('EARLY')).toContain('call-unknown')

  await create({ ...called, key: 'LATER' })
  await activate('LATER')
  expect(await findingsOf('EARLY')).not.toContain('call-unknown')
  const { findings } = await activate('EARLY')

  expect(findings.map(({ rule }) => rule)).toContain('no-completion-condition')
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(await findingsOf('EARLY')).toEqual(findings.map(({ rule }) => rule))
})

describe('what calls a procedure', () => {
  const schema = (...required: readonly string[]) => ({
    type: 'object',
    required,
    properties: { email: { type: 'string' }, reason: { type: 'string' } },
  })
  const base = (key: string, more: object = {}) =>
    definitionOf(key, [known], { input: schema('email'), output: { ok: 'true' }, ...more })
  const caller = (key: string, called: string, read = 'ok') =>
    definitionOf(
      key,
      [
        { key: 'who', action: 'Call', call: called, with: { email: 'x' } },
        { key: 'use', action: 'Use', compute: { used: `steps.who.output.output.${read}` } },
      ],
      { output: { ok: 'steps.use.output.used' } },
    )
  const draft = async (definition: object) => {
    const procedureKey = String(Object(definition).key)
    return operations.createVersion.invoke(app, callerOf(), { procedureKey, definition })
  }
  const activate = (procedureKey: string, versionNumber: number, seenActive: number | null) =>
    operations.activateVersion.invoke(app, callerOf(), { procedureKey, versionNumber, seenActive })
  const serve = async (definition: object) => {
    await create(definition)
    await activate(String(Object(definition).key), 1, null)
  }
  const broken = ({
    findings,
  }: {
    readonly findings: readonly { rule: string; path: string; message: string }[]
  }) => findings.filter(({ rule }) => rule === 'caller-broken')

  test('is named when a change of what is taken or given breaks it, and keeps that from going live', async () => {
    await serve(base('BASE_A'))
    await serve(caller('USER_A', 'BASE_A'))

    const asksMore = await draft(base('BASE_A', { input: schema('email', 'reason') }))
    const givesLess = await draft(base('BASE_A', { output: { other: 'true' } }))
    const mayDecline = await draft(
      base('BASE_A', { preconditions: [{ text: 'A', when: 'false', otherwise: 'declined' }] }),
    )

    expect(broken(asksMore)).toEqual([
      expect.objectContaining({
        severity: 'error',
        path: 'input',
        message: expect.stringMatching(
          /^USER_A version 1 calls .*steps\[0\]\.with: 'reason' is missing/,
        ),
      }),
    ])
    expect(broken(givesLess)).toMatchObject([
      { path: 'output', message: expect.stringContaining('steps[1].compute.used') },
    ])
    expect(broken(mayDecline)).toMatchObject([{ path: 'output' }])
    await expect(activate('BASE_A', asksMore.versionNumber, 1)).rejects.toMatchObject({
      code: 'VERSION_HAS_ERRORS',
      details: { problems: [{ rule: 'caller-broken' }] },
    })
  })

  test('says nothing of a change that it can live with, and nothing once it serves no longer', async () => {
    await serve(base('BASE_B'))
    await serve(caller('USER_B', 'BASE_B'))

    const same = await draft(base('BASE_B', { description: 'Other words' }))
    const more = await draft(base('BASE_B', { output: { ok: 'true', more: '1' } }))
    expect(broken(same)).toEqual([])
    expect(broken(more)).toEqual([])

    const asksMore = base('BASE_B', { input: schema('email', 'reason') })
    expect(broken(await draft(asksMore))).toHaveLength(1)
    await operations.deprecateVersion.invoke(app, callerOf(), {
      procedureKey: 'USER_B',
      versionNumber: 1,
    })
    const free = await draft(asksMore)
    expect(broken(free)).toEqual([])
    await activate('BASE_B', free.versionNumber, 1)
  })

  test('is checked in the activation itself: a caller may have come since the draft was saved', async () => {
    await serve(base('BASE_C'))
    const saved = await draft(base('BASE_C', { input: schema('email', 'reason') }))
    expect(broken(saved)).toEqual([])

    await serve(caller('USER_C', 'BASE_C'))

    await expect(activate('BASE_C', saved.versionNumber, 1)).rejects.toMatchObject({
      code: 'VERSION_HAS_ERRORS',
    })
  })

  test('is looked at through those that it calls', async () => {
    await serve(base('BASE_D', { output: { ok: 'true' } }))
    await serve({
      ...caller('MIDDLE_D', 'BASE_D'),
      output: { ok: 'steps.who.output.output.ok' },
    })
    await serve(
      definitionOf('TOP_D', [
        { key: 'mid', action: 'Call', call: 'MIDDLE_D', with: {} },
        { key: 'stop', action: 'Stop', when: 'steps.mid.output.output.ok', end: 'declined' },
      ]),
    )

    const texts = await draft(base('BASE_D', { output: { ok: "'yes'" } }))

    expect(broken(texts).map(({ message }) => message.split(' ')[0])).toEqual(['TOP_D'])
  })
})
