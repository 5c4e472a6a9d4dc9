import { expect, test } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp()
const admin = callerOf()

const known = { key: 'known', action: 'Know', compute: { known: 'true' } }

function definitionOf(key: string, more: object): object {
  return { key, name: key, description: 'For tests', internal: true, steps: [known], ...more }
}

function callerOfKey(key: string, called: string, more: object, ...steps: readonly object[]) {
  return definitionOf(key, {
    steps: [{ key: 'who', action: 'Call', call: called }, ...steps],
    ...more,
  })
}

const create = (definition: object) => operations.createProcedure.invoke(app, admin, { definition })
const activate = (procedureKey: string, versionNumber: number, seenActive: number | null) =>
  operations.activateVersion.invoke(app, admin, { procedureKey, versionNumber, seenActive })

async function serve(definition: object): Promise<void> {
  const { procedureKey } = await create(definition)
  await activate(procedureKey, 1, null)
}

test.each([
  ['a caller', false],
  ['a caller of its caller', true],
])(
  'of %s and a change that breaks it, activated at once, one goes live',
  async (_name, isFar) => {
    for (let round = 0; round < 12; round += 1) {
      const name = `${isFar ? 'FAR' : 'NEAR'}_${round}`
      const [base, between, user] = [`BASE_${name}`, `BETWEEN_${name}`, `USER_${name}`]
      await serve(definitionOf(base, { output: { ok: 'true' } }))
      if (isFar)
        await serve(callerOfKey(between, base, { output: { ok: 'steps.who.output.output.ok' } }))
      await operations.createVersion.invoke(app, admin, {
        procedureKey: base,
        definition: definitionOf(base, { output: { ok: "'yes'" } }),
      })
      const stop = {
        key: 'stop',
        action: 'Stop',
        when: 'steps.who.output.output.ok',
        end: 'declined',
      }
      await create(callerOfKey(user, isFar ? between : base, {}, stop))

      const results = await Promise.allSettled([activate(base, 2, 1), activate(user, 1, null)])

      const lost = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason] : [],
      )
      expect(lost).toEqual([expect.objectContaining({ code: 'VERSION_HAS_ERRORS' })])
    }
  },
  60_000,
)
