import { z } from 'zod'
import {
  evidenceSources,
  type Proposal,
  type ProposalEvidence,
  proposalKinds,
  proposalStatuses,
} from '../learning/proposal.ts'
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
