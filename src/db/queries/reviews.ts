import { type Selectable, sql } from 'kysely'
import type { ApprovalParts, Verdict } from '../../domain/approval.ts'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ReviewsTable } from '../rows/procedures.ts'

/** One verdict, as stored. */
export interface Review {
  readonly id: Id<'review'>
  readonly versionId: Id<'version'>
  readonly digest: string
  readonly parts: ApprovalParts
  readonly verdict: Verdict
  readonly comment: string | null
  readonly acknowledged: readonly string[]
  readonly reviewerId: string
  readonly reviewerKind: Principal['kind']
  readonly at: Date
}

export async function insertReview(
  transaction: Transaction,
  review: Pick<
    Review,
    'id' | 'versionId' | 'digest' | 'parts' | 'verdict' | 'acknowledged' | 'at'
  > & {
    readonly tenantId: string
    readonly procedureId: Id<'procedure'>
    readonly comment: string | undefined
    readonly reviewer: Principal
  },
): Promise<void> {
  await transaction
    .insertInto('reviews')
    .values({
      tenant_id: review.tenantId,
      id: review.id,
      procedure_id: review.procedureId,
      version_id: review.versionId,
      digest: review.digest,
      parts: canonicalJson(review.parts),
      verdict: review.verdict,
      comment: review.comment ?? null,
      acknowledged: canonicalJson(review.acknowledged),
      reviewer_id: review.reviewer.id,
      reviewer: canonicalJson(review.reviewer),
      at: review.at,
    })
    .execute()
}

/** Those that name this digest, of whichever version of the procedure, in the order in which they were given. */
export async function listReviewsOfDigest(
  db: Db,
  procedureId: Id<'procedure'>,
  digest: string,
): Promise<readonly Review[]> {
  const rows = await db
    .selectFrom('reviews')
    .selectAll()
    .where('procedure_id', '=', procedureId)
    .where('digest', '=', digest)
    .orderBy('seq')
    .execute()
  return rows.map(toReview)
}

/** All of one version, whatever it held then, in their order. */
export async function listReviewsOfVersion(
  db: Db,
  versionId: Id<'version'>,
): Promise<readonly Review[]> {
  const rows = await db
    .selectFrom('reviews')
    .selectAll()
    .where('version_id', '=', versionId)
    .orderBy('seq')
    .execute()
  return rows.map(toReview)
}

/** Whether somebody has written a definition, in whatever draft, also one that is gone: the audit log knows. */
export async function hasWritten(
  transaction: Transaction,
  tenantId: string,
  principalId: string,
  definitionHash: string,
): Promise<boolean> {
  const { rows } = await sql<{ written: boolean }>`
    SELECT has_written(${tenantId}, ${principalId}, ${definitionHash}) AS written`.execute(
    transaction,
  )
  return rows[0]?.written === true
}

/** How many approvals a version needs to go live, from 0 to 10. */
export async function readRequiredApprovals(db: Db): Promise<number> {
  const row = await db
    .selectFrom('governance')
    .select('required_approvals')
    .executeTakeFirstOrThrow()
  return row.required_approvals
}

function toReview(row: Selectable<ReviewsTable>): Review {
  return {
    // Written only by `insertReview`, from values of these types.
    id: row.id as Id<'review'>,
    versionId: row.version_id as Id<'version'>,
    digest: row.digest,
    parts: row.parts as unknown as ApprovalParts,
    verdict: row.verdict,
    comment: row.comment,
    acknowledged: row.acknowledged as unknown as readonly string[],
    reviewerId: row.reviewer_id,
    reviewerKind: (row.reviewer as unknown as Principal).kind,
    at: row.at,
  }
}
