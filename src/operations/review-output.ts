import { z } from 'zod'
import type { Review } from '../db/queries/reviews.ts'
import { instant } from './shapes.ts'

export const reviewShape = z.object({
  reviewId: z.string(),
  verdict: z.enum(['approve', 'decline', 'comment']),
  comment: z.string().nullable(),
  acknowledged: z.array(z.string()).describe('Findings that the reviewer has seen and lets pass'),
  digest: z.string().describe('What it was given on'),
  reviewerId: z.string(),
  reviewerKind: z.enum(['human', 'ai', 'service']),
  at: instant,
})

export function toReviewOutput(review: Review): z.infer<typeof reviewShape> {
  return {
    reviewId: review.id,
    verdict: review.verdict,
    comment: review.comment,
    acknowledged: [...review.acknowledged],
    digest: review.digest,
    reviewerId: review.reviewerId,
    reviewerKind: review.reviewerKind,
    at: review.at.toISOString(),
  }
}
