import type { Selectable } from 'kysely'
import { type Id, isId } from '../../domain/ids.ts'
import type { Db, Transaction } from '../connect.ts'
import type { LessonSetsTable, LessonsTable } from '../rows/lessons.ts'
import { vectorOf, vectorText } from './embeddings.ts'

/** A line of a task tag as it is kept. */
export interface StoredLesson {
  readonly id: Id<'lesson'>
  readonly taskTag: string
  readonly kind: 'helpful' | 'harmful'
  readonly content: string
  readonly uses: number
  readonly lastScore: number | null
  /** The sum of the scores of the runs that were shown it. */
  readonly credit: number
  readonly creditedRuns: number
  readonly isByHand: boolean
  readonly createdAt: Date
  /** The vector that the line has, and of which model. */
  readonly embedded: EmbeddedLine | null
}

export interface EmbeddedLine {
  readonly model: string
  readonly vector: Float32Array
}

/** A line to be kept, without what the database gives it. */
export type NewLesson = Omit<StoredLesson, 'taskTag'>

/** A task tag and how much is kept of it. */
export interface LessonSet {
  readonly taskTag: string
  /** Counts every change. */
  readonly revision: number
  readonly entryCount: number
  readonly updatedAt: Date | null
}

/** A page of the tags that have lessons, in the order of their bytes. `after` is the last tag of the page before. */
export async function listLessonSets(
  db: Db,
  { limit, after = '' }: { readonly limit: number; readonly after?: string | undefined },
): Promise<readonly LessonSet[]> {
  const rows = await db
    .selectFrom('lesson_sets')
    .selectAll()
    .where('task_tag', '>', after)
    .where('entry_count', '>', 0)
    .orderBy('task_tag')
    .limit(limit)
    .execute()
  return rows.map(toSet)
}

export async function findLessonSet(db: Db, taskTag: string): Promise<LessonSet | undefined> {
  const row = await db
    .selectFrom('lesson_sets')
    .selectAll()
    .where('task_tag', '=', taskTag)
    .executeTakeFirst()
  return row && toSet(row)
}

/** The same, made if need be; until the transaction ends nobody else changes the lines of the tag. */
export async function lockLessonSet(
  transaction: Transaction,
  tenantId: string,
  taskTag: string,
): Promise<LessonSet> {
  await transaction
    .insertInto('lesson_sets')
    .values({ tenant_id: tenantId, task_tag: taskTag })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await transaction
    .selectFrom('lesson_sets')
    .selectAll()
    .where('task_tag', '=', taskTag)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return toSet(row)
}

/** Counts the revision of a tag that is locked and has changed, which tells webhooks of it; answers the tag as it is now. */
export async function updateRevision(
  transaction: Transaction,
  taskTag: string,
  at: Date,
): Promise<LessonSet> {
  const row = await transaction
    .updateTable('lesson_sets')
    .set((eb) => ({ revision: eb('revision', '+', 1), updated_at: at }))
    .where('task_tag', '=', taskTag)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toSet(row)
}

/**
 * The lines of a tag in order: by uses, then by last score, the most first; ties by age, the newest first, and those of one
 * moment as they were written. A row that is no line, because somebody has damaged the table, is left out.
 */
export async function listLessons(db: Db, taskTag: string): Promise<readonly StoredLesson[]> {
  const rows = await db
    .selectFrom('lessons')
    .selectAll()
    .where('task_tag', '=', taskTag)
    .orderBy('uses', 'desc')
    .orderBy('last_score', (order) => order.desc().nullsLast())
    .orderBy('created_at', 'desc')
    .orderBy('seq')
    .execute()
  return rows.flatMap((row) => toLesson(row) ?? [])
}

export async function findLesson(db: Db, id: Id<'lesson'>): Promise<StoredLesson | undefined> {
  const row = await db.selectFrom('lessons').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toLesson(row)
}

/** Lines of any tag in which a text stands, at most a thousand. */
export async function listLessonsWith(
  db: Db,
  text: string,
): Promise<readonly Pick<StoredLesson, 'id' | 'content'>[]> {
  const rows = await db
    .selectFrom('lessons')
    .select(['id', 'content'])
    .where((eb) => eb(eb.fn<number>('strpos', ['content', eb.val(text)]), '>', 0))
    .orderBy('id')
    .limit(1_000)
    .execute()
  return rows.flatMap(({ id, content }) => (isId('lesson', id) ? [{ id, content }] : []))
}

