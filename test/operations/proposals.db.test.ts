import { beforeAll, describe, expect, it } from 'vitest'
import type { Id } from '../../src/domain/ids.ts'
import type { Caller } from '../../src/operations/define.ts'
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
const ann = callerOf('ann', ['author'])
const bob = callerOf('bob', ['approver'])
const bot = callerOf('bot', ['agent'])
const root = callerOf('root')
const idOf = (id: string) => ({ proposalId: id as Id<'proposal'> })
const get = (id: string) => operations.getProposal.invoke(app, ann, idOf(id))
const accept = (id: string, by: Caller = ann, more: object = {}) =>
  operations.acceptProposal.invoke(app, by, { ...idOf(id), ...more })
const dismiss = (id: string, reason = 'Not ours to do', by: Caller = ann) =>
  operations.dismissProposal.invoke(app, by, { ...idOf(id), reason })
const list = (input: object = {}) => operations.listProposals.invoke(app, ann, input)
const experience = async (situation: string, more: object = {}) => {
  const recorded = await operations.recordExperience.invoke(app, bot, {
    ...{ situation, actionSequence: [{ tool: 'look' }], outcome: 'Done', outcomeType: 'success' },
    ...more,
  })
  return recorded.experience.id
}
const holdsOf = (holderId: string) =>
  db.asOwner('default', async (client) => {
    const { rows } = await client.query(
      'SELECT experience_id FROM experience_holds WHERE holder_id = $1 ORDER BY 1',
      [holderId],
    )
    return rows.map((row) => row.experience_id)
  })
const lastEvent = (entityId: string) =>
  operations.listAuditEvents
    .invoke(app, callerOf('aud', ['auditor']), { entityKind: 'proposal', entityId })
    .then(({ items }) => items.filter(({ action }) => action !== 'proposal.read'))

