import type { Id } from '../../domain/ids.ts'
import { firstId } from '../../domain/ids.ts'
import type { Db, Transaction } from '../connect.ts'

/** Which lines of a tag somebody was shown for a run. */
export interface LessonShowing {
  readonly id: Id<'showing'>
  readonly taskTag: string
  readonly principalId: string
  readonly lessonIds: readonly string[]
  readonly shownAt: Date
}

/** How long a run may take until it tells how it went. */
const keptMs = 7 * 86_400_000

/** Notes a showing, and forgets those of the tenant that are too old to be told of. */
export async function insertShowing(
  db: Db,
  tenantId: string,
  { id, taskTag, principalId, lessonIds, shownAt }: LessonShowing,
): Promise<void> {
  await db
    .deleteFrom('lesson_showings')
    .where('id', '<', firstId('showing', shownAt.getTime() - keptMs))
    .execute()
  await db
    .insertInto('lesson_showings')
    .values({
      tenant_id: tenantId,
      id,
      task_tag: taskTag,
      principal_id: principalId,
      lesson_ids: [...lessonIds],
      shown_at: shownAt,
    })
    .execute()
}

/** Takes a showing of somebody's own away, so that it is told of once; undefined when there is none. */
export async function takeShowing(
  transaction: Transaction,
  id: Id<'showing'>,
  principalId: string,
): Promise<LessonShowing | undefined> {
  const row = await transaction
    .deleteFrom('lesson_showings')
    .where('id', '=', id)
    .where('principal_id', '=', principalId)
    .returningAll()
    .executeTakeFirst()
  return (
    row && {
      id,
      taskTag: row.task_tag,
      principalId: row.principal_id,
      lessonIds: row.lesson_ids,
      shownAt: row.shown_at,
    }
  )
}
