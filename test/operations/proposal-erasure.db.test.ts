import { describe, expect, it } from 'vitest'
import type { Id } from '../../src/domain/ids.ts'
import type { ProposalEvidence } from '../../src/learning/proposal.ts'
import { expireRuns } from '../../src/operations/expire-runs.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { findText } from '../support/marked.ts'
import { plainDefinition, plainEvidence, proposePlain } from '../support/proposals.ts'

let ahead = 0
const { app, db } = await openTestApp({ tools: [], clock: { now: () => Date.now() + ahead } })
const root = callerOf('root')
const erase = (customerId: string) =>
  operations.eraseCustomer.invoke(app, root, { customerId, reason: 'asked for' })
const get = (proposalId: string) =>
  operations.getProposal.invoke(app, root, { proposalId: proposalId as Id<'proposal'> })
const accept = (proposalId: string) =>
  operations.acceptProposal.invoke(app, root, { proposalId: proposalId as Id<'proposal'> })
const dismiss = (proposalId: string, reason: string) =>
  operations.dismissProposal.invoke(app, root, { proposalId: proposalId as Id<'proposal'>, reason })

const experienceOf = async (mark: string) => {
  const { experience } = await operations.recordExperience.invoke(app, root, {
    ...{ situation: `${mark} met`, actionSequence: [{ tool: 'look' }], customerId: `C-${mark}` },
    ...{ outcome: 'Done', outcomeType: 'success' },
  })
  return experience.id
}
const agreement = {
  ...{ trainedOn: 2, heldOut: 2, agreed: 2, heldOutFailures: 0, agreedFailures: 0 },
}
const proposeOf = (key: string, mark: string, evidence: Partial<ProposalEvidence>) =>
  proposePlain(app, key, {
    definition: plainDefinition(key, `${mark} helped`),
    evidence: plainEvidence({
      situation: `${mark} met`,
      parameters: [{ name: mark, stepKeys: [] }],
      guards: [{ text: mark, stepKey: null, runs: 1, why: 'failures' }],
      feedback: mark,
      notes: [mark],
      ...evidence,
    }),
  })

describe('erasing a customer', () => {
  it('takes the words of an open proposal, and leaves ids, counts and hashes', async () => {
    const id = await experienceOf('Zyx7')
    const { proposalId } = await proposeOf('OPEN_ONE', 'Zyx7', {
      experienceIds: [id],
      learnedFrom: { successes: 1 },
      agreement,
    })

    await erase('C-Zyx7')

    expect(await findText(db, 'Zyx7')).toEqual([])
    const proposal = await get(proposalId)
    expect(proposal).toMatchObject({ status: 'open', definition: null, name: null, findings: [] })
    expect(proposal.evidence).toEqual({
      ...{ source: 'experiences', madeWith: 'rules', experienceIds: [id], executionIds: [] },
      learnedFrom: { successes: 1 },
      agreement,
      ...{ parameters: [], guards: [] },
    })
    await expect(accept(proposalId)).rejects.toMatchObject({ code: 'PROPOSAL_ERASED' })
    expect(await dismiss(proposalId, 'Nothing is left of it')).toMatchObject({
      ...{ status: 'dismissed', reason: 'Nothing is left of it' },
    })
    // The same evidence is known still.
    expect((await proposePlain(app, 'OPEN_ONE')).isNew).toBe(false)
  })

  it('finds what came from an experience that was pruned since, and a reason that names them', async () => {
    const id = await experienceOf('Wvu8')
    const { proposalId } = await proposeOf('PRUNED_ONE', 'Wvu8', { experienceIds: [id] })
    await dismiss(proposalId, 'Wvu8 is one of a kind')
    ahead += 400 * 86_400_000
    const { deletedItems } = await operations.pruneExperiences.invoke(app, root, {})
    expect(deletedItems.map((item) => item.id)).toContain(id)

    await erase('C-Wvu8')

    expect(await findText(db, 'Wvu8')).toEqual([])
    expect(await get(proposalId)).toMatchObject({ status: 'dismissed', reason: null })
  })

  it('finds what was told by hand about them', async () => {
    const { proposalId } = await proposePlain(app, 'BY_HAND', {
      definition: plainDefinition('BY_HAND', 'Tsr9 helped'),
      evidence: plainEvidence({ source: 'demonstration', situation: 'Tsr9' }),
      customerId: 'C-Tsr9',
    })

    await erase('C-Tsr9')

    expect(await findText(db, 'Tsr9')).toEqual([])
    expect((await get(proposalId)).erasedAt).not.toBeNull()
  })

  it('leaves the draft that a person made of it, which is theirs', async () => {
    const id = await experienceOf('Rqp1')
    const { proposalId } = await proposeOf('DRAFTED', 'Rqp1', { experienceIds: [id] })
    await accept(proposalId)

    await erase('C-Rqp1')

    const places = new Set((await findText(db, 'Rqp1')).map((place) => place.split('.')[0]))
    expect([...places]).toEqual(['procedure_versions'])
    expect(await get(proposalId)).toMatchObject({ status: 'accepted', definition: null })
  })

  it('takes nothing of what came from others', async () => {
    const id = await experienceOf('Other2')
    const { proposalId } = await proposeOf('OTHERS', 'Other2', { experienceIds: [id] })

    await erase('C-Nobody')

    expect((await get(proposalId)).definition).not.toBeNull()
  })
})

it('the words of proposals go after the time for which values are kept', async () => {
  const { proposalId } = await proposeOf('AGED', 'Npo3', { source: 'demonstration' })
  const young = async () => (await get(proposalId)).definition !== null
  await operations.setRetention.invoke(app, root, { days: 30 })
  await expireRuns(app, 'default')
  expect(await young()).toBe(true)

  ahead += 31 * 86_400_000
  await expireRuns(app, 'default')

  expect(await young()).toBe(false)
  expect(await findText(db, 'Npo3')).toEqual([])
})
