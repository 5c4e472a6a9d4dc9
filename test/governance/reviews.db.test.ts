import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Caller } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const look = (description: string) =>
  defineTool({
    name: 'look',
    description,
    input: z.object({}),
    output: z.object({ state: z.enum(['open', 'closed']) }),
    effect: 'read',
    run: async () => ({ state: 'open' as const }),
  })

const { app, db } = await openTestApp({ tools: [look('Looks.')] })

const ann = callerOf('ann', ['author', 'approver'])
const bob = callerOf('bob', ['approver'])
const cid = callerOf('cid', ['approver'])
const dan = callerOf('dan', ['author'])
let made = 0

/** A definition whose key nobody has yet. */
function definitionOf(more: object = {}) {
  made += 1
  return {
    key: `PLAYBOOK_${made}`,
    name: 'Playbook',
    description: 'For tests.',
    internal: true,
    steps: [{ key: 'look', action: 'Look', tool: 'look', with: {} }],
    completionConditions: [{ text: 'Known', when: 'has(steps.look.output.state)' }],
    ...more,
  }
}

const scenario = (state: string) => ({
  name: 'It is looked at',
  steps: { look: { output: { state } } },
  expect: { end: 'resolved' },
})

type Definition = ReturnType<typeof definitionOf>

async function draft(definition: Definition, caller = ann, of = app) {
  const input = { definition, scenarios: [scenario('open')] }
  await operations.createProcedure.invoke(of, caller, input)
  return definition.key
}

const approvalOf = (procedureKey: string, versionNumber = 1, of = app) =>
  operations.getApproval.invoke(of, bob, { procedureKey, versionNumber })

async function review(
  procedureKey: string,
  caller: Caller,
  verdict = 'approve',
  versionNumber = 1,
  of = app,
) {
  const { digest } = await approvalOf(procedureKey, versionNumber, of)
  const comment = verdict === 'approve' ? undefined : 'Because.'
  return operations.reviewVersion.invoke(of, caller, {
    ...{ procedureKey, versionNumber, digest, verdict, comment },
  })
}

const activate = (
  procedureKey: string,
  versionNumber = 1,
  seenActive: number | null = null,
  of = app,
) => operations.activateVersion.invoke(of, bob, { procedureKey, versionNumber, seenActive })

const edit = (key: string, definition: object, revision = 1, caller = ann) =>
  operations.editDraft.invoke(app, caller, {
    ...{ procedureKey: key, versionNumber: 1, revision, definition },
  })

beforeEach(() => db.requireApprovals(1))

