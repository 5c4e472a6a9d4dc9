import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import {
  evidenceSources,
  type Proposal,
  type ProposalEvidence,
  proposalKinds,
  proposalStatuses,
} from '../learning/proposal.ts'
import { getProposalRow } from './find-proposal.ts'
import type { Proposed } from './propose.ts'
import { instant, jsonObject } from './shapes.ts'

const actor = z.object({ id: z.string(), kind: z.enum(['human', 'ai', 'service']) })

/** A proposal as lists show it. */
export const proposalListItem = z
  .object({
    proposalId: z.string(),
    kind: z.enum(proposalKinds),
    status: z.enum(proposalStatuses),
    procedureKey: z.string(),
    name: z.string().nullable().describe('Of the procedure; null once it is erased'),
    source: z.enum(evidenceSources).describe('Where the evidence is from'),
    madeWith: z.string().describe('`rules`, or the name of a model'),
    experienceCount: z.int().describe('From how many experiences it was learned'),
    ticketCount: z.int().describe('From how many tickets'),
    createdBy: actor,
    createdAt: instant,
    decidedBy: actor.nullable().describe('Who accepted or dismissed it'),
    decidedAt: instant.nullable(),
    reason: z.string().nullable().describe('Why it was dismissed'),
    versionId: z
      .string()
      .nullable()
      .describe('The draft that was made of it; it may have been deleted since'),
    erasedAt: instant
      .nullable()
      .describe('When its words went, because the data of somebody whom it came from was erased'),
  })
  .meta({ id: 'ProposalListItem' })

/** A proposal, whole. */
export const proposalOutput = proposalListItem.extend({
  definition: jsonObject.nullable().describe('As it would be drafted'),
  evidence: z.custom<ProposalEvidence>().meta({ type: 'object' }),
  baseVersionId: z.string().nullable().describe('Of an improvement: what it improves'),
})

export function toProposalListItem(proposal: Proposal): z.infer<typeof proposalListItem> {
  const { definition, evidence } = proposal
  return {
    proposalId: proposal.id,
    kind: proposal.kind,
    status: proposal.status,
    procedureKey: proposal.procedureKey,
    name: typeof definition?.name === 'string' ? definition.name : null,
    source: evidence.source,
    madeWith: evidence.madeWith,
    experienceCount: evidence.experienceIds.length,
    ticketCount: evidence.ticketCount ?? evidence.ticketIds?.length ?? 0,
    createdBy: { id: proposal.createdBy.id, kind: proposal.createdBy.kind },
    createdAt: proposal.createdAt.toISOString(),
    decidedBy: proposal.decidedBy && {
      id: proposal.decidedBy.id,
      kind: proposal.decidedBy.kind,
    },
    decidedAt: proposal.decidedAt?.toISOString() ?? null,
    reason: proposal.reason,
    versionId: proposal.versionId,
    erasedAt: proposal.erasedAt?.toISOString() ?? null,
  }
}

export function toProposalOutput(proposal: Proposal): z.infer<typeof proposalOutput> {
  return {
    ...toProposalListItem(proposal),
    definition: proposal.definition,
    evidence: proposal.evidence,
    baseVersionId: proposal.baseVersionId,
  }
}

/** What is answered to whoever has something proposed: what became of it is for others. */
export const learnedOutput = z
  .object({
    proposalId: z.string(),
    isNew: z
      .boolean()
      .describe('False: the same evidence has proposed before, and what it proposed is answered'),
    status: z.enum(proposalStatuses),
    procedureKey: z.string(),
    name: z.string().nullable(),
    madeWith: z.string().describe('`rules`, or the name of a model'),
    learnedFrom: z.record(z.string(), z.number()).describe('Counts, by what was counted'),
    agreement: z
      .object({
        trainedOn: z.int(),
        heldOut: z.int(),
        agreed: z.int(),
        heldOutFailures: z.int(),
        agreedFailures: z.int(),
      })
      .nullable()
      .describe('How well one half of the runs foretells the other; null: too few'),
    parameters: z.array(z.string()).describe('What differed, by name'),
    guards: z.array(z.string()).describe('What decides, in words'),
    unknownTools: z
      .array(z.string())
      .describe('Tools that nobody has allowed: a person is asked to do that'),
  })
  .meta({ id: 'LearnedProposal' })

export async function toLearnedOutput(
  db: Db,
  { proposalId, isNew }: Proposed,
): Promise<z.infer<typeof learnedOutput>> {
  const { evidence, ...proposal } = await getProposalRow(db, proposalId)
  const { name, madeWith } = toProposalListItem({ ...proposal, evidence })
  return {
    ...{ proposalId, isNew, status: proposal.status, procedureKey: proposal.procedureKey },
    ...{ name, madeWith },
    learnedFrom: { ...evidence.learnedFrom },
    agreement: evidence.agreement,
    parameters: evidence.parameters.map((parameter) => parameter.name),
    guards: evidence.guards.map(({ text }) => text),
    unknownTools: [...(evidence.unknownTools ?? [])],
  }
}
