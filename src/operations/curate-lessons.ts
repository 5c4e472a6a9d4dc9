import { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import {
  deleteLessons,
  findLessonSet,
  insertLessons,
  listLessons,
  lockLessonSet,
  type NewLesson,
  type StoredLesson,
  updateRevision,
  updateUses,
  updateVector,
} from '../db/queries/lessons.ts'
import { newId } from '../domain/ids.ts'
import { type LessonLine, lessonLimits, type RunFeedback } from '../learning/lesson.ts'
import { type MergedLesson, mergeLessons } from '../learning/lesson-merge.ts'
import { hashOfLine } from './change-lessons.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { embedLines, type LineVectors } from './embed-lines.ts'
import { entryCount, score, taskTag } from './lesson-output.ts'
import { reflect } from './reflect.ts'

const { min, max, default: usual } = lessonLimits.entries

/** What came of a curation. */
interface Curated {
  readonly entryCount: number
  readonly addedCount: number
  readonly mergedCount: number
  readonly droppedCount: number
}

/**
 * Learns from one run: its issues and its answer become lines, or count up those that say the same already. Never rewrites
 * a line; does nothing without feedback. What others curate at the same time is kept.
 *
 * @see docs/lessons.md
 */
export const curateLessons = defineOperation({
  name: 'curateLessons',
  summary: 'Learn lessons from a run',
  input: z.strictObject({
    taskTag,
    feedback: z
      .strictObject({
        score: score.describe('How the run went, 0 to 1; from 0.8 on its answer is kept'),
        issues: z
          .array(z.string().max(10_000))
          .max(100)
          .default([])
          .describe('What was wrong, the worst first: three count'),
      })
      .optional()
      .describe('Without it nothing is learned'),
    lastAnswer: z.string().max(1_000_000).default('').describe('What the run answered last'),
    maxEntries: z
      .int()
      .min(min)
      .max(max)
      .default(usual)
      .describe(`How many lessons the tag keeps, ${min} to ${max}`),
  }),
  output: z.object({
    entryCount,
    addedCount: z.int().describe('Lines that are new'),
    mergedCount: z.int().describe('Lines that have come up again'),
    droppedCount: z.int().describe('Lines that made room'),
    reflector: z
      .string()
      .nullable()
      .describe('The model that wrote the lines; null: they are made of issues and answer'),
  }),
  errors: [],
  roles: ['agent', 'admin'],
  async run(context, { taskTag: tag, feedback, lastAnswer, maxEntries }) {
    const { app, db } = context
    const { lines, reflector } = await learn(app, feedback, lastAnswer)
    if (feedback === undefined || lines.length === 0) {
      const set = await findLessonSet(db.kysely, tag)
      const nothing = { addedCount: 0, mergedCount: 0, droppedCount: 0, reflector }
      return { entryCount: set?.entryCount ?? 0, ...nothing }
    }
    const known = await listLessons(db.kysely, tag)
    // No model is asked while the lines are locked. Those that others add meanwhile have their vectors with them.
    const vectors = await embedLines(app, lines, known)
    const curated = await db.kysely
      .transaction()
      .execute((transaction) =>
        curate(context, transaction, { tag, lines, score: feedback.score, vectors, maxEntries }),
      )
    return { ...curated, reflector }
  },
})

async function learn(
  app: AppContext,
  feedback: RunFeedback | undefined,
  lastAnswer: string,
): Promise<{ readonly lines: readonly LessonLine[]; readonly reflector: string | null }> {
  if (feedback === undefined) return { lines: [], reflector: null }
  return reflect(app, feedback, lastAnswer)
}

async function curate(
  { app, caller, db: { tenantId } }: OperationContext,
  transaction: Transaction,
  {
    tag,
    lines,
    score: ofRun,
    vectors,
    maxEntries,
  }: {
    readonly tag: string
    readonly lines: readonly LessonLine[]
    readonly score: number
    readonly vectors: LineVectors
    readonly maxEntries: number
  },
): Promise<Curated> {
  const set = await lockLessonSet(transaction, tenantId, tag)
  const before = await listLessons(transaction, tag)
  const { lessons, dropped } = mergeLessons(
    before,
    lines,
    ofRun,
    vectors.similarTo(before),
    maxEntries,
  )
  const added = lessons.filter(({ from }) => from === undefined)
  const merged = lessons.filter(isChanged)
  await deleteLessons(
    transaction,
    dropped.map(({ id }) => id),
  )
  for (const { from, uses, lastScore } of merged) {
    await updateUses(transaction, from.id, { uses, lastScore })
  }
  for (const { from } of lessons) {
    const embedded = from === undefined ? null : vectors.missing(from)
    if (from !== undefined && embedded !== null) await updateVector(transaction, from.id, embedded)
  }
  const now = app.clock.now()
  await insertLessons(
    transaction,
    tenantId,
    tag,
    added.map(
      ({ kind, content, uses, lastScore, isByHand }): NewLesson => ({
        ...{ id: newId('lesson', now), kind, content, uses, lastScore, isByHand },
        ...{ credit: 0, creditedRuns: 0, createdAt: new Date(now) },
        embedded: vectors.of({ kind, content }),
      }),
    ),
  )
  const counts = {
    addedCount: added.length,
    mergedCount: merged.length,
    droppedCount: dropped.length,
  }
  const isSame = added.length + merged.length + dropped.length === 0
  const after = isSame ? set : await updateRevision(transaction, tag, new Date(now))
  // What a person wrote goes by nobody's act without a trace.
  for (const lesson of dropped.filter(({ isByHand }) => isByHand)) {
    await insertAuditEvent(transaction, {
      action: 'lesson.dropped',
      entityKind: 'lesson',
      entityId: lesson.id,
      beforeHash: hashOfLine(lesson),
      details: { taskTag: tag, kind: lesson.kind },
      principal: caller.principal,
      origin: caller.origin,
      at: now,
    })
  }
  return { entryCount: after.entryCount, ...counts }
}

function isChanged(
  lesson: MergedLesson<StoredLesson>,
): lesson is MergedLesson<StoredLesson> & { readonly from: StoredLesson } {
  return lesson.from !== undefined && lesson.uses > lesson.from.uses
}