describe('what goes live', () => {
  it('needs the approval of a person who wrote no part of it', async () => {
    const key = await draft(definitionOf())

    await expect(activate(key)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
      details: { required: 1, approvedBy: [], changed: [] },
    })
    await review(key, bob)
    expect(await approvalOf(key)).toMatchObject({ approved: true, approvedBy: ['bob'] })
    expect(await activate(key)).toMatchObject({ status: 'active' })
  })

  it('is what was approved, to the last character', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    await review(key, bob)

    await edit(key, { ...definition, name: 'Playbooks' })

    await expect(activate(key)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
      details: { changed: ['the definition'] },
    })
  })

  it('stays approved when the keys of the definition are put in another order', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    await review(key, bob)

    await edit(key, Object.fromEntries(Object.entries(definition).reverse()))

    expect(await activate(key)).toMatchObject({ status: 'active' })
  })

  it('stays approved when another procedure goes live', async () => {
    const key = await draft(definitionOf())
    await review(key, bob)
    const other = await draft(definitionOf())
    await review(other, bob)
    await activate(other)

    expect(await activate(key)).toMatchObject({ status: 'active' })
  })

  it('is approved with the results of its scenarios', async () => {
    const key = await draft(definitionOf())
    await review(key, bob)

    await operations.setScenarios.invoke(app, ann, {
      ...{ procedureKey: key, versionNumber: 1, revision: 1, scenarios: [scenario('closed')] },
    })

    await expect(activate(key)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
      details: { changed: ['the scenarios', 'what the scenarios come to'] },
    })
  })

  it('has scenarios that come out as they say', async () => {
    const key = await draft(definitionOf())
    const scenarios = [{ ...scenario('open'), expect: { end: 'declined' } }]
    await operations.setScenarios.invoke(app, ann, {
      ...{ procedureKey: key, versionNumber: 1, revision: 1, scenarios },
    })
    await review(key, bob)

    await expect(activate(key)).rejects.toMatchObject({
      code: 'SCENARIOS_FAILED',
      details: { scenarios: ['It is looked at'] },
    })
  })

  it('is told all that it lacks at once', async () => {
    const key = await draft(definitionOf())
    await review(key, bob)
    const scenarios = [{ ...scenario('open'), expect: { end: 'declined' } }]
    await operations.setScenarios.invoke(app, ann, {
      ...{ procedureKey: key, versionNumber: 1, revision: 1, scenarios },
    })
    await review(key, cid, 'decline')

    await expect(activate(key)).rejects.toMatchObject({
      code: 'SCENARIOS_FAILED',
      message: expect.stringMatching(
        /declined by cid\. It also needs the approval of a person .* Since it was approved, the scenarios changed\./,
      ),
      details: { missing: { required: 1, approvedBy: [] }, declinedBy: ['cid'] },
    })
  })

  it('counts what was said by who is shut out by now, which is shown', async () => {
    const admin = callerOf('rut', ['admin'])
    const leaver = { principalId: 'leaver', roles: ['approver'] }
    await operations.createPrincipal.invoke(app, admin, leaver)
    const key = await draft(definitionOf())
    await review(key, callerOf('leaver', ['approver']))
    expect(await approvalOf(key)).toMatchObject({ shutOut: [], activeVersionNumber: null })

    await operations.changePrincipal.invoke(app, admin, { principalId: 'leaver', disabled: true })

    expect(await approvalOf(key)).toMatchObject({ approvedBy: ['leaver'], shutOut: ['leaver'] })
    await activate(key)
    expect(await approvalOf(key)).toMatchObject({ status: 'active', activeVersionNumber: 1 })
  })

  it('is approved with the tools as they were', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    await review(key, bob)
    const config = { tenantId: 'default', logLevel: 'silent' } as const
    await using later = await createContext(db.database, config, {
      tools: [look('Looks twice.')],
      embedder: ngramEmbedder,
    })

    await expect(activate(key, 1, null, later)).rejects.toMatchObject({
      code: 'VERSION_TOOL_CHANGED',
      details: { tools: ['look'] },
    })
    // Saved anew it has the tool of today, which nobody has approved.
    await operations.editDraft.invoke(later, ann, {
      ...{ procedureKey: key, versionNumber: 1, revision: 1, definition },
    })
    await expect(activate(key, 1, null, later)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
      details: { changed: ['the tool look'] },
    })
  })

  it('is approved with what it calls, as far as the call goes', async () => {
    const called = definitionOf({ output: { state: 'steps.look.output.state' } })
    const calledKey = await draft(called)
    await review(calledKey, bob)
    await activate(calledKey)
    const key = await draft(
      definitionOf({
        steps: [
          { key: 'look', action: 'Look', tool: 'look', with: {} },
          { key: 'who', action: 'Call', call: calledKey },
        ],
      }),
    )
    await operations.setScenarios.invoke(app, ann, {
      ...{ procedureKey: key, versionNumber: 1, revision: 1, scenarios: [] },
    })
    await review(key, bob)
    const serve = async (versionNumber: number, more: object) => {
      await operations.createVersion.invoke(app, ann, {
        ...{ procedureKey: calledKey, definition: { ...called, ...more } },
      })
      await review(calledKey, bob, 'approve', versionNumber)
      await activate(calledKey, versionNumber, versionNumber - 1)
    }

    await serve(2, { description: 'Says the same.' })
    expect(await approvalOf(key)).toMatchObject({ approved: true, changed: [] })
    await serve(3, { output: { state: 'steps.look.output.state', more: 'true' } })

    await expect(activate(key)).rejects.toMatchObject({
      code: 'APPROVAL_MISSING',
      details: { changed: [`the input or output of ${calledKey}, which it calls`] },
    })
  })

  it('needs as many people as the deployment says, and each counts once', async () => {
    await db.requireApprovals(2)
    const key = await draft(definitionOf())
    await review(key, bob)
    await review(key, bob)

    await expect(activate(key)).rejects.toMatchObject({ details: { approvedBy: ['bob'] } })
    await review(key, cid)
    expect(await activate(key)).toMatchObject({ status: 'active' })
  })

  it('is hindered by who has declined it, until they think better of it', async () => {
    const key = await draft(definitionOf())
    await review(key, bob)
    await review(key, cid, 'decline')

    await expect(activate(key)).rejects.toMatchObject({
      code: 'APPROVAL_DECLINED',
      details: { by: ['cid'] },
    })
    await review(key, cid, 'comment')
    await expect(activate(key)).rejects.toMatchObject({ code: 'APPROVAL_DECLINED' })
    await review(key, cid)
    expect(await activate(key)).toMatchObject({ status: 'active' })
  })
})

