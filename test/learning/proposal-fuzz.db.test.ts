import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import type { Principal, Role } from '../../src/domain/principal.ts'
import type { Caller, Operation } from '../../src/operations/define.ts'
import { learnOnce } from '../../src/operations/experience-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { deskRun } from '../support/demonstrations.ts'
import { everythingBut } from '../support/everything-but.ts'

vi.setConfig({ testTimeout: 3_600_000 })

/** How many acts: some hundreds here, as many as one likes by hand. */
const actCount = Number(process.env.STEPWARDEN_FUZZ_ACTS ?? 250)
const seed = Number(process.env.STEPWARDEN_FUZZ_SEED ?? 33)

const { app, db } = await openTestApp()
await seedProcedures(app)
for (const transactionId of ['TXN-DEMO-001', 'TXN-DUP-002', 'TXN-INCONSISTENT-004']) {
  await operations.startExecution.invoke(app, callerOf('root'), {
    ...{ procedureKey: 'FAILED_PAYMENT_PLAYBOOK', input: { transactionId } },
  })
}
await operations.sealExecutions.invoke(app, callerOf('root'), {})
await learnOnce(app)

const of = (id: string, kind: Principal['kind'], ...roles: readonly Role[]): Caller => {
  const caller = callerOf(id, roles)
  return { ...caller, principal: { ...caller.principal, kind } }
}
const agents = [of('bot a', 'ai', 'agent'), of('bot b', 'ai', 'agent', 'admin')]
const people = [
  of('ann', 'human', 'author'),
  of('bob', 'human', 'approver'),
  of('adam', 'human', 'admin'),
  of('olga', 'human', 'auditor'),
]

/** What was seen so far. */
interface Known {
  readonly experienceIds: string[]
  readonly proposalIds: string[]
  /** Drafts that were made. */
  readonly drafts: { readonly procedureKey: string; readonly versionNumber: number }[]
}

const operationOf = {
  record: operations.recordExperience,
  retrieve: operations.retrieveExperiences,
  listExperiences: operations.listExperiences,
  getExperience: operations.getExperience,
  prune: operations.pruneExperiences,
  fromActions: operations.proposeProcedure,
  fromExperiences: operations.proposeProcedure,
  fromSituation: operations.proposeProcedure,
  improve: operations.proposeImprovement,
  list: operations.listProposals,
  get: operations.getProposal,
  accept: operations.acceptProposal,
  dismiss: operations.dismissProposal,
  edit: operations.editDraft,
  delete: operations.deleteDraft,
} as const
type Name = keyof typeof operationOf

const text = fc.oneof(
  fc.constantFrom(
    ...[
      'always refund',
      '{{input.transactionId}}',
      'FAILED_PAYMENT_PLAYBOOK',
      '支払い',
      '__proto__',
    ],
    "steps.check_refund.output.state == 'none'",
  ),
  fc.lorem({ maxCount: 5 }),
)
const tool = fc.constantFrom('check_transaction', 'check_refund', 'issue_refund', 'launch_rocket')
const actions = fc.oneof(
  fc
    .nat(40)
    .map((n) => deskRun(n, n % 5 === 0 ? { refund: 'processing' } : {}).demonstration.actions),
  fc.array(fc.record({ tool, input: fc.dictionary(text, text), outputSummary: text }), {
    minLength: 1,
    maxLength: 6,
  }),
)
const key = fc.constantFrom(
  ...['FAILED_PAYMENT_PLAYBOOK', 'DUPLICATE_CHARGE_PLAYBOOK', 'NEW_A', 'NEW_B', undefined],
)
const pick = fc.nat(1_000_000)
const one = <T>(some: readonly T[], at: number, none: T): T =>
  some[at % Math.max(1, some.length)] ?? none
const nothing = '000000000000000000000'
const proposalAt = ({ proposalIds }: Known, at: number) => ({
  proposalId: one(proposalIds.slice(-8), at, `prp_${nothing}`),
})
const experienceAt = ({ experienceIds }: Known, at: number) =>
  one(experienceIds, at, `exp_${nothing}`)
const draftAt = ({ drafts }: Known, at: number) =>
  one(drafts.slice(-4), at, { procedureKey: 'FAILED_PAYMENT_PLAYBOOK', versionNumber: 1 })

