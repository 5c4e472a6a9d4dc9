import { hashOf } from '../domain/canonical.ts'
import type { Id } from '../domain/ids.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import type { Agreement } from './demonstration-agreement.ts'
import type { LearnedGuard, LearnedParameter } from './generalise.ts'

export const proposalKinds = ['demonstration', 'improvement', 'gap'] as const
/** What made it: actions that worked, what is known of a version, or tickets that nothing fitted. */
export type ProposalKind = (typeof proposalKinds)[number]

export const proposalStatuses = ['open', 'accepted', 'dismissed'] as const
export type ProposalStatus = (typeof proposalStatuses)[number]

export const evidenceSources = [
  'demonstration',
  'experiences',
  'feedback',
  'gap',
  'guided_run',
] as const
/** Where the evidence is from. */
export type EvidenceSource = (typeof evidenceSources)[number]

/** What is said of a proposal that no model wrote. */
export const madeWithRules = 'rules'

/**
 * Why a draft is proposed. Of an erased proposal only `source`, `madeWith`, ids, counts and `agreement` are left: whatever
 * is added that holds words of people belongs to the others.
 */
export interface ProposalEvidence {
  readonly source: EvidenceSource
  /** `rules`, or the name of the model that wrote the definition. */
  readonly madeWith: string
  readonly experienceIds: readonly string[]
  readonly executionIds: readonly string[]
  /** Triage items, of a gap. */
  readonly ticketIds?: readonly string[] | undefined
  readonly ticketCount?: number | undefined
  /** Counts alone, by what was counted. */
  readonly learnedFrom?: Readonly<Record<string, number>> | undefined
  /** Null where there was too little to keep any apart. */
  readonly agreement: Agreement | null
  readonly parameters: readonly LearnedParameter[]
  readonly guards: readonly LearnedGuard[]
  /** Tools that were used and are not on the allowlist. */
  readonly unknownTools?: readonly string[] | undefined
  /** What some runs did and nothing tells when. */
  readonly leftOutTools?: readonly string[] | undefined
  /** What was asked for, of an improvement. */
  readonly feedback?: string | undefined
  readonly situation?: string | undefined
  /** Why a model was not asked, or its answer not taken. */
  readonly notes?: readonly string[] | undefined
}

/** A draft that the system suggests. It becomes one when a person accepts it, and never by itself. */
export interface Proposal {
  readonly id: Id<'proposal'>
  readonly kind: ProposalKind
  readonly status: ProposalStatus
  readonly procedureKey: string
  /** As it would be drafted; null once somebody was erased whom it came from. */
  readonly definition: JsonObject | null
  /** Of an improvement: what it improves. */
  readonly baseVersionId: Id<'version'> | null
  readonly evidence: ProposalEvidence
  readonly evidenceHash: string
  readonly createdBy: ProposalActor
  readonly createdAt: Date
  readonly decidedBy: ProposalActor | null
  readonly decidedAt: Date | null
  /** Why it was dismissed. */
  readonly reason: string | null
  /** The draft that was made of it; it may have been deleted since. */
  readonly versionId: Id<'version'> | null
  readonly erasedAt: Date | null
}

/** Who has made or decided something, as it is kept. */
export type ProposalActor = Omit<Principal, 'tenantId'>

/** What a proposal was learned from, by which the same is told: never by what came of it. */
export type LearnedFrom =
  /** Recorded experiences, in any order. */
  | { readonly experienceIds: readonly string[] }
  /** What was told by hand: actions, or feedback with its base. */
  | { readonly told: Json }
  /** Tickets, in any order. */
  | { readonly ticketIds: readonly string[] }

/**
 * The hash by which evidence is known again: of the kind, of the version that is to be improved, and of what was learned
 * from. So one set of runs proposes one procedure, and one improvement of each version.
 */
export function evidenceHash(
  kind: ProposalKind,
  baseVersionId: string | null,
  from: LearnedFrom,
): string {
  const learnedFrom =
    'told' in from
      ? { told: from.told }
      : 'ticketIds' in from
        ? { ticketIds: [...new Set(from.ticketIds)].sort() }
        : { experienceIds: [...new Set(from.experienceIds)].sort() }
  return hashOf({ kind, baseVersionId, learnedFrom })
}