describe('a roll-back', () => {
  it('is one act: a copy of what was approved is approved, and its maker is no author', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    await review(key, bob)
    await activate(key)
    await operations.createVersion.invoke(app, ann, {
      ...{ procedureKey: key, definition: { ...definition, name: 'Worse' } },
    })
    await review(key, bob, 'approve', 2)
    await activate(key, 2, 1)

    // Whoever approved it may be the one who rolls back.
    const admin = callerOf('bob', ['admin'])
    const copy = { procedureKey: key, fromVersionNumber: 1 }
    const { versionNumber } = await operations.createVersion.invoke(app, admin, copy)
    expect(await activate(key, versionNumber, 2)).toMatchObject({ status: 'active' })
    expect(await approvalOf(key, versionNumber)).toMatchObject({ authorIds: ['ann'] })
  })
})

describe('nobody', () => {
  it('approves their own work, whatever part of it they wrote', async () => {
    const definition = definitionOf()
    const key = await draft(definition, dan)
    await edit(key, { ...definition, name: 'Other' })
    await operations.setScenarios.invoke(app, callerOf('cid', ['author', 'approver']), {
      ...{ procedureKey: key, versionNumber: 1, revision: 2, scenarios: [] },
    })

    for (const author of [ann, cid, callerOf('dan', ['approver', 'admin'])]) {
      await expect(review(key, author)).rejects.toMatchObject({ code: 'REVIEW_OWN_WORK' })
    }
    expect(await approvalOf(key)).toMatchObject({ authorIds: ['dan', 'ann', 'cid'] })
  })

  it('gets rid of having written it by a copy with other scenarios, or under another definition', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    const copier = callerOf('bob', ['author', 'approver'])
    // The scenarios of version 2 are those of ann, and the definition of version 3 is hers.
    const under = { procedureKey: key, definition: { ...definition, name: 'Other' } }
    await operations.createVersion.invoke(app, copier, under)
    const copy = { procedureKey: key, fromVersionNumber: 1, scenarios: [] }
    await operations.createVersion.invoke(app, copier, copy)

    for (const versionNumber of [2, 3]) {
      expect(await approvalOf(key, versionNumber)).toMatchObject({ authorIds: ['ann', 'bob'] })
      await expect(review(key, ann, 'approve', versionNumber)).rejects.toMatchObject({
        code: 'REVIEW_OWN_WORK',
      })
    }
  })

  it('gets rid of having written it by having another store the same', async () => {
    const definition = definitionOf()
    const key = await draft(definition, dan)
    const bot: Caller = { ...ann, principal: { ...ann.principal, id: 'bot', kind: 'service' } }
    const same = { procedureKey: key, definition }
    await operations.deleteDraft.invoke(app, dan, { procedureKey: key, versionNumber: 1 })
    await operations.createVersion.invoke(app, bot, same)
    const reviewer = callerOf('dan', ['approver'])

    await expect(review(key, reviewer, 'approve', 2)).rejects.toMatchObject({
      code: 'REVIEW_OWN_WORK',
      details: { authorIds: ['bot', 'dan'] },
    })
    expect(await review(key, bob, 'approve', 2)).toMatchObject({ verdict: 'approve' })
  })

  it('is an approver any more who has edited since', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    await review(key, bob)
    const asAuthor = callerOf('bob', ['author'])
    await edit(key, { ...definition, name: 'Other' }, 1, asAuthor)
    // Back to what was approved: the digest is the same, its approver an author.
    await edit(key, definition, 2, asAuthor)

    await expect(activate(key)).rejects.toMatchObject({ code: 'APPROVAL_MISSING' })
  })

  it.each([
    ['an AI agent', { kind: 'ai' }],
    ['a service', { kind: 'service' }],
    ['a person who has not shown who they are', { unauthenticated: true }],
  ] as const)('approves or declines as %s, but may comment', async (_who, more) => {
    const key = await draft(definitionOf())
    const caller: Caller = { ...bob, principal: { ...bob.principal, ...more } }

    for (const verdict of ['approve', 'decline']) {
      await expect(review(key, caller, verdict)).rejects.toMatchObject({
        code: 'REVIEW_NEEDS_PERSON',
      })
    }
    expect(await review(key, caller, 'comment')).toMatchObject({ verdict: 'comment' })
  })

  it('reviews what they have not seen', async () => {
    const definition = definitionOf()
    const key = await draft(definition)
    const { digest } = await approvalOf(key)
    await edit(key, { ...definition, name: 'Other' })

    const stale = { procedureKey: key, versionNumber: 1, digest, verdict: 'approve' }
    await expect(operations.reviewVersion.invoke(app, bob, stale)).rejects.toMatchObject({
      code: 'REVIEW_STALE',
      kind: 'stale',
    })
    expect((await approvalOf(key)).reviews).toEqual([])
  })

  it('declines without a reason, or approves what is no draft', async () => {
    const key = await draft(definitionOf())
    const { digest } = await approvalOf(key)
    const input = { procedureKey: key, versionNumber: 1, digest, verdict: 'decline' }

    await expect(operations.reviewVersion.invoke(app, bob, input)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [expect.objectContaining({ path: 'comment' })] },
    })
    await review(key, bob)
    await activate(key)
    await expect(review(key, cid)).rejects.toMatchObject({ code: 'VERSION_NOT_DRAFT' })
    expect(await review(key, cid, 'comment')).toMatchObject({ verdict: 'comment' })
  })
})

