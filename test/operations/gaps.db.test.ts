import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Id } from '../../src/domain/ids.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { findText } from '../support/marked.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks at an account',
  effect: 'read',
  input: z.object({ account: z.string() }),
  output: z.object({ state: z.string() }),
  run: async ({ account }) => {
    if (account === 'A-0') throw new ToolRefused('there is none')
    return { state: 'open' }
  },
})

const day = 86_400_000
let now = Date.UTC(2026, 4, 1)
const clock = { now: () => ++now }
const { app, db } = await openTestApp({ tools: [look], clock })
const root = callerOf('root')
const agent = callerOf('bot', ['agent'])
const auditor = callerOf('aud', ['auditor'])

const list = (input: object = {}, by = root) => operations.listGaps.invoke(app, by, input)
const propose = (escalationId: string, more: object = {}) =>
  operations.proposeFromGap.invoke(app, root, { escalationId, ...more })
const proposalOf = (proposalId: string) =>
  operations.getProposal.invoke(app, root, { proposalId: proposalId as Id<'proposal'> })
const arrive = async (text: string, customerId?: string) => {
  const { triageId } = await operations.resolveTicket.invoke(app, agent, {
    ticket: { text },
    ...(customerId !== undefined && { customerId }),
  })
  if (triageId === null) throw new Error(`something fits '${text}'`)
  return triageId
}
const run = async (text: string | undefined, account: string, customerId?: string) => {
  const { execution } = await operations.startExecution.invoke(app, agent, {
    procedureKey: 'LOOKS',
    ...(text !== undefined && { ticket: { text } }),
    input: { account },
    ...(customerId !== undefined && { customerId }),
  })
  return execution.id
}
/** Each test has a period of its own. */
const later = () => {
  now += 40 * day
}

beforeAll(async () => {
  const definition = {
    ...{ key: 'LOOKS', name: 'Look', description: 'Looks.', internal: true },
    input: {
      type: 'object',
      required: ['account'],
      properties: {
        account: { type: 'string' },
        pin: { type: 'string', pattern: '^PIN-[0-9]{4}$', sensitive: true },
      },
    },
    steps: [{ key: 'look', action: 'Look', tool: 'look', with: { account: '{{input.account}}' } }],
  }
  await operations.createProcedure.invoke(app, root, { definition })
  await operations.activateVersion.invoke(app, root, {
    ...{ procedureKey: 'LOOKS', versionNumber: 1, seenActive: null },
  })
})