describe('proposing', () => {
  it('keeps what is proposed, why, and by whom, with its event', async () => {
    const experienceIds = [await experience('one'), await experience('two')]
    const { proposalId, isNew, status } = await proposePlain(app, 'KEPT', {
      evidence: plainEvidence({
        experienceIds,
        learnedFrom: { successes: 2 },
        agreement: {
          ...{ trainedOn: 2, heldOut: 2, agreed: 2, heldOutFailures: 0, agreedFailures: 0 },
        },
      }),
      learnedFrom: { experienceIds },
    })

    expect({ isNew, status }).toEqual({ isNew: true, status: 'open' })
    expect(await get(proposalId)).toEqual({
      proposalId,
      kind: 'demonstration',
      status: 'open',
      procedureKey: 'KEPT',
      name: 'KEPT',
      source: 'experiences',
      madeWith: 'rules',
      experienceCount: 2,
      ticketCount: 0,
      createdBy: { id: 'bot', kind: 'human' },
      createdAt: expect.any(String),
      ...{ decidedBy: null, decidedAt: null, reason: null, versionId: null, erasedAt: null },
      definition: expect.objectContaining({ key: 'KEPT' }),
      evidence: expect.objectContaining({ experienceIds, learnedFrom: { successes: 2 } }),
      baseVersionId: null,
      findings: [],
      target: { isThere: false, newest: null, base: null, isCurrent: true },
    })
    expect(await holdsOf(proposalId)).toEqual([...experienceIds].sort())
    expect(await lastEvent(proposalId)).toMatchObject([
      {
        action: 'proposal.made',
        details: { kind: 'demonstration', procedureKey: 'KEPT', source: 'experiences' },
      },
    ])
  })

  it('answers what the same evidence has proposed, whatever is made of it now', async () => {
    const experienceIds = [await experience('three'), await experience('four')]
    const first = await proposePlain(app, 'SAME', { learnedFrom: { experienceIds } })
    const again = await proposePlain(app, 'OTHER_NAME', {
      learnedFrom: { experienceIds: [...experienceIds].reverse() },
    })

    expect(again).toEqual({ ...first, isNew: false })
    expect((await get(first.proposalId)).procedureKey).toBe('SAME')
  })

  it('never proposes again what was dismissed', async () => {
    const { proposalId } = await proposePlain(app, 'UNWANTED')
    await dismiss(proposalId)

    expect(await proposePlain(app, 'UNWANTED')).toEqual({
      ...{ proposalId, isNew: false, status: 'dismissed' },
    })
  })

  it('takes an improvement of another version as other evidence', async () => {
    const version = await operations.createProcedure.invoke(app, ann, {
      definition: plainDefinition('TWICE'),
    })
    const { versionId, procedureKey } = version
    const first = await proposeBetter(app, version, 'Be kind')
    const other = await operations.createVersion.invoke(app, ann, { procedureKey })

    const second = await proposeBetter(app, other, 'Be kind')
    expect(second.isNew).toBe(true)
    expect(second.proposalId).not.toBe(first.proposalId)
    expect((await get(first.proposalId)).baseVersionId).toBe(versionId)
  })

  it('refuses a definition that cannot be read, and evidence that is gone', async () => {
    const invalid = proposePlain(app, 'BAD', { definition: { key: 'BAD' } })
    await expect(invalid).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })

    const id = await experience('gone')
    await db.asOwner('default', (client) =>
      client.query('DELETE FROM experiences WHERE id = $1', [id]),
    )
    const gone = proposePlain(app, 'GONE', { evidence: plainEvidence({ experienceIds: [id] }) })
    await expect(gone).rejects.toMatchObject({
      ...{ code: 'PROPOSAL_EVIDENCE_GONE', retryable: true, details: { gone: [id] } },
    })
  })

  it('says what a check finds now, a tool that nobody allows among it', async () => {
    const steps = [{ key: 'go', action: 'Go', tool: 'launch_rocket', with: {} }]
    const { proposalId } = await proposePlain(app, 'ROCKET', {
      definition: { ...plainDefinition('ROCKET'), steps, completionConditions: [] },
    })

    const { findings } = await get(proposalId)
    expect(findings).toContainEqual(
      expect.objectContaining({ rule: 'tool-unknown', severity: 'error' }),
    )
    // It is a draft like any other: the finding blocks its activation, not its making.
    const draft = await accept(proposalId)
    expect(draft.findings.map(({ rule }) => rule)).toContain('tool-unknown')
  })
})

describe('the list', () => {
  it('has what is open, newest first, in pages; more when asked', async () => {
    const ids: string[] = []
    for (const n of [1, 2, 3]) ids.push((await proposePlain(app, `LISTED_${n}`)).proposalId)
    await dismiss(String(ids[1]))

    const first = await list({ limit: 1 })
    expect(first.items.map(({ proposalId }) => proposalId)).toEqual([ids[2]])
    const second = await list({ limit: 1, cursor: first.nextCursor })
    expect(second.items.map(({ proposalId }) => proposalId)).toEqual([ids[0]])
    expect((await list({ status: 'dismissed', procedureKey: 'LISTED_2' })).items).toMatchObject([
      { proposalId: ids[1], reason: 'Not ours to do', decidedBy: { id: 'ann', kind: 'human' } },
    ])
    const all = await list({ status: 'all', limit: 3 })
    expect(all.items.map(({ proposalId }) => proposalId)).toEqual([...ids].reverse())
    expect((await list({ kind: 'gap', status: 'all' })).items).toEqual([])
  })
})

