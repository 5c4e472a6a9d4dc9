import { z } from 'zod'
import type { Transaction } from '../db/connect.ts'
import {
  deletePrunable,
  type PrunableExperience,
  type PruningRule,
  previewPruning,
} from '../db/queries/experience-pruning.ts'
import { type AuditEntry, defineAdministration } from './define.ts'
import { agentId } from './experience-output.ts'
import { instant } from './shapes.ts'

const dayMs = 86_400_000

export const pruningDefaults = { unusedDays: 180, belowScore: 0.5, usedFewerThan: 3 } as const

/** How many are deleted in one transaction, and named by one event. */
export const prunedAtOnce = 1_000
/** How many are shown of what would be deleted, and of what is for review. */
const listedAtMost = 200

const item = z.object({
  id: z.string(),
  agentId: z.string(),
  situation: z.string().describe('Its first 200 characters'),
  score: z.number(),
  useCount: z.int(),
  lastUsedAt: instant.nullable(),
  createdAt: instant,
})

/**
 * Deletes experiences that are poor and were not used for long, counted from their recording where they never were: at
 * most 1,000 a call, which says how many are left. What a proposal needs stays, and what a run has experienced that
 * somebody still works on. Those that are as poor, and were seldom used, are listed for a person to look at.
 */
export const pruneExperiences = defineAdministration({
  name: 'pruneExperiences',
  summary: 'Delete experiences that are poor and not used, or say which ones that would be',
  input: z.strictObject({
    dryRun: z.boolean().default(false).describe('Only say what would be deleted'),
    unusedDays: z.int().min(1).max(36_500).default(pruningDefaults.unusedDays),
    belowScore: z.number().min(0).max(1).default(pruningDefaults.belowScore),
    usedFewerThan: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(pruningDefaults.usedFewerThan)
      .describe('What stays, is as poor and was used less often is for review'),
    agentId: agentId.optional().describe('Only those of this agent'),
  }),
  output: z.object({
    dryRun: z.boolean(),
    deleted: z.int().describe('How many were deleted, or would be'),
    deletedItems: z.array(item).describe('Of a dry run the first 200, else all'),
    left: z.int().describe('How many are still to be deleted: call it again'),
    review: z.int().describe('How many a person should look at'),
    reviewItems: z.array(item).describe('The first 200 of them'),
  }),
  errors: [],
  roles: ['author', 'approver', 'admin'],
  async change({ app, db }, transaction, { dryRun, unusedDays, ...given }) {
    const unusedSince = new Date(app.clock.now() - unusedDays * dayMs)
    const rule = { ...given, unusedSince }
    const done = dryRun ? undefined : await pruneBatch(transaction, rule)
    const { prunable, review } = await previewPruning(transaction, rule, listedAtMost)
    const shown = done ?? prunable.items
    return {
      output: {
        dryRun,
        deleted: done?.length ?? prunable.count,
        deletedItems: shown.map(toItem),
        left: dryRun ? 0 : prunable.count,
        review: review.count,
        reviewItems: review.items.map(toItem),
      },
      audit: prunedEvent(db.tenantId, rule, done ?? []),
    }
  },
})

/** Deletes what a rule finds, at most 1,000. */
export function pruneBatch(
  transaction: Transaction,
  rule: PruningRule,
): Promise<readonly PrunableExperience[]> {
  return deletePrunable(transaction, rule, prunedAtOnce)
}

function toItem({ lastUsedAt, createdAt, ...row }: PrunableExperience): z.infer<typeof item> {
  return {
    ...row,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
}

/** The event that names what was deleted, by ids: nothing is told of what stood in it. */
export function prunedEvent(
  tenantId: string,
  { unusedSince, belowScore, agentId: agent }: PruningRule,
  pruned: readonly PrunableExperience[],
): readonly AuditEntry[] {
  if (pruned.length === 0) return []
  return [
    {
      action: 'experiences.pruned',
      entityKind: 'tenant',
      entityId: tenantId,
      details: {
        count: pruned.length,
        unusedSince: unusedSince.toISOString(),
        belowScore,
        ...(agent !== undefined && { agentId: agent }),
        experiences: pruned.map(({ id }) => id),
      },
    },
  ]
}
