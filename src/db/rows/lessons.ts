import type { Generated, GeneratedAlways } from 'kysely'
import type { Nullable } from './columns.ts'

/** A task tag that has, or had, lessons. Whoever changes them locks its row first and counts `revision` up last. */
export interface LessonSetsTable {
  tenant_id: string
  task_tag: string
  revision: Generated<number>
  /** Counted by a trigger, whenever the revision is. At most 200. */
  entry_count: GeneratedAlways<number>
  /** Null while nothing has changed. */
  updated_at: Nullable<Date>
}

/** One line of a task tag. docs/decisions/0024-learning.md. */
export interface LessonsTable {
  tenant_id: string
  id: string
  task_tag: string
  /** Rises; breaks ties between lines of one moment. */
  seq: GeneratedAlways<number>
  kind: 'helpful' | 'harmful'
  /** One line, 1 to 500 characters; of a kind only once in a tag. */
  content: string
  uses: Generated<number>
  last_score: Nullable<number>
  /** The sum of the scores of the runs that were shown it, 0 to 1 each. */
  credit: Generated<number>
  credited_runs: Generated<number>
  /** Written or changed by a person. */
  is_by_hand: Generated<boolean>
  created_at: Date
  /** Of which model the vector is; both null until a curation makes them. */
  model: Nullable<string>
  embedding: Nullable<string>
  dimensions: GeneratedAlways<Nullable<number>>
}

/** Which lines somebody was shown for a run, until it tells how it went, or for seven days. */
export interface LessonShowingsTable {
  tenant_id: string
  id: string
  task_tag: string
  principal_id: string
  lesson_ids: string[]
  shown_at: Date
}
