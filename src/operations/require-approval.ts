import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import {
  listReviewsOfDigest,
  listReviewsOfVersion,
  readRequiredApprovals,
} from '../db/queries/reviews.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import { changedParts, countVerdicts } from '../domain/approval.ts'
import { ServiceError } from '../domain/errors.ts'
import { type Approval, readApproval } from './approval-digest.ts'

/** What a version goes live with. */
export interface GivenApproval {
  /** Null where this deployment asks for no approval. */
  readonly digest: string | null
  readonly approvedBy: readonly string[]
  /** Findings that those who approved let pass. */
  readonly acknowledged: readonly string[]
}

/**
 * Holds that a version is approved as it is at this moment, by as many people as this deployment asks for. The guard
 * `procedure_versions_approved` of the database holds it again.
 *
 * @throws ServiceError `SCENARIOS_FAILED`, `APPROVAL_DECLINED`, `APPROVAL_MISSING`.
 */
export async function requireApproval(
  app: AppContext,
  transaction: Transaction,
  version: ProcedureVersion,
): Promise<GivenApproval> {
  const { procedureKey, versionNumber } = version
  const required = await readRequiredApprovals(transaction)
  const approval = await readApproval(app, transaction, version)
  const failed = (approval.report?.scenarios ?? []).filter(({ ok }) => !ok)
  const reviews =
    required === 0
      ? []
      : await listReviewsOfDigest(transaction, version.procedureId, approval.digest)
  const { approvedBy, declinedBy } = countVerdicts(reviews, version.authorIds)
  const missing =
    approvedBy.length < required
      ? { required, approvedBy, changed: await findChanged(transaction, version, approval) }
      : undefined
  if (failed.length > 0) {
    const scenarios = failed.map(({ name }) => name)
    // Whoever mends the scenarios alone would be refused a second time.
    const also = { ...(missing && { missing }), ...(declinedBy.length > 0 && { declinedBy }) }
    throw new ServiceError('SCENARIOS_FAILED', { procedureKey, versionNumber, scenarios, ...also })
  }
  if (required === 0) return { digest: null, approvedBy: [], acknowledged: [] }
  if (declinedBy.length > 0) {
    throw new ServiceError('APPROVAL_DECLINED', { procedureKey, versionNumber, by: declinedBy })
  }
  if (missing !== undefined) {
    const { digest } = approval
    throw new ServiceError('APPROVAL_MISSING', { procedureKey, versionNumber, ...missing, digest })
  }
  const acknowledged = reviews
    .filter(({ verdict, reviewerId }) => verdict === 'approve' && approvedBy.includes(reviewerId))
    .flatMap((review) => review.acknowledged)
  return { digest: approval.digest, approvedBy, acknowledged: [...new Set(acknowledged)] }
}

/** What has changed of a version since somebody last approved it; nothing when nobody did, or nothing did. */
export async function findChanged(
  db: Transaction,
  version: Pick<ProcedureVersion, 'id'>,
  approval: Approval,
): Promise<readonly string[]> {
  const reviews = await listReviewsOfVersion(db, version.id)
  const last = reviews.findLast(({ verdict }) => verdict === 'approve')
  return last === undefined ? [] : changedParts(last.parts, approval.parts)
}
