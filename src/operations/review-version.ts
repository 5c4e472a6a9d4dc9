import { z } from 'zod'
import type { Transaction } from '../db/connect.ts'
import { keepProcedures } from '../db/queries/procedures.ts'
import { hasWritten, insertReview, listReviewsOfDigest } from '../db/queries/reviews.ts'
import { lockVersion, type ProcedureVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import { requireDraft } from '../domain/version.ts'
import { readApproval } from './approval-digest.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { findChanged } from './require-approval.ts'
import { reviewShape, toReviewOutput } from './review-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'

/**
 * Says yes or no to a draft as it is at this moment, or only something about it. What is said is bound to the digest that
 * the reviewer has seen: when anything that the digest stands for has changed since, it is refused.
 */
export const reviewVersion = defineAdministration({
  name: 'reviewVersion',
  summary: 'Approve or decline a draft as it is, or comment on it',
  input: z
    .strictObject({
      procedureKey,
      versionNumber,
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be an approval digest: 64 hexadecimal digits')
        .describe('The approval digest that you have seen'),
      verdict: z.enum(['approve', 'decline', 'comment']),
      comment: z.string().regex(/\S/, 'must not be empty').max(10_000).optional(),
      acknowledge: z
        .array(z.string().min(1).max(500))
        .max(100)
        .default([])
        .describe('Findings that hinder an activation and that you let pass'),
    })
    .refine(({ verdict, comment }) => verdict === 'approve' || comment !== undefined, {
      path: ['comment'],
      message: 'must say why (decline), or what you have to say (comment)',
    }),
  output: reviewShape.extend({ procedureKey: z.string(), versionNumber: z.int() }),
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'REVIEW_STALE',
    'REVIEW_OWN_WORK',
    'REVIEW_NEEDS_PERSON',
  ],
  roles: ['approver', 'admin'],
  async change({ app, caller }, transaction, input) {
    const { principal } = caller
    const { verdict } = input
    const found = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    // From here on nobody activates or edits it until the verdict is stored: in the order in which an activation locks.
    await keepProcedures(transaction, [input.procedureKey])
    await lockVersion(transaction, found.id)
    const version = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    const named = { procedureKey: version.procedureKey, versionNumber: version.versionNumber }
    if (verdict !== 'comment') {
      requirePerson(principal)
      requireDraft(version.status, 'review')
    }
    if (verdict === 'approve') await refuseAuthor(transaction, version, principal)
    const approval = await readApproval(app, transaction, version)
    if (approval.digest !== input.digest) {
      throw new ServiceError('REVIEW_STALE', {
        ...named,
        seen: input.digest,
        current: approval.digest,
        changed: await findChanged(transaction, version, approval),
      })
    }
    const now = app.clock.now()
    const id = newId('review', now)
    await insertReview(transaction, {
      tenantId: principal.tenantId,
      id,
      procedureId: version.procedureId,
      versionId: version.id,
      digest: approval.digest,
      parts: approval.parts,
      verdict,
      comment: input.comment,
      acknowledged: input.acknowledge,
      reviewer: principal,
      at: new Date(now),
    })
    const reviews = await listReviewsOfDigest(transaction, version.procedureId, approval.digest)
    const review = reviews.find((one) => one.id === id)
    if (review === undefined) throw new TypeError('the review was inserted just now')
    return {
      output: { ...toReviewOutput(review), ...named },
      audit: [
        {
          action: 'version.reviewed',
          entityKind: 'version',
          entityId: version.id,
          afterHash: approval.digest,
          details: { ...named, reviewId: id, verdict },
        },
      ],
    }
  },
})

/** Who has written it is its author, also where it stood in another draft and somebody else has stored it since. */
async function refuseAuthor(
  transaction: Transaction,
  version: ProcedureVersion,
  { id, tenantId }: Principal,
): Promise<void> {
  const { procedureKey: key, versionNumber: number, authorIds, definitionHash } = version
  const isAuthor =
    authorIds.includes(id) || (await hasWritten(transaction, tenantId, id, definitionHash))
  if (!isAuthor) return
  throw new ServiceError('REVIEW_OWN_WORK', {
    procedureKey: key,
    versionNumber: number,
    authorIds: [...new Set([...authorIds, id])],
  })
}

/** Only people say yes or no, and the database holds it as well (`reviews_by_people`). */
function requirePerson({ id, kind, unauthenticated }: Principal): void {
  if (kind === 'human' && unauthenticated !== true) return
  throw new ServiceError('REVIEW_NEEDS_PERSON', {
    id,
    kind,
    unauthenticated: unauthenticated === true,
  })
}