describe('accepting', () => {
  it('makes a procedure with its first draft, which tells where it is from', async () => {
    const { proposalId } = await proposePlain(app, 'FRESH')

    const draft = await accept(proposalId)

    expect(draft).toMatchObject({
      ...{ procedureKey: 'FRESH', versionNumber: 1, status: 'draft', proposalId },
    })
    const version = await operations.getProcedure.invoke(app, ann, { procedureKey: 'FRESH' })
    expect(version.version.proposalId).toBe(proposalId)
    expect(await get(proposalId)).toMatchObject({
      ...{ status: 'accepted', versionId: draft.versionId },
      decidedBy: { id: 'ann' },
      target: { isThere: true, newest: 1 },
    })
    expect((await lastEvent(proposalId))[0]).toMatchObject({
      action: 'proposal.accepted',
      details: { procedureKey: 'FRESH', versionNumber: 1, versionId: draft.versionId },
    })
  })

  it('makes the next version of a procedure that is there, with its scenarios', async () => {
    const scenarios = [{ name: 'known', input: {}, expect: { end: 'resolved' } }]
    const version = await operations.createProcedure.invoke(app, callerOf('cleo', ['author']), {
      definition: plainDefinition('NEXT'),
      scenarios,
    })
    const { proposalId } = await proposeBetter(app, version, 'Be kind')

    const draft = await accept(proposalId)

    expect(draft).toMatchObject({ procedureKey: 'NEXT', versionNumber: 2, name: 'Be kind' })
    const { scenarios: copied } = await operations.listScenarios.invoke(app, ann, {
      ...{ procedureKey: 'NEXT', versionNumber: 2 },
    })
    expect(copied).toMatchObject([{ name: 'known' }])
  })

  it('makes whoever accepts its author, and whoever proposed it: neither approves it', async () => {
    const { proposalId } = await proposePlain(app, 'GOVERNED', {}, callerOf('pat', ['agent']))
    await accept(proposalId, callerOf('quinn', ['approver']))
    const at = { procedureKey: 'GOVERNED', versionNumber: 1 }
    const { digest } = await operations.getApproval.invoke(app, bob, at)
    const approve = (id: string) =>
      operations.reviewVersion.invoke(app, callerOf(id, ['approver']), {
        ...{ ...at, digest, verdict: 'approve' },
      })

    await expect(approve('quinn')).rejects.toMatchObject({ code: 'REVIEW_OWN_WORK' })
    await expect(approve('pat')).rejects.toMatchObject({ code: 'REVIEW_OWN_WORK' })
    await expect(approve('bob')).resolves.toMatchObject({ verdict: 'approve' })
  })

  it('is done once, and says by whom', async () => {
    const { proposalId } = await proposePlain(app, 'ONCE')
    await accept(proposalId)

    const refused = { code: 'PROPOSAL_NOT_OPEN', details: { status: 'accepted', by: 'ann' } }
    await expect(accept(proposalId)).rejects.toMatchObject(refused)
    await expect(dismiss(proposalId)).rejects.toMatchObject(refused)
    const { versions } = await operations.getProcedure.invoke(app, ann, { procedureKey: 'ONCE' })
    expect(versions).toHaveLength(1)
  })

  it('of an improvement whose base is not the newest is refused, and done on top when asked', async () => {
    const version = await operations.createProcedure.invoke(app, ann, {
      definition: plainDefinition('MOVED'),
    })
    const { proposalId } = await proposeBetter(app, version, 'Be kind')
    await operations.createVersion.invoke(app, ann, { procedureKey: 'MOVED' })

    await expect(accept(proposalId)).rejects.toMatchObject({
      code: 'PROPOSAL_BASE_STALE',
      details: { procedureKey: 'MOVED', base: 1, newest: 2 },
    })
    expect((await get(proposalId)).status).toBe('open')
    expect(await accept(proposalId, ann, { rebase: true })).toMatchObject({ versionNumber: 3 })
  })

  it('is for people: no agent and no service accepts or dismisses, whatever its roles', async () => {
    const { proposalId } = await proposePlain(app, 'HUMAN')
    for (const kind of ['ai', 'service'] as const) {
      const machine = { ...root, principal: { ...root.principal, kind } }
      const refused = { code: 'PROPOSAL_NEEDS_PERSON', details: { id: 'root', kind } }
      await expect(accept(proposalId, machine)).rejects.toMatchObject(refused)
      await expect(dismiss(proposalId, 'No', machine)).rejects.toMatchObject(refused)
    }
    expect((await get(proposalId)).status).toBe('open')
  })

  it('leaves a draft like any other: it is edited, and deleted; the proposal stays accepted', async () => {
    const { proposalId } = await proposePlain(app, 'EDITED')
    await accept(proposalId)
    const at = { procedureKey: 'EDITED', versionNumber: 1 }
    const edited = await operations.editDraft.invoke(app, ann, {
      ...{ ...at, revision: 1, definition: plainDefinition('EDITED', 'Better') },
    })
    expect(edited).toMatchObject({ name: 'Better', proposalId })

    await operations.deleteDraft.invoke(app, ann, at)
    expect((await get(proposalId)).status).toBe('accepted')
    await expect(accept(proposalId)).rejects.toMatchObject({ code: 'PROPOSAL_NOT_OPEN' })
  })
})

