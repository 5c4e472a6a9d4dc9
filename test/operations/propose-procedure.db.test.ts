import { beforeAll, describe, expect, it } from 'vitest'
import type { Id } from '../../src/domain/ids.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { approveAndActivate } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'
import { deskRun, twelveRuns } from '../support/demonstrations.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'

const { app, db } = await openTestApp({
  embedder: fakeEmbedder({ charged: 3, twice: 3, parcel: 5, lost: 2, Where: 1, is: 1, my: 1 }),
})
const bot = callerOf('bot', ['agent'])
const ann = callerOf('ann', ['author', 'approver'])
const propose = (input: object, by = bot) => operations.proposeProcedure.invoke(app, by, input)
const get = (proposalId: string) =>
  operations.getProposal.invoke(app, ann, { proposalId: proposalId as Id<'proposal'> })

const record = async (run: (typeof twelveRuns)[number], by = bot, more: object = {}) => {
  const { situation, actions, outcome, outcomeType, score } = run.demonstration
  const { experience } = await operations.recordExperience.invoke(app, by, {
    ...{ situation, actionSequence: actions, outcome, outcomeType, score },
    ...more,
  })
  return experience.id
}
const ids: string[] = []
beforeAll(async () => {
  for (const run of twelveRuns) ids.push(await record(run))
})
const actionsOf = (number: number) => deskRun(number).demonstration.actions