/** Adds lines to a tag that is locked. */
export async function insertLessons(
  transaction: Transaction,
  tenantId: string,
  taskTag: string,
  lessons: readonly NewLesson[],
): Promise<void> {
  if (lessons.length === 0) return
  await transaction
    .insertInto('lessons')
    .values(
      lessons.map((lesson) => ({
        tenant_id: tenantId,
        task_tag: taskTag,
        id: lesson.id,
        kind: lesson.kind,
        content: lesson.content,
        uses: lesson.uses,
        last_score: lesson.lastScore,
        credit: lesson.credit,
        credited_runs: lesson.creditedRuns,
        is_by_hand: lesson.isByHand,
        created_at: lesson.createdAt,
        ...vectorColumns(lesson.embedded),
      })),
    )
    .execute()
}

/** A line has come up again. */
export async function updateUses(
  transaction: Transaction,
  id: Id<'lesson'>,
  { uses, lastScore }: { readonly uses: number; readonly lastScore: number | null },
): Promise<void> {
  await transaction
    .updateTable('lessons')
    .set({ uses, last_score: lastScore })
    .where('id', '=', id)
    .execute()
}

export async function updateVector(
  transaction: Transaction,
  id: Id<'lesson'>,
  embedded: EmbeddedLine,
): Promise<void> {
  await transaction
    .updateTable('lessons')
    .set(vectorColumns(embedded))
    .where('id', '=', id)
    .execute()
}

/** A person has changed what a line says: it is theirs from now on, and its vector that of other words. */
export async function updateLine(
  transaction: Transaction,
  id: Id<'lesson'>,
  { kind, content }: Pick<StoredLesson, 'kind' | 'content'>,
): Promise<void> {
  await transaction
    .updateTable('lessons')
    .set({ kind, content, is_by_hand: true, ...vectorColumns(null) })
    .where('id', '=', id)
    .execute()
}

/** Those of the lines that are still there earn the score of a run. Answers which. */
export async function updateCredit(
  transaction: Transaction,
  taskTag: string,
  ids: readonly string[],
  score: number,
): Promise<readonly string[]> {
  const rows = await transaction
    .updateTable('lessons')
    .set((eb) => ({
      credit: eb('credit', '+', score),
      credited_runs: eb('credited_runs', '+', 1),
    }))
    .where('task_tag', '=', taskTag)
    .where('id', 'in', [...ids])
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteLessons(
  transaction: Transaction,
  ids: readonly Id<'lesson'>[],
): Promise<void> {
  if (ids.length === 0) return
  await transaction
    .deleteFrom('lessons')
    .where('id', 'in', [...ids])
    .execute()
}

function vectorColumns(embedded: EmbeddedLine | null): {
  readonly model: string | null
  readonly embedding: string | null
} {
  if (embedded === null) return { model: null, embedding: null }
  return { model: embedded.model, embedding: vectorText(embedded.vector) }
}

function toSet(row: Selectable<LessonSetsTable>): LessonSet {
  return {
    taskTag: row.task_tag,
    revision: row.revision,
    entryCount: row.entry_count,
    updatedAt: row.updated_at,
  }
}

function toLesson(row: Selectable<LessonsTable>): StoredLesson | undefined {
  const { id, kind, content, uses, last_score: lastScore, model } = row
  const isKind = kind === 'helpful' || kind === 'harmful'
  const isScore = lastScore === null || (lastScore >= 0 && lastScore <= 1)
  if (!isId('lesson', id) || !isKind || content === '' || !(uses >= 0) || !isScore) return undefined
  const vector = row.embedding === null ? undefined : vectorOf(row.embedding)
  return {
    id,
    taskTag: row.task_tag,
    kind,
    content,
    uses,
    lastScore,
    credit: row.credit,
    creditedRuns: row.credited_runs,
    isByHand: row.is_by_hand,
    createdAt: row.created_at,
    embedded: model === null || vector === undefined ? null : { model, vector },
  }
}
