import { z } from 'zod'
import { updateReviewBy } from '../db/queries/versions.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { instant, procedureKey, versionNumber } from './shapes.ts'
import { toVersionListItem, versionListItem } from './version-output.ts'

/**
 * Says until when a person is to look whether a version still holds, or that nobody has to. It is no part of what the
 * version says, so it may be set while that serves, and counts for no approval.
 */
export const setReviewBy = defineAdministration({
  name: 'setReviewBy',
  summary: 'Say until when a person is to look whether a version still holds',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    reviewBy: instant.nullable().describe('In RFC 3339; null: never'),
  }),
  output: versionListItem,
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['approver', 'admin'],
  async change(_context, transaction, input) {
    const { procedureKey: key, versionNumber: number } = input
    const version = await findProcedureVersion(transaction, key, number)
    const reviewBy = input.reviewBy === null ? null : new Date(input.reviewBy)
    await updateReviewBy(transaction, version.id, reviewBy)
    return {
      output: toVersionListItem({ ...version, reviewBy }),
      audit: [
        {
          action: 'version.review_by_set',
          entityKind: 'version',
          entityId: version.id,
          details: {
            procedureKey: key,
            versionNumber: number,
            before: version.reviewBy?.toISOString() ?? null,
            reviewBy: reviewBy?.toISOString() ?? null,
          },
        },
      ],
    }
  },
})