describe('the audit log', () => {
  const events = () =>
    db.database
      .forTenant('default')
      .kysely.selectFrom('audit_events')
      .select(['action', 'ungoverned', 'details', 'actor_id'])
      .orderBy('seq', 'desc')
      .limit(3)
      .execute()

  it('tells who approved what went live', async () => {
    const key = await draft(definitionOf())
    const { digest } = await review(key, bob)
    await activate(key)

    const [activated, reviewed] = await events()
    expect(activated).toMatchObject({ action: 'version.activated', ungoverned: false })
    expect(JSON.parse(activated?.details ?? '')).toMatchObject({
      approvalDigest: digest,
      approvedBy: ['bob'],
    })
    expect(reviewed).toMatchObject({ action: 'version.reviewed', actor_id: 'bob' })
  })

  it('says ungoverned where no approval is asked for, and who has set it so', async () => {
    await db.requireApprovals(0)
    const key = await draft(definitionOf())
    await activate(key)

    const [activated, , changed] = await events()
    expect(activated).toMatchObject({ action: 'version.activated', ungoverned: true })
    expect(changed).toMatchObject({
      action: 'governance.changed',
      actor_id: 'deployment',
      ungoverned: true,
      details: '{"before":1,"requiredApprovals":0}',
    })
  })
})
