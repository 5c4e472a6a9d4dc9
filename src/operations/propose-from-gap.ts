import { z } from 'zod'
import { listSimilarExperiences } from '../db/queries/experience-evidence.ts'
import { listExperiencesByIds } from '../db/queries/experiences.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import type { Demonstration } from '../learning/demonstration.ts'
import { demonstrationOf } from '../learning/demonstration-of-experience.ts'
import type { Gap } from '../learning/gap.ts'
import { nameOfGap, skeletonOf, withRouting } from '../learning/gap-draft.ts'
import { type Generalised, generalise, maxDemonstrations } from '../learning/generalise.ts'
import { madeWithRules, type ProposalEvidence } from '../learning/proposal.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { findGaps, gapPeriod } from './find-gaps.ts'
import { noteRead } from './note-read.ts'
import { learnedOutput, toLearnedOutput } from './proposal-output.ts'
import { propose } from './propose.ts'
import { freeKey } from './propose-procedure.ts'
import { escalationId, procedureKey } from './shapes.ts'
import type { TicketVectors } from './ticket-vectors.ts'
import { openWithholding } from './withhold-sensitive.ts'
import { notAsked, writeLearned } from './write-proposal.ts'

/** What one customer alone has said is no playbook. */
const minTickets = 2
/** So many tickets are looked for among what was experienced. */
const comparedTickets = 5

/**
 * Proposes a playbook for a gap: learned from what agents have done in situations like its tickets, where some have
 * succeeded; else a skeleton, that is found by such tickets and asks a person. It waits for a person, and is nothing until
 * somebody makes a draft of it.
 *
 * A gap proposes once: as long as a ticket of it is in what was proposed before, that is answered, also where it was
 * dismissed.
 *
 * @see docs/gaps.md
 */
export const proposeFromGap = defineOperation({
  name: 'proposeFromGap',
  summary: 'Propose a playbook for tickets that none covers',
  input: z.strictObject({
    escalationId: escalationId.describe(
      'Any ticket of the gap: its `gapId`, or that of an example',
    ),
    ...gapPeriod,
    key: procedureKey
      .optional()
      .describe('The key of the playbook; that of one that is there: its next version'),
    name: z.string().regex(/\S/, 'must not be empty').max(200).optional(),
  }),
  output: learnedOutput,
  errors: [
    'GAP_NOT_FOUND',
    'PROPOSAL_NOT_LEARNED',
    'PROPOSAL_EVIDENCE_GONE',
    'DEFINITION_INVALID',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'approver', 'admin'],
  async run(context, { escalationId: ticketId, from, to, ...named }) {
    const { app, caller, db } = context
    const found = await findGaps(context, 'proposeFromGap', { from, to })
    await noteRead(context, { action: 'gaps.listed', entityKind: 'tenant' })
    const gap = found.gaps.find(({ tickets }) =>
      tickets.some((ticket) => ticket.escalationId === ticketId),
    )
    if (gap === undefined) throw new ServiceError('GAP_NOT_FOUND', { escalationId: ticketId })
    if (gap.proposal !== null) {
      return toLearnedOutput(db.kysely, { ...gap.proposal, isNew: false })
    }
    const told = await withoutSensitive(context, gap)
    requireSeveral(told)
    const learned = await learnFromOthers(context, told, found.vectors, named.name)
    const { definition, evidence } = await draft(context, told, learned, named)
    const ticketIds = told.tickets.map((ticket) => ticket.escalationId)
    const proposed = await propose(app, db.tenantId, caller, {
      kind: 'gap',
      definition,
      learnedFrom: { ticketIds },
      evidence: {
        source: 'gap',
        ...evidence,
        executionIds: told.tickets.flatMap(({ executionId }) => executionId ?? []),
        ...{ ticketIds, ticketCount: ticketIds.length },
      },
    })
    return toLearnedOutput(db.kysely, proposed)
  },
})

interface Named {
  readonly key?: string | undefined
  readonly name?: string | undefined
}

/** What others have done in situations like the tickets. */
interface Learned extends Generalised {
  readonly demonstrations: readonly Demonstration[]
  readonly experienceIds: readonly string[]
}

