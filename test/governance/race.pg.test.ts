import { expect, test } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const rounds = 100
const { app, db } = await openTestApp({ tools: [] })
const [writer, first, second] = [
  callerOf('writer', ['author']),
  callerOf('first', ['admin']),
  callerOf('second', ['admin']),
]
const procedureKey = 'RACED'
const definition = {
  ...{ key: procedureKey, name: 'Raced', description: 'For tests.', internal: true },
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
  completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
}

async function approvedDraft(name: string): Promise<number> {
  const { versionNumber } = await operations.createVersion.invoke(app, writer, {
    ...{ procedureKey, definition: { ...definition, name } },
  })
  const named = { procedureKey, versionNumber }
  const { digest } = await operations.getApproval.invoke(app, first, named)
  await operations.reviewVersion.invoke(app, first, { ...named, digest, verdict: 'approve' })
  return versionNumber
}

test('of two admins who activate different versions at once one is told so, a hundred times', async () => {
  await operations.createProcedure.invoke(app, writer, { definition })
  await db.requireApprovals(1)
  let seenActive: number | null = null
  for (let round = 0; round < rounds; round += 1) {
    const drafts = [await approvedDraft(`A ${round}`), await approvedDraft(`B ${round}`)]

    const results = await Promise.allSettled(
      drafts.map((versionNumber, index) =>
        operations.activateVersion.invoke(app, index === round % 2 ? first : second, {
          ...{ procedureKey, versionNumber, seenActive },
        }),
      ),
    )

    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => [reason.code, reason.kind])).toEqual([
      ['ACTIVATION_STALE', 'conflict'],
    ])
    const { versions } = await operations.getProcedure.invoke(app, writer, { procedureKey })
    const active = versions.filter(({ status }) => status === 'active')
    expect(active).toHaveLength(1)
    seenActive = active[0]?.versionNumber ?? null
  }

  const { activations } = await operations.getProcedure.invoke(app, writer, { procedureKey })
  expect(activations).toHaveLength(rounds)
  const ranges = [...activations].reverse()
  for (const [index, { activeUntil }] of ranges.entries()) {
    expect(activeUntil).toBe(ranges[index + 1]?.activeFrom ?? null)
  }
}, 120_000)

test('a no and an activation at once come one after the other, and both are told', async () => {
  const { versions } = await operations.getProcedure.invoke(app, writer, { procedureKey })
  let seenActive = versions.find(({ status }) => status === 'active')?.versionNumber ?? null
  for (let round = 0; round < 20; round += 1) {
    const versionNumber = await approvedDraft(`C ${round}`)
    const named = { procedureKey, versionNumber }
    const { digest } = await operations.getApproval.invoke(app, first, named)
    const [activated, declined] = await Promise.allSettled([
      operations.activateVersion.invoke(app, second, { ...named, seenActive }),
      operations.reviewVersion.invoke(app, first, {
        ...{ ...named, digest, verdict: 'decline', comment: 'Not this one.' },
      }),
    ])

    const codes = [activated, declined].map((result) =>
      result.status === 'fulfilled' ? 'done' : result.reason.code,
    )
    expect([
      ['done', 'VERSION_NOT_DRAFT'],
      ['APPROVAL_DECLINED', 'done'],
    ]).toContainEqual(codes)
    if (activated.status === 'fulfilled') seenActive = versionNumber
  }
})

test('a schedule beside the deletion of its draft is made or refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const versionNumber = await approvedDraft(`D ${round}`)
    const named = { procedureKey, versionNumber }
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const results = await Promise.allSettled([
      operations.scheduleActivation.invoke(app, second, { ...named, at, seenActive: null }),
      operations.deleteDraft.invoke(app, writer, named),
    ])

    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.kind).not.toBe('internal')
    }
  }
})

test('two admins who shut each other out at once leave one of them', async () => {
  await db.addTenant('pair')
  const of = (id: string) => callerOf(id, ['admin'], 'pair')
  for (let round = 0; round < 10; round += 1) {
    const pair = [`left-${round}`, `right-${round}`]
    for (const principalId of pair) {
      await operations.createPrincipal.invoke(app, of('root'), { principalId, roles: ['admin'] })
      await operations.createKey.invoke(app, of('root'), { principalId })
    }
    // Whoever was left over before is none of these two.
    const { items } = await operations.listPrincipals.invoke(app, of('root'), { limit: 200 })
    for (const { principalId, disabledAt } of items) {
      if (disabledAt !== null || pair.includes(principalId)) continue
      await operations.changePrincipal.invoke(app, of('root'), { principalId, disabled: true })
    }

    const results = await Promise.allSettled(
      pair.map((principalId) =>
        operations.changePrincipal.invoke(app, of('root'), { principalId, disabled: true }),
      ),
    )

    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(['PRINCIPAL_LAST_ADMIN'])
  }
})
