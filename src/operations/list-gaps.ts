import { z } from 'zod'
import type { GapProposal } from '../db/queries/gaps.ts'
import { type Gap, gapKinds } from '../learning/gap.ts'
import { nameOfGap } from '../learning/gap-draft.ts'
import { proposalStatuses } from '../learning/proposal.ts'
import { defineOperation } from './define.ts'
import { findGaps, gapPeriod, maxGapTickets } from './find-gaps.ts'
import { noteRead } from './note-read.ts'
import { instant } from './shapes.ts'
import { openWithholding } from './withhold-sensitive.ts'

const shownExamples = 5
const shownCharacters = 500

/** Tickets that are about the same, as they are answered. */
export const gapOutput = z
  .object({
    gapId: z
      .string()
      .describe('The escalation of its first ticket: any of its tickets names a gap as well'),
    kind: z
      .enum(gapKinds)
      .describe('unmatched: no playbook fitted; escalated: one ran, and handed over'),
    name: z.string().nullable().describe('The words that its tickets have in common; null: none'),
    count: z.int().describe('How many tickets'),
    firstSeenAt: instant,
    lastSeenAt: instant,
    code: z.string().describe('The reason code that all of them have'),
    procedureKey: z.string().nullable().describe('What ran; null where nothing fitted'),
    versionNumber: z.int().nullable(),
    stepKey: z.string().nullable().describe('At which step, where the reason names one'),
    examples: z
      .array(
        z.object({
          escalationId: z.string(),
          executionId: z.string().nullable(),
          text: z.string().nullable().describe('What the customer wrote, or its beginning'),
          at: instant,
        }),
      )
      .describe('The newest five'),
    proposal: z
      .object({ proposalId: z.string(), status: z.enum(proposalStatuses) })
      .nullable()
      .describe('What was proposed of any of its tickets; of several the oldest'),
  })
  .meta({ id: 'Gap' })

/**
 * What the playbooks do not cover: the tickets of a period that none fitted, and those of runs that were handed to a person,
 * put together by what they are about; the largest first. It reads tickets, so that it is told in the audit log.
 *
 * @see docs/gaps.md
 */
export const listGaps = defineOperation({
  name: 'listGaps',
  summary: 'List what the playbooks do not cover: tickets and escalations that are alike',
  input: z.strictObject({
    ...gapPeriod,
    kind: z.enum(gapKinds).optional().describe('unmatched or escalated; default: both'),
    dismissed: z.boolean().default(false).describe('Also those whose proposal was dismissed'),
    limit: z.int().min(1).max(200).default(50).describe('At most so many gaps, 1 to 200'),
  }),
  output: z.object({
    from: instant,
    to: instant,
    ticketCount: z.int().describe('How many tickets were compared'),
    isCut: z
      .boolean()
      .describe(`The period has more than ${maxGapTickets} tickets, and these are the newest`),
    model: z.string().describe('By which embedding model they were compared'),
    fellBack: z
      .boolean()
      .describe('The model in use gave no vectors, and they were compared by the offline one'),
    minSimilarity: z.number().describe('From this similarity on two tickets are about the same'),
    items: z.array(gapOutput).describe('The largest first'),
    hasMore: z.boolean().describe('Whether there are more gaps than `limit`'),
  }),
  errors: ['EMBEDDER_UNAVAILABLE'],
  roles: ['author', 'approver', 'admin', 'auditor'],
  async run(context, { kind, dismissed, limit, ...period }) {
    const { from, to, vectors, gaps, ...counts } = await findGaps(context, 'listGaps', period)
    const shown = gaps.filter(
      (gap) =>
        (kind === undefined || gap.kind === kind) &&
        (dismissed || gap.proposal?.status !== 'dismissed'),
    )
    const withhold = await openWithholding(context.db)
    await noteRead(context, { action: 'gaps.listed', entityKind: 'tenant' })
    return {
      ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString() },
      ...counts,
      ...{ model: vectors.model, fellBack: vectors.fellBack, minSimilarity: vectors.minSimilarity },
      items: shown.slice(0, limit).map((gap) => toOutput(gap, withhold.text)),
      hasMore: shown.length > limit,
    }
  },
})

function toOutput(
  gap: Gap & { readonly proposal: GapProposal | null },
  withhold: (text: string) => string,
): z.infer<typeof gapOutput> {
  const { kind, tickets, code, procedureKey, versionNumber, stepKey, proposal } = gap
  const [first, last] = [tickets[0], tickets.at(-1)]
  if (first === undefined || last === undefined) throw new TypeError('a gap has tickets')
  return {
    ...{ gapId: first.escalationId, kind, name: nameOfGap(gap), count: tickets.length },
    firstSeenAt: first.openedAt.toISOString(),
    lastSeenAt: last.openedAt.toISOString(),
    ...{ code, procedureKey, versionNumber, stepKey },
    examples: tickets
      .slice(-shownExamples)
      .reverse()
      .map(({ escalationId, executionId, text, openedAt }) => ({
        ...{ escalationId, executionId },
        text: text && withhold(text).slice(0, shownCharacters).toWellFormed(),
        at: openedAt.toISOString(),
      })),
    proposal: proposal && { ...proposal },
  }
}