describe('the list of gaps', () => {
  it('is empty where every ticket had its playbook', async () => {
    await run('Look at A-1', 'A-1')

    expect(await list()).toEqual({
      ...{ from: expect.any(String), to: expect.any(String), ticketCount: 0, isCut: false },
      ...{ model: 'ngram-512-v1', fellBack: false, minSimilarity: 0.32, items: [] },
      hasMore: false,
    })
  })

  it('puts tickets together that are alike, with when they came and what they say', async () => {
    later()
    const first = await arrive('My gift card is empty, the PIN-1234')
    await arrive('Do you sell umbrellas?')
    const last = await arrive('My gift card is empty')
    const at = new Date(now).toISOString()

    const { items, ticketCount } = await list()

    expect(ticketCount).toBe(3)
    expect(items).toMatchObject([
      {
        ...{ gapId: first, kind: 'unmatched', name: 'Gift card empty', count: 2 },
        ...{ code: 'no_procedure', procedureKey: null, versionNumber: null, stepKey: null },
        examples: [
          { escalationId: last, executionId: null, text: 'My gift card is empty' },
          {
            escalationId: first,
            text: expect.stringMatching(/^My gift card is empty, the (?!PIN)/),
          },
        ],
        proposal: null,
      },
      { count: 1, name: null, examples: [{ text: 'Do you sell umbrellas?' }] },
    ])
    const [gap] = items
    expect(Date.parse(gap?.firstSeenAt ?? '')).toBeLessThan(Date.parse(gap?.lastSeenAt ?? ''))
    expect((gap?.lastSeenAt ?? '') <= at).toBe(true)
    expect((await list({ limit: 1 })).hasMore).toBe(true)
    expect((await list({ kind: 'escalated' })).items).toEqual([])
  })

  it('has what was handed over, apart by reason, version and step; with no ticket as well', async () => {
    later()
    const runs = [await run('See my account', 'A-0'), await run(undefined, 'A-0')]
    await arrive('See my account')

    const { items } = await list()

    const handedOver = {
      ...{ kind: 'escalated', code: 'tool_failed', procedureKey: 'LOOKS', versionNumber: 1 },
      ...{ stepKey: 'look', count: 1 },
    }
    expect(items).toMatchObject([
      { kind: 'unmatched', count: 1 },
      { ...handedOver, examples: [{ executionId: runs[1], text: null }], name: null },
      { ...handedOver, examples: [{ executionId: runs[0], text: 'See my account' }] },
    ])
  })

  it('has no ticket whose playbook was stopped: that had one', async () => {
    later()
    const definition = {
      ...{ key: 'STOPS', name: 'Refund of a parcel', description: 'Refund of a lost parcel' },
      issuePatterns: ['my parcel is lost'],
      steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
    }
    await operations.createProcedure.invoke(app, root, { definition })
    await operations.activateVersion.invoke(app, root, {
      ...{ procedureKey: 'STOPS', versionNumber: 1, seenActive: null },
    })
    await operations.stopProcedure.invoke(app, root, { procedureKey: 'STOPS', reason: 'Wrong' })
    const { triageReason } = await operations.resolveTicket.invoke(app, agent, {
      ticket: { text: 'refund of a lost parcel, my parcel is lost' },
    })

    expect(triageReason?.code).toBe('procedure_stopped')
    expect((await list()).items).toEqual([])
  })

  it('looks at its period alone, and refuses one that ends before it begins', async () => {
    later()
    const from = new Date(now).toISOString()
    await arrive('Old umbrellas')
    now += 31 * day
    await arrive('New raincoats')

    expect((await list()).items).toMatchObject([{ examples: [{ text: 'New raincoats' }] }])
    expect((await list({ from })).ticketCount).toBe(2)
    const to = new Date(now - day).toISOString()
    expect((await list({ from, to })).items).toMatchObject([{ count: 1 }])
    await expect(list({ from: to, to: from })).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it('makes the vector of a ticket once', async () => {
    later()
    const id = await arrive('Something about hats')
    await list()

    const { kysely } = db.database.forTenant('default')
    const rowsOf = () =>
      kysely.selectFrom('ticket_embeddings').selectAll().where('escalation_id', '=', id).execute()
    const rows = await rowsOf()
    expect(rows).toMatchObject([{ model: 'ngram-512-v1', dimensions: 512 }])
    await db.asOwner('default', (client) =>
      client.query(`UPDATE ticket_embeddings SET text_hash = 'kept' WHERE escalation_id = $1`, [
        id,
      ]),
    )
    await list()
    expect(await rowsOf()).toMatchObject([{ text_hash: 'kept' }])
  })

  it('is for who decides on proposals and for auditors, and that it was read is told once', async () => {
    later()
    await arrive('Something about scarves')
    await list({}, auditor)
    await list({}, auditor)

    const { items } = await operations.listAuditEvents.invoke(app, auditor, {
      ...{ action: 'gaps.listed', principal: 'aud' },
    })
    expect(items).toMatchObject([{ entityKind: 'tenant', entityId: 'default' }])
    await expect(list({}, agent)).rejects.toMatchObject({ code: 'ROLE_MISSING' })
  })

  it('loses what was erased, its vector as well', async () => {
    later()
    const id = await arrive('Zyx7 lost a glove', 'C-Zyx7')
    const execution = await run('Zyx7 sees an account', 'A-0', 'C-Zyx7')
    const { items } = await operations.listEscalations.invoke(app, root, {
      executionId: execution,
    })
    for (const escalationId of [id, String(items[0]?.id)]) {
      await operations.resolveEscalation.invoke(app, root, {
        ...{ escalationId: escalationId as Id<'escalation'>, resolution: 'Done' },
      })
    }
    expect((await list()).items).toHaveLength(2)

    await operations.eraseCustomer.invoke(app, root, { customerId: 'C-Zyx7', reason: 'asked for' })

    expect((await list()).items).toEqual([])
    expect(await findText(db, 'Zyx7')).toEqual([])
    const vectors = await db.asOwner('default', (client) =>
      client.query('SELECT FROM ticket_embeddings WHERE escalation_id = ANY ($1)', [
        [id, items[0]?.id],
      ]),
    )
    expect(vectors.rows).toEqual([])
    const late = db.asApp('default', (client) =>
      client.query(
        `INSERT INTO ticket_embeddings (tenant_id, model, escalation_id, text_hash, embedding)
         SELECT tenant_id, model, $1, text_hash, embedding FROM ticket_embeddings LIMIT 1`,
        [id],
      ),
    )
    await expect(late).rejects.toMatchObject({ constraint: 'ticket_embeddings_of_tickets' })
  })
})

describe('a proposal of a gap', () => {
  it('is a skeleton where nobody has shown how it is done, held by its tickets', async () => {
    later()
    const tickets = [
      await arrive('My gift card PIN-1234 shows nothing', 'C-Wvu8'),
      await arrive('My gift card shows nothing'),
    ]
    const proposed = await propose(String(tickets[1]))

    expect(proposed).toMatchObject({
      ...{ isNew: true, status: 'open', procedureKey: 'GIFT_CARD_SHOWS_NOTHING_PLAYBOOK' },
      ...{ madeWith: 'rules', learnedFrom: { tickets: 2 } },
    })
    const proposal = await proposalOf(proposed.proposalId)
    expect(proposal).toMatchObject({
      ...{ kind: 'gap', source: 'gap', ticketCount: 2, experienceCount: 0 },
      evidence: { ticketIds: tickets, executionIds: [], situation: expect.any(String) },
    })
    expect(JSON.stringify(proposal)).not.toContain('PIN-1234')
    expect(proposal.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect((await list()).items).toMatchObject([
      { proposal: { proposalId: proposed.proposalId, status: 'open' } },
    ])

    await operations.resolveEscalation.invoke(app, root, {
      ...{ escalationId: tickets[0] as Id<'escalation'>, resolution: 'Done' },
    })
    await operations.eraseCustomer.invoke(app, root, { customerId: 'C-Wvu8', reason: 'asked for' })
    expect(await proposalOf(proposed.proposalId)).toMatchObject({ definition: null })
    // What is left of the gap has proposed still.
    expect((await list()).items).toMatchObject([
      { count: 1, proposal: { proposalId: proposed.proposalId } },
    ])
  })

  it('is made once, also when more of it comes, and stays away once it was dismissed', async () => {
    later()
    const first = await arrive('Do you sell large umbrellas?')
    await arrive('Do you sell small umbrellas?')
    const { proposalId } = await propose(first)
    const more = await arrive('Do you sell umbrellas?')

    expect(await propose(more)).toMatchObject({ proposalId, isNew: false, status: 'open' })
    await operations.dismissProposal.invoke(app, root, {
      ...{ proposalId: proposalId as Id<'proposal'>, reason: 'We do not' },
    })
    expect(await propose(more)).toMatchObject({ proposalId, isNew: false, status: 'dismissed' })
    expect((await list()).items).toEqual([])
    expect((await list({ dismissed: true })).items).toMatchObject([
      { count: 3, proposal: { proposalId, status: 'dismissed' } },
    ])
    // Tickets that came since are a gap of their own, in a period of their own.
    const from = new Date(now).toISOString()
    await arrive('Do you sell tiny umbrellas?')
    const own = await arrive('Do you sell blue umbrellas?')
    expect(await propose(own, { from })).toMatchObject({ isNew: true })
  })

  it('is learned from what agents have done in situations like its tickets', async () => {
    later()
    for (const [n, outcomeType] of ['success', 'success', 'success', 'failure'].entries()) {
      await operations.recordExperience.invoke(app, agent, {
        situation: `The loyalty points of A-${n + 1} are missing`,
        actionSequence: [
          { tool: 'look', input: { account: `A-${n + 1}` }, outputSummary: 'state: open' },
          { tool: 'book_points', input: { account: `A-${n + 1}` }, outputSummary: 'booked' },
        ],
        ...{ outcome: 'Done', outcomeType },
      })
    }
    // What a run did is no evidence: for that there is a playbook.
    await run('The loyalty points of A-9 are missing', 'A-9')
    await operations.sealExecutions.invoke(app, root, {})
    const id = await arrive('My loyalty points are missing')
    await arrive('The loyalty points of my account are missing')

    const proposed = await propose(id, { name: 'Missing points' })

    expect(proposed).toMatchObject({
      ...{ isNew: true, procedureKey: 'MISSING_POINTS_PLAYBOOK', name: 'Missing points' },
      learnedFrom: { tickets: 2, successes: 3, failures: 1 },
      ...{ parameters: ['account'], unknownTools: ['book_points'] },
    })
    const { definition, evidence, experienceCount } = await proposalOf(proposed.proposalId)
    expect(experienceCount).toBe(4)
    expect(evidence.experienceIds).toHaveLength(4)
    expect(definition).toMatchObject({
      issuePatterns: expect.arrayContaining(['loyalty points']),
      examples: { match: ['My loyalty points are missing', expect.any(String)] },
      steps: [{ tool: 'look' }, { ask: 'agent' }],
    })
  })

  it('names the runs that were handed over, and a key that is free', async () => {
    later()
    const texts = ['See the account of my mother', 'See the account of my father']
    const runs = [await run(texts[0], 'A-0'), await run(texts[1], 'A-0')]
    const { items } = await list({ kind: 'escalated' })

    const proposed = await propose(String(items[0]?.gapId), { name: 'Stops' })
    expect(proposed.procedureKey).toBe('STOPS_PLAYBOOK')
    const { evidence, definition } = await proposalOf(proposed.proposalId)
    expect(evidence.executionIds).toEqual(runs)
    expect(definition?.description).toContain('version 1 of LOOKS handed to a person at look')
  })

  it('is refused of one ticket alone, and of one that is in no gap', async () => {
    later()
    const id = await arrive('Where is my hat?')

    await expect(propose(id)).rejects.toMatchObject({ code: 'PROPOSAL_NOT_LEARNED' })
    await arrive('Where is my hat?')
    await expect(propose(id)).rejects.toMatchObject({ code: 'PROPOSAL_NOT_LEARNED' })
    await expect(propose('esc_000000000000000000000')).rejects.toMatchObject({
      ...{ code: 'GAP_NOT_FOUND', details: { escalationId: 'esc_000000000000000000000' } },
    })
    later()
    await expect(propose(id)).rejects.toMatchObject({ code: 'GAP_NOT_FOUND' })
  })
})

it('makes the gaps and the draft of docs/gaps.md of its tickets', async () => {
  later()
  const page = readFileSync(new URL('../../docs/gaps.md', import.meta.url), 'utf8')
  const block = (kind: string): unknown =>
    parse(new RegExp(`\`\`\`yaml ${kind}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '')
  const tickets: readonly string[] = Object(block('tickets'))
  for (const text of tickets) await arrive(text)

  const { items } = await list()

  expect(items.map(({ name, count }) => ({ name, count }))).toEqual(block('gaps'))
  const { proposalId } = await propose(String(items[0]?.gapId))
  expect((await proposalOf(proposalId)).definition).toMatchObject(Object(block('draft')))
})