describe('from experiences', () => {
  it('becomes a playbook of parameters, guards, and a rule from the failures, with the evidence', async () => {
    const proposed = await propose({ experienceIds: ids, key: 'TWICE_PLAYBOOK', name: 'Twice' })

    expect(proposed).toMatchObject({
      ...{ isNew: true, status: 'open', procedureKey: 'TWICE_PLAYBOOK', name: 'Twice' },
      madeWith: 'rules',
      learnedFrom: { successes: 10, failures: 2, leftOut: 0, agents: 1 },
      agreement: { heldOut: 6, agreed: 6, heldOutFailures: 1, agreedFailures: 1 },
      parameters: ['transactionId'],
      unknownTools: [],
    })
    expect(proposed.guards).toContain('The result of check_gateway is not duplicate_capture')
    const proposal = await get(proposed.proposalId)
    expect(proposal.evidence).toMatchObject({
      source: 'experiences',
      experienceIds: [...ids].sort(),
    })
    expect(proposal.findings.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it('is proposed once, in whatever order they are named', async () => {
    const again = await propose({ experienceIds: [...ids].reverse(), key: 'OTHER_PLAYBOOK' })

    expect(again).toMatchObject({ isNew: false, procedureKey: 'TWICE_PLAYBOOK' })
  })

  it('finds those that are like a situation, successes and failures of all, and no others', async () => {
    const other = await record(deskRun(50), callerOf('eve', ['agent']), {
      situation: 'charged twice says Eve',
    })
    await record(deskRun(51), bot, { situation: 'Where is my parcel' })

    const { proposalId } = await propose({ situation: 'I was charged twice' })

    const { evidence } = await get(proposalId)
    expect(new Set(evidence.experienceIds)).toEqual(new Set([...ids, other]))
    expect(evidence.learnedFrom).toMatchObject({ successes: 11, failures: 2, agents: 2 })
    const own = await propose({ situation: 'I was charged twice', agentIds: ['eve'] })
    expect((await get(own.proposalId)).evidence.experienceIds).toEqual([other])
  })

  it('a key that nobody chose is not that of another playbook', async () => {
    const some = [await record(deskRun(60)), await record(deskRun(61))]
    const first = await propose({ experienceIds: some.slice(0, 1), name: 'Given back' })
    await operations.acceptProposal.invoke(app, ann, {
      proposalId: first.proposalId as Id<'proposal'>,
    })

    const second = await propose({ experienceIds: some, name: 'Given back' })

    expect([first.procedureKey, second.procedureKey]).toEqual([
      'GIVEN_BACK_PLAYBOOK',
      'GIVEN_BACK_PLAYBOOK_2',
    ])
  })

  it('a draft of it runs, once a person has approved it', async () => {
    const some: string[] = []
    for (const n of [70, 71, 72, 73]) some.push(await record(deskRun(n)))
    const { proposalId } = await propose({ experienceIds: some, key: 'RUNS_PLAYBOOK' })
    await operations.acceptProposal.invoke(app, ann, { proposalId: proposalId as Id<'proposal'> })
    await approveAndActivate(app, callerOf('root'), 'RUNS_PLAYBOOK', 1, null)

    const { execution } = await operations.startExecution.invoke(app, bot, {
      procedureKey: 'RUNS_PLAYBOOK',
      input: { transactionId: 'TXN-DUP-002' },
    })

    expect(execution).toMatchObject({ status: 'completed', outcome: 'resolved' })
  })

  it('refuses what is not there, and what nobody has met, with what to do', async () => {
    const missing = 'exp_000000000000000000000'
    await expect(propose({ experienceIds: [...ids.slice(0, 2), missing] })).rejects.toMatchObject({
      ...{ code: 'EXPERIENCE_NOT_FOUND', details: { experienceId: missing } },
    })
    await expect(propose({ situation: 'lost' })).rejects.toMatchObject({
      code: 'PROPOSAL_NOT_LEARNED',
      message: expect.stringContaining('tell the actions'),
    })
    const failed = [await record(deskRun(80, { outcome: 'failure' }))]
    await expect(propose({ experienceIds: failed })).rejects.toMatchObject({
      code: 'PROPOSAL_NOT_LEARNED',
      message: expect.stringContaining('None of the 1 runs has succeeded'),
    })
  })
})

describe('from actions', () => {
  it('becomes steps; a tool that nobody has allowed becomes a person who is asked', async () => {
    const proposed = await propose({
      situation: 'The customer was charged twice for TXN-DUP-110',
      actions: [
        ...actionsOf(10),
        { tool: 'wipe_disk', input: { disk: 'c' }, outputSummary: 'wiped' },
      ],
      key: 'TOLD_PLAYBOOK',
    })

    expect(proposed).toMatchObject({ isNew: true, unknownTools: ['wipe_disk'] })
    const { definition, evidence, findings } = await get(proposed.proposalId)
    expect(JSON.stringify(definition)).toContain('Do by hand: wipe_disk')
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(evidence).toMatchObject({ source: 'demonstration', experienceIds: [] })
  })

  it('is the same proposal, whatever the situation is called', async () => {
    const actions = actionsOf(11)
    const first = await propose({ situation: 'One', actions })
    const again = await propose({ situation: 'Another', actions })

    expect(again).toMatchObject({ isNew: false, proposalId: first.proposalId })
  })

  it('of 5,000 is refused with what a playbook may have', async () => {
    const actions = Array.from({ length: 5_000 }, (_, n) => ({ tool: 'look', input: { n } }))

    await expect(propose({ situation: 'Long', actions })).rejects.toMatchObject({
      ...{ code: 'PROPOSAL_NOT_LEARNED', kind: 'unprocessable' },
      message: expect.stringContaining('It has 5000 actions, and a playbook has at most 200 steps'),
    })
    const more = [...actions, ...actions, ...actions]
    await expect(propose({ situation: 'Longer', actions: more })).rejects.toMatchObject({
      ...{ code: 'REQUEST_INVALID', message: expect.stringContaining('at most 10000 actions') },
    })
  })

  it.each([
    ['请帮我处理退款', '查询'],
    ['पैसे वापस करें', 'देखो'],
    ['استرداد المبلغ', 'ابحث'],
    ['Отмените заказ', 'найти'],
    ['🙂'.repeat(300), '🔎'],
  ])('in other scripts is a playbook that can be read: %s', async (situation, tool) => {
    const { proposalId } = await propose({
      situation,
      actions: [{ tool, input: { [tool]: situation.slice(0, 40) }, outputSummary: situation }],
    })

    const { definition, procedureKey } = await get(proposalId)
    expect(definition).not.toBeNull()
    expect(procedureKey).toMatch(/^[A-Z][A-Z0-9_]{1,63}$/)
  })

  it('holds no template or expression of what a customer has said', async () => {
    const said = '{{input.secret}} steps.a.output.b == 1'
    const { proposalId } = await propose({
      situation: said,
      actions: [
        { tool: 'check_transaction', input: { transactionId: said } },
        { tool: said.slice(0, 50), input: { note: said } },
      ],
    })

    const draft = await operations.acceptProposal.invoke(app, ann, {
      proposalId: proposalId as Id<'proposal'>,
    })
    const { version } = await operations.getProcedure.invoke(app, ann, {
      procedureKey: draft.procedureKey,
    })
    expect(JSON.stringify(version.definition)).not.toContain('{{input.secret}}')
  })
})

it.each([
  [{}, 'situation'],
  [{ actions: [{ tool: 'look' }] }, 'situation'],
  [{ situation: 'x', actions: [] }, 'actions'],
  [{ situation: 'x', agentIds: ['a'], experienceIds: ['exp_000000000000000000000'] }, 'agentIds'],
  [{ situation: 'x', customerId: 'c' }, 'customerId'],
])('refuses %j, and names what is wrong', async (input, path) => {
  await expect(propose(input)).rejects.toMatchObject({
    code: 'REQUEST_INVALID',
    details: { problems: expect.arrayContaining([expect.objectContaining({ path })]) },
  })
})

it('nothing is there before, nor serves after: proposing makes no version', async () => {
  const count = async () =>
    db.asOwner('default', async (client) => {
      const { rows } = await client.query('SELECT count(*)::integer AS n FROM procedure_versions')
      return rows[0].n
    })
  const before = await count()
  await propose({ situation: 'Nothing', actions: actionsOf(12) })

  expect(await count()).toBe(before)
})
