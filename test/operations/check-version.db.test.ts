import { expect, test } from 'vitest'
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
