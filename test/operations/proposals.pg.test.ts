import { expect, it } from 'vitest'
import type { Id } from '../../src/domain/ids.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import {
  plainDefinition,
  plainEvidence,
  proposeBetter,
  proposePlain,
} from '../support/proposals.ts'

const { app, db } = await openTestApp({ tools: [] })

const codesOf = (results: readonly PromiseSettledResult<unknown>[]) =>
  results
    .map((result) => (result.status === 'fulfilled' ? 'done' : Object(result.reason).code))
    .sort()
const at = <T>(count: number, run: (n: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, n) => run(n)))
const idOf = (id: string) => ({ proposalId: id as Id<'proposal'> })

it('is accepted by one of twenty who accept at once, or dismiss', async () => {
  for (let round = 0; round < 5; round += 1) {
    const key = `RACE_${round}`
    const { proposalId } = await proposePlain(app, key)

    const results = await at<unknown>(20, (n) =>
      n % 4 === 3
        ? operations.dismissProposal.invoke(app, callerOf(`p${n}`, ['admin']), {
            ...{ ...idOf(proposalId), reason: 'No' },
          })
        : operations.acceptProposal.invoke(app, callerOf(`p${n}`, ['admin']), idOf(proposalId)),
    )

    const codes = codesOf(results)
    expect(codes.filter((code) => code === 'done')).toHaveLength(1)
    expect(codes.filter((code) => code === 'PROPOSAL_NOT_OPEN')).toHaveLength(19)
    const { status, versionId } = await operations.getProposal.invoke(
      app,
      callerOf(),
      idOf(proposalId),
    )
    const drafts = await db.asOwner('default', async (client) => {
      const { rows } = await client.query(
        'SELECT id FROM procedure_versions WHERE proposal_id = $1',
        [proposalId],
      )
      return rows.map(({ id }) => id)
    })
    expect(drafts).toEqual(status === 'accepted' ? [versionId] : [])
  }
})

it('is one of what twenty propose at once from the same evidence', async () => {
  const results = await at(20, (n) => proposePlain(app, `P_${n}`, { learnedFrom: { told: 'it' } }))

  const proposed = results.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  )
  expect(proposed).toHaveLength(20)
  expect(proposed.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(new Set(proposed.map(({ proposalId }) => proposalId)).size).toBe(1)
})

it('of one procedure makes one next version each, of two improvements at once the later is stale', async () => {
  const version = await operations.createProcedure.invoke(app, callerOf(), {
    definition: plainDefinition('IMPROVED'),
  })
  const ids: string[] = []
  for (const feedback of ['a', 'b', 'c', 'd']) {
    ids.push((await proposeBetter(app, version, feedback)).proposalId)
  }

  const results = await at(4, (n) =>
    operations.acceptProposal.invoke(app, callerOf(`q${n}`), idOf(ids[n] ?? '')),
  )

  expect(codesOf(results)).toEqual([...Array(3).fill('PROPOSAL_BASE_STALE'), 'done'])
})

it('of a new procedure that two proposals name makes both drafts, or says that it is there', async () => {
  const first = await proposePlain(app, 'TWO', { learnedFrom: { told: 'first' } })
  const second = await proposePlain(app, 'TWO', { learnedFrom: { told: 'second' } })

  const results = await at(2, (n) =>
    operations.acceptProposal.invoke(
      app,
      callerOf(`r${n}`),
      idOf(n === 0 ? first.proposalId : second.proposalId),
    ),
  )

  for (const code of codesOf(results)) expect(['done', 'PROCEDURE_EXISTS']).toContain(code)
  expect(codesOf(results)).toContain('done')
})

it('loses its words to an erasure, or its evidence before, and is never half erased', async () => {
  const ann = callerOf('ann')
  for (let round = 0; round < 8; round += 1) {
    const customerId = `customer ${round}`
    const { experience } = await operations.recordExperience.invoke(app, ann, {
      ...{ situation: `met by ${customerId}`, actionSequence: [{ tool: 'look' }], customerId },
      ...{ outcome: 'Done', outcomeType: 'success' },
    })
    const [proposed, erased] = await Promise.allSettled([
      proposePlain(app, `ERASED_${round}`, {
        evidence: plainEvidence({ experienceIds: [experience.id], situation: customerId }),
      }),
      operations.eraseCustomer.invoke(app, ann, { customerId, reason: 'asked' }),
    ])

    expect(erased.status).toBe('fulfilled')
    if (proposed.status === 'rejected') {
      expect(proposed.reason).toMatchObject({ code: 'PROPOSAL_EVIDENCE_GONE' })
      continue
    }
    const proposal = await operations.getProposal.invoke(app, ann, idOf(proposed.value.proposalId))
    expect(proposal).toMatchObject({ definition: null, erasedAt: expect.any(String) })
    expect(JSON.stringify(proposal)).not.toContain(customerId)
  }
})
