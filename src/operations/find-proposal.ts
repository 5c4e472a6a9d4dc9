import type { Db } from '../db/connect.ts'
import { findProcedure } from '../db/queries/procedures.ts'
import { findProposal as findRow } from '../db/queries/proposals.ts'
import { listVersions } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import type { Proposal } from '../learning/proposal.ts'

/** @throws ServiceError `PROPOSAL_NOT_FOUND`. */
export async function getProposalRow(db: Db, id: Id<'proposal'>): Promise<Proposal> {
  const proposal = await findRow(db, id)
  if (proposal === undefined) throw new ServiceError('PROPOSAL_NOT_FOUND', { proposalId: id })
  return proposal
}

/** @throws ServiceError `PROPOSAL_NOT_OPEN` with who has decided it, and when. */
export function requireOpen({ id, status, decidedBy, decidedAt }: Proposal): void {
  if (status === 'open') return
  throw new ServiceError('PROPOSAL_NOT_OPEN', {
    proposalId: id,
    status,
    by: decidedBy?.id ?? 'somebody',
    at: decidedAt?.toISOString() ?? '',
  })
}

/** Only people decide what becomes of a proposal, and the database holds it as well (`proposals_by_people`). */
export function requirePersonToDecide({ id, kind }: Principal): void {
  if (kind !== 'human') throw new ServiceError('PROPOSAL_NEEDS_PERSON', { id, kind })
}

/** Where a proposal would lead, as things stand. */
export interface Target {
  /** Whether the procedure is there already: the draft is its next version then. */
  readonly isThere: boolean
  /** The newest version that it has; null for none. */
  readonly newest: number | null
  /** Of an improvement: the version that it improves; null where that was deleted. */
  readonly base: number | null
  /** False for an improvement of a version that is not the newest any more. */
  readonly isCurrent: boolean
}

export async function findTarget(
  db: Db,
  { procedureKey, baseVersionId }: Pick<Proposal, 'procedureKey' | 'baseVersionId'>,
): Promise<Target> {
  const procedure = await findProcedure(db, procedureKey)
  const versions = procedure === undefined ? [] : await listVersions(db, procedure.id)
  const base = versions.find(({ id }) => id === baseVersionId)
  return {
    isThere: procedure !== undefined,
    newest: versions[0]?.versionNumber ?? null,
    base: base?.versionNumber ?? null,
    isCurrent: baseVersionId === null || versions[0]?.id === baseVersionId,
  }
}
