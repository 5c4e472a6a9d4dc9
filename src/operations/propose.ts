import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { holdExperiences } from '../db/queries/experience-pruning.ts'
import {
  findProposalByEvidence,
  insertProposal,
  insertProposalSources,
  keepSources,
} from '../db/queries/proposals.ts'
import { canonicalValue } from '../domain/canonical.ts'
import { definitionHash } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import { type Id, newId } from '../domain/ids.ts'
import { isJsonObject } from '../domain/json.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import {
  evidenceHash,
  type LearnedFrom,
  type ProposalEvidence,
  type ProposalKind,
  type ProposalStatus,
} from '../learning/proposal.ts'
import type { Caller } from './define.ts'

/** A draft to be proposed, and what it was learned from. */
export interface Suggestion {
  readonly kind: ProposalKind
  /** A definition document. */
  readonly definition: unknown
  /** Of an improvement: what it improves. */
  readonly baseVersionId?: Id<'version'> | undefined
  /** What it names by id is held, and with whose words it goes. */
  readonly evidence: ProposalEvidence
  /** By what the same evidence is known again. */
  readonly learnedFrom: LearnedFrom
  /** Whom it is about, besides what `evidence` names. */
  readonly customerId?: string | undefined
}

export interface Proposed {
  readonly proposalId: Id<'proposal'>
  /** False: the same evidence has proposed before, and what it proposed is answered, also where that was dismissed. */
  readonly isNew: boolean
  readonly status: ProposalStatus
}

/**
 * Proposes a draft, once for the same evidence, with the event of it. What it was learned from is held, so that it is there
 * when somebody asks why. It is the one way in which proposals are made, whoever makes them.
 *
 * @throws ServiceError `DEFINITION_INVALID`; `PROPOSAL_EVIDENCE_GONE` where something that it was learned from was erased
 *   meanwhile: learn again, from what is there.
 */
export async function propose(
  app: AppContext,
  tenantId: string,
  by: Pick<Caller, 'principal' | 'origin'>,
  suggestion: Suggestion,
): Promise<Proposed> {
  const { kind, evidence, baseVersionId = null } = suggestion
  const definition = requireDefinition(suggestion.definition)
  const stored = canonicalValue(definition)
  if (!isJsonObject(stored)) throw new TypeError('a definition is an object')
  const hash = evidenceHash(kind, baseVersionId, suggestion.learnedFrom)
  const sources = {
    experienceIds: evidence.experienceIds,
    executionIds: evidence.executionIds,
    ticketIds: evidence.ticketIds ?? [],
  }
  const { kysely } = app.database.forTenant(tenantId)
  return kysely.transaction().execute(async (transaction) => {
    const before = await findProposalByEvidence(transaction, hash)
    if (before !== undefined) return existing(before)
    const gone = await keepSources(transaction, sources)
    if (gone.length > 0) throw new ServiceError('PROPOSAL_EVIDENCE_GONE', { gone })
    const now = app.clock.now()
    const id = newId('proposal', now)
    const isNew = await insertProposal(transaction, tenantId, {
      id,
      kind,
      procedureKey: definition.key,
      definition: stored,
      baseVersionId,
      evidence,
      evidenceHash: hash,
      createdBy: by.principal,
      createdAt: new Date(now),
    })
    if (!isNew) {
      // Somebody has proposed it in this very moment.
      const other = await findProposalByEvidence(transaction, hash)
      if (other === undefined) throw new TypeError('what is in the way of a proposal is there')
      return existing(other)
    }
    await holdExperiences(transaction, tenantId, id, sources.experienceIds)
    await insertProposalSources(transaction, tenantId, id, sources, suggestion.customerId)
    await insertAuditEvent(transaction, {
      action: 'proposal.made',
      entityKind: 'proposal',
      entityId: id,
      afterHash: definitionHash(definition),
      details: {
        kind,
        procedureKey: definition.key,
        source: evidence.source,
        madeWith: evidence.madeWith,
        evidenceHash: hash,
      },
      principal: by.principal,
      origin: by.origin,
      at: now,
    })
    return { proposalId: id, isNew: true, status: 'open' }
  })
}

/** What the same evidence has proposed before, so that nobody asks a model for it again. */
export async function findProposed(
  db: Db,
  kind: ProposalKind,
  baseVersionId: Id<'version'> | null,
  learnedFrom: LearnedFrom,
): Promise<Proposed | undefined> {
  const before = await findProposalByEvidence(db, evidenceHash(kind, baseVersionId, learnedFrom))
  return before && existing(before)
}

function existing({
  id,
  status,
}: {
  readonly id: Id<'proposal'>
  readonly status: ProposalStatus
}): Proposed {
  return { proposalId: id, isNew: false, status }
}