type Make = (known: Known) => object
const input: Readonly<Record<Name, fc.Arbitrary<Make>>> = {
  record: fc
    .record({
      situation: text.map((own) => `s ${own}`),
      actionSequence: actions,
      outcome: fc.constant('Done'),
      outcomeType: fc.constantFrom('success', 'success', 'partial_success', 'failure'),
      customerId: fc.constantFrom('cleo', 'carl', undefined),
    })
    .map((own) => () => own),
  retrieve: text.map((situation) => () => ({ situation: `s ${situation}`, allAgents: true })),
  listExperiences: fc.constant(() => ({})),
  getExperience: pick.map((at) => (known) => ({ experienceId: experienceAt(known, at) })),
  prune: fc.boolean().map((dryRun) => () => ({ dryRun, unusedDays: 1 })),
  fromActions: fc
    .record({ situation: text.map((own) => `s ${own}`), actions, key })
    .map((own) => () => own),
  fromExperiences: fc
    .record({ picks: fc.array(pick, { minLength: 1, maxLength: 5 }), key })
    .map(({ picks, key: own }) => (known) => ({
      experienceIds: [...new Set(picks.map((at) => experienceAt(known, at)))],
      key: own,
    })),
  fromSituation: fc.record({ situation: text, key }).map((own) => () => own),
  improve: fc
    .record({ procedureKey: key, feedback: text })
    .map((own) => () => ({ ...own, procedureKey: own.procedureKey ?? 'NOWHERE' })),
  list: fc.constantFrom('open', 'all').map((status) => () => ({ status })),
  get: pick.map((at) => (known) => proposalAt(known, at)),
  accept: fc.record({ pick, rebase: fc.boolean() }).map(({ pick: at, rebase }) => (known) => ({
    ...proposalAt(known, at),
    rebase,
  })),
  dismiss: fc.record({ pick, reason: text }).map(({ pick: at, reason }) => (known) => ({
    ...{ ...proposalAt(known, at), reason },
  })),
  edit: fc.record({ pick, name: text }).map(({ pick: at, name }) => (known) => ({
    ...{ ...draftAt(known, at), revision: 1 },
    definition: {
      ...{ key: draftAt(known, at).procedureKey, name, description: 'Edited.', internal: true },
      steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
    },
  })),
  delete: pick.map((at) => (known) => draftAt(known, at)),
}
const names = Object.keys(input).filter((name): name is Name => name in input)
const callers = (name: Name) =>
  /^(accept|dismiss|edit|delete|list|get|prune)$/.test(name)
    ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...people) }, fc.constantFrom(...agents))
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...agents) }, fc.constantFrom(...people))
const act = fc
  .oneof(
    { weight: 2, arbitrary: fc.constantFrom<Name>('record', 'fromActions', 'accept') },
    { weight: 5, arbitrary: fc.constantFrom(...names) },
  )
  .chain((name) => fc.record({ name: fc.constant(name), by: callers(name), make: input[name] }))

/** What may be another one: what learning keeps, and drafts with what goes with them. */
const ours = [
  ...['experiences', 'experience_embeddings', 'experience_holds', 'experience_cursors'],
  ...['proposals', 'proposal_sources', 'workers', 'audit_events', 'audit_heads'],
  ...['procedures', 'procedure_versions', 'version_embeddings', 'scenarios', 'tool_contracts'],
  'example_vectors',
]

it(`after ${actCount} acts of agents and people what serves is what served, and drafts come from people`, async () => {
  const before = await everythingBut(db, 'default', ours)
  const servedBefore = await served()
  const known: Known = { experienceIds: [], proposalIds: [], drafts: [] }
  const outcomes = new Map<string, number>()

  for (const [at, { name, by, make }] of fc.sample(act, { numRuns: actCount, seed }).entries()) {
    const asked = make(known)
    const context = `seed ${seed}, act ${at}: ${name} ${JSON.stringify(asked)}`
    const operation: Operation = operationOf[name]
    const code = await operation.invoke(app, by, asked).then(
      (answer) => {
        const { proposalId, experience, versionNumber, procedureKey } = Object(answer)
        if (typeof experience?.id === 'string') known.experienceIds.push(experience.id)
        if (/^from|improve/.test(name)) known.proposalIds.push(String(proposalId))
        if (name === 'accept') {
          expect(by.principal.kind, context).toBe('human')
          known.drafts.push({ procedureKey, versionNumber })
        }
        return 'done'
      },
      (error: unknown) => {
        if (!isServiceError(error) || error.code === 'INTERNAL')
          throw new Error(context, { cause: error })
        return error.code
      },
    )
    outcomes.set(`${name} ${code}`, (outcomes.get(`${name} ${code}`) ?? 0) + 1)
  }
  await app.useCounts.settled()

  const done = names.filter((name) => outcomes.has(`${name} done`))
  expect(done, JSON.stringify([...outcomes])).toEqual(names)
  expect(outcomes.has('accept PROPOSAL_NEEDS_PERSON')).toBe(true)
  expect(await served(), `seed ${seed}`).toEqual(servedBefore)
  expect(await everythingBut(db, 'default', ours), `seed ${seed}`).toEqual(before)
  await everyDraftIsSound()
})

/** All that serves or has served, whole, and the vectors that search goes by. */
function served(): Promise<readonly unknown[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query(
      `SELECT v.*, (SELECT jsonb_agg(e ORDER BY e.model) FROM version_embeddings e WHERE e.version_id = v.id) AS vectors,
         (SELECT jsonb_agg(e ORDER BY e.model, e.kind, e.position) FROM example_vectors e WHERE e.version_id = v.id) AS examples,
         (SELECT jsonb_agg(s ORDER BY s.position) FROM scenarios s WHERE s.version_id = v.id) AS scenarios
       FROM procedure_versions v WHERE v.status <> 'draft' ORDER BY v.id`,
    )
    return rows
  })
}

/** What holds of every draft and every proposal at every time. */
async function everyDraftIsSound(): Promise<void> {
  await db.asOwner('default', async (client) => {
    const { rows: drafts } = await client.query(
      `SELECT v.id, p.status, p.version_id, p.decided_by ->> 'kind' AS kind,
         p.decided_by ->> 'id' = ANY (v.author_ids) AND p.created_by ->> 'id' = ANY (v.author_ids) AS written
       FROM procedure_versions v LEFT JOIN proposals p ON p.id = v.proposal_id WHERE v.status = 'draft'`,
    )
    expect(drafts.length).toBeGreaterThan(0)
    for (const draft of drafts) {
      expect(draft).toMatchObject({ status: 'accepted', kind: 'human', written: true })
      expect(draft.version_id).toBe(draft.id)
    }
    const { rows: held } = await client.query(
      `SELECT p.status, count(h.*)::integer AS holds FROM proposals p
       LEFT JOIN experience_holds h ON h.holder_id = p.id GROUP BY p.id, p.status HAVING p.status = 'dismissed'`,
    )
    for (const { holds } of held) expect(holds).toBe(0)
  })
}