describe('dismissing', () => {
  it('needs a reason, and tells the log nothing of it', async () => {
    const { proposalId } = await proposePlain(app, 'REASON')
    await expect(dismiss(proposalId, ' ')).rejects.toMatchObject({ code: 'REQUEST_INVALID' })

    await dismiss(proposalId, 'Cleo said so')
    const [event] = await lastEvent(proposalId)
    expect(event).toMatchObject({ action: 'proposal.dismissed' })
    expect(JSON.stringify(event)).not.toContain('Cleo')
  })

  it('gives what it held free for pruning; an acceptance does not', async () => {
    const ids = [await experience('poor one'), await experience('poor two')]
    const [kept, left] = [ids[0] ?? '', ids[1] ?? '']
    const accepted = await proposePlain(app, 'HOLDS_ON', {
      evidence: plainEvidence({ experienceIds: [kept] }),
    })
    const dismissed = await proposePlain(app, 'LETS_GO', {
      evidence: plainEvidence({ experienceIds: [left] }),
    })
    await accept(accepted.proposalId)
    await dismiss(dismissed.proposalId)
    await db.asOwner('default', async (client) => {
      await client.query('ALTER TABLE experiences DISABLE TRIGGER USER')
      await client.query(`UPDATE experiences SET created_at = '2020-01-01Z'`)
      await client.query('ALTER TABLE experiences ENABLE TRIGGER USER')
    })

    const { deletedItems } = await operations.pruneExperiences.invoke(app, root, {})

    const deleted = deletedItems.map(({ id }) => id)
    expect(deleted).toContain(left)
    expect(deleted).not.toContain(kept)
  })
})

it('knows what is there: another id is refused', async () => {
  const nowhere = 'prp_000000000000000000000'
  for (const ask of [get, accept, dismiss]) {
    await expect(ask(nowhere)).rejects.toMatchObject({ code: 'PROPOSAL_NOT_FOUND' })
  }
})

beforeAll(async () => {
  await operations.createWebhook.invoke(app, root, {
    url: 'https://hooks.example.com/proposals',
    events: ['proposal.made', 'proposal.accepted', 'proposal.dismissed'],
  })
})

it('tells who listens of each act, with ids alone', async () => {
  const made = await proposePlain(app, 'TOLD')
  const draft = await accept(made.proposalId)
  const other = await proposePlain(app, 'TOLD_OF')
  await dismiss(other.proposalId, 'Because Cleo said so')

  const told = await db.asOwner('default', async (client) => {
    const { rows } = await client.query(
      'SELECT type, subject, data FROM webhook_deliveries WHERE subject = ANY ($1) ORDER BY seq',
      [[made.proposalId, other.proposalId]],
    )
    return rows
  })
  const of = (proposalId: string, procedureKey: string) => ({
    ...{ tenantId: 'default', proposalId, procedureKey, kind: 'demonstration' },
    auditSeq: expect.any(Number),
  })
  expect(told).toEqual([
    { type: 'proposal.made', subject: made.proposalId, data: of(made.proposalId, 'TOLD') },
    {
      ...{ type: 'proposal.accepted', subject: made.proposalId },
      data: { ...of(made.proposalId, 'TOLD'), versionId: draft.versionId, versionNumber: 1 },
    },
    { type: 'proposal.made', subject: other.proposalId, data: of(other.proposalId, 'TOLD_OF') },
    {
      type: 'proposal.dismissed',
      subject: other.proposalId,
      data: of(other.proposalId, 'TOLD_OF'),
    },
  ])
})