/** A draft outlives its tickets, and what is sensitive never enters one. */
async function withoutSensitive({ db }: OperationContext, gap: Gap): Promise<Gap> {
  const { text: withhold } = await openWithholding(db)
  return {
    ...gap,
    tickets: gap.tickets.map((ticket) => ({
      ...ticket,
      text: ticket.text && withhold(ticket.text),
    })),
  }
}

function requireSeveral({ tickets }: Gap): void {
  const texts = new Set(tickets.flatMap(({ text }) => text ?? []))
  if (texts.size >= minTickets) return
  const message = `It has ${tickets.length} ${tickets.length === 1 ? 'ticket' : 'tickets'}, and ${texts.size === 1 ? 'one text' : 'no text'} among them. A playbook is proposed from ${minTickets} different ones: wait for more, or write it by hand.`
  throw new ServiceError('PROPOSAL_NOT_LEARNED', { problems: [{ path: 'escalationId', message }] })
}

/**
 * What agents have done in situations like these tickets; undefined where nobody has succeeded, or nothing follows from it.
 * What runs have experienced is left out: for those there is a playbook.
 */
async function learnFromOthers(
  { app, db }: OperationContext,
  gap: Gap,
  { model, minSimilarity, of }: TicketVectors,
  name: string | undefined,
): Promise<Learned | undefined> {
  const ids = new Set<string>()
  for (const { escalationId: id } of gap.tickets.slice(-comparedTickets)) {
    const vector = of(id)
    if (vector === undefined) continue
    const similar = { model, vector, minSimilarity }
    for (const one of await listSimilarExperiences(db, similar, maxDemonstrations)) ids.add(one)
  }
  const contracts = new Map([...app.tools.current].map(([tool, { contract }]) => [tool, contract]))
  const experiences = (await listExperiencesByIds(db.kysely, [...ids]))
    .filter(({ executionId }) => executionId === null)
    .flatMap((experience) => {
      const demonstration = demonstrationOf(experience, contracts)
      return demonstration === undefined ? [] : [{ experience, demonstration }]
    })
    .slice(-maxDemonstrations)
  const demonstrations = experiences.map(({ demonstration }) => demonstration)
  if (!demonstrations.some(({ outcomeType }) => outcomeType === 'success')) return undefined
  const learned = generalise({
    name: name ?? nameOfGap(gap) ?? undefined,
    demonstrations,
    contracts,
  })
  if ('problems' in learned) return undefined
  const experienceIds = experiences.map(({ experience }) => experience.id)
  return { ...learned, demonstrations, experienceIds }
}

async function draft(
  context: OperationContext,
  gap: Gap,
  learned: Learned | undefined,
  named: Named,
): Promise<{
  readonly definition: unknown
  readonly evidence: Omit<ProposalEvidence, 'source' | 'executionIds'>
}> {
  const situation = gap.tickets[0]?.text?.slice(0, 2_000).toWellFormed()
  const counts = { tickets: gap.tickets.length }
  const common = { ...(situation !== undefined && { situation }) }
  if (learned === undefined) {
    return {
      definition: await keyed(context, skeletonOf(gap, named), named),
      evidence: {
        ...{ madeWith: madeWithRules, experienceIds: [], agreement: null },
        ...{ parameters: [], guards: [], learnedFrom: counts, ...common },
      },
    }
  }
  const routed = await keyed(context, withRouting(learned.definition, gap), named)
  const definition = requireDefinition(routed)
  const { app, db } = context
  const written = await writeLearned(app, db.kysely, definition, learned.demonstrations)
  const isWritten = written.definition !== undefined
  return {
    definition: written.definition ?? definition,
    evidence: {
      madeWith: isWritten ? written.madeWith : madeWithRules,
      experienceIds: learned.experienceIds,
      learnedFrom: { ...counts, ...learned.learnedFrom },
      agreement: learned.agreement,
      parameters: learned.parameters,
      guards: learned.guards,
      unknownTools: learned.unknownTools,
      leftOutTools: learned.leftOutTools,
      ...common,
      ...(!isWritten && written.why !== notAsked && { notes: [written.why] }),
    },
  }
}

async function keyed(
  context: OperationContext,
  definition: JsonObject,
  { key }: Named,
): Promise<JsonObject> {
  return { ...definition, key: key ?? (await freeKey(context, definition.key)) }
}
