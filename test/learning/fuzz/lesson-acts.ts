import fc from 'fast-check'
import { expect } from 'vitest'
import { operations } from '../../../src/operations/registry.ts'
import { type ActKind, anyOperation, note, pick, score, seen, type Told, text } from './act.ts'

/** What a person would write, mostly. */
const written = fc.oneof({ weight: 9, arbitrary: fc.lorem({ maxCount: 6 }) }, text)
const taskTag = fc.constantFrom('bot', 'support', 'FAILED_PAYMENT_PLAYBOOK', 'x/y?z#é')
const kind = fc.constantFrom('helpful', 'harmful')

const noteLesson = ({ known, answer }: Told) => note(known, 'les', Object(answer).lessonId)
const noteEntries = ({ known, answer }: Told) => {
  for (const { lessonId } of Object(answer).entries) note(known, 'les', lessonId)
}

export const lessonActs: readonly ActKind[] = [
  {
    name: 'list lessons',
    operation: anyOperation(operations.listLessons),
    by: 'agents',
    input: fc.constant(() => ({})),
  },
  {
    name: 'get lessons',
    operation: anyOperation(operations.getLessons),
    by: 'agents',
    input: taskTag.map((tag) => () => ({ taskTag: tag })),
    learn: noteEntries,
  },
  {
    name: 'show lessons',
    operation: anyOperation(operations.showLessons),
    by: 'agents',
    input: taskTag.map((tag) => () => ({ taskTag: tag })),
    learn: (told) => {
      noteEntries(told)
      note(told.known, `showings of ${told.by}`, Object(told.answer).showingId)
    },
  },
  {
    name: 'curate lessons',
    operation: anyOperation(operations.curateLessons),
    weight: 4,
    by: 'agents',
    input: fc
      .record({
        taskTag,
        feedback: fc.record({ score, issues: fc.array(text, { maxLength: 5 }) }),
        lastAnswer: text,
        maxEntries: fc.integer({ min: 1, max: 8 }),
      })
      .map((own) => () => own),
    learn: ({ asked, answer, context }) => {
      const { entryCount, addedCount } = Object(answer)
      if (addedCount > 0) {
        expect(entryCount, context).toBeLessThanOrEqual(Object(asked).maxEntries)
      }
    },
  },
  {
    name: 'credit lessons',
    operation: anyOperation(operations.creditLessons),
    by: 'agents',
    input: fc.record({ score, pick }).map(({ score: own, pick: at }) => (known, by) => ({
      showingId: seen(known, `showings of ${by}`, at),
      score: own,
    })),
  },
  {
    name: 'add lesson',
    operation: anyOperation(operations.addLesson),
    by: 'people',
    input: fc.record({ taskTag, kind, content: written }).map((own) => () => own),
    learn: noteLesson,
  },
  {
    name: 'edit lesson',
    operation: anyOperation(operations.editLesson),
    by: 'people',
    input: fc.record({ content: written, kind, pick }).map(({ pick: at, ...own }) => (known) => ({
      lessonId: seen(known, 'les', at),
      ...own,
    })),
    learn: noteLesson,
  },
  {
    name: 'remove lesson',
    operation: anyOperation(operations.removeLesson),
    by: 'people',
    input: pick.map((at) => (known) => ({ lessonId: seen(known, 'les', at) })),
  },
  {
    name: 'import lessons',
    operation: anyOperation(operations.importLessons),
    by: 'people',
    input: fc
      .record({
        taskTag,
        lessons: fc.array(fc.record({ kind, content: written, uses: fc.nat(9) }), { maxLength: 4 }),
        replace: fc.boolean(),
      })
      .map((own) => () => own),
  },
  {
    name: 'export lessons',
    operation: anyOperation(operations.exportLessons),
    by: 'people',
    input: taskTag.map((tag) => () => ({ taskTag: tag })),
  },
]
