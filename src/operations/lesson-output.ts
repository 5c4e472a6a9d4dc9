import { z } from 'zod'
import type { StoredLesson } from '../db/queries/lessons.ts'
import { lessonLimits, lineOf } from '../learning/lesson.ts'
import { instant } from './shapes.ts'

export const taskTag = z
  .string()
  .min(1)
  .max(lessonLimits.tagCharacters)
  .regex(/\S/, 'must not be blank')
  .refine((tag) => !/^\.{1,2}$/.test(tag), 'must be more than dots')
  .describe('What the lessons are for: an agent, or a kind of task that several agents have')

export const lessonKind = z
  .enum(['helpful', 'harmful'])
  .describe('`helpful`: worth repeating; `harmful`: worth avoiding')

export const lessonContent = z
  .string()
  .min(1)
  .max(lessonLimits.contentCharacters)
  .refine((text) => lineOf(text) === text, 'must be one line of text, with nothing around it')
  .describe('What it says, in one line')

export const score = z.number().min(0).max(1)

/** A line as it goes into a file and comes back. */
export const lessonFields = {
  kind: lessonKind,
  content: lessonContent,
  uses: z
    .int()
    .min(0)
    .max(2_000_000_000)
    .default(0)
    .describe('In how many further runs it has come up'),
  lastScore: score.nullable().default(null).describe('Of the last of those runs; null: none yet'),
  creditedRuns: z
    .int()
    .min(0)
    .max(2_000_000_000)
    .default(0)
    .describe('How many runs that were shown it have told how they went'),
  credit: z.number().min(0).default(0).describe('The sum of the scores of those runs'),
  isByHand: z.boolean().default(false).describe('Written or changed by a person; dropped last'),
}

export const lessonOutput = z.object({
  ...lessonFields,
  lessonId: z.string(),
  content: z.string(),
  createdAt: instant,
})

export const entryCount = z.int().describe('How many lessons the tag has now')

export const setOutput = {
  taskTag: z.string(),
  revision: z.int().describe('Counts the changes; 0: none yet'),
  entries: z.array(lessonOutput).describe('By uses, then by last score, then the newest first'),
  text: z.string().describe('The same for a prompt; empty when there is none'),
}

/** What of a line goes into a file. */
export function toLessonFields({
  kind,
  content,
  uses,
  lastScore,
  creditedRuns,
  credit,
  isByHand,
}: StoredLesson): Pick<
  StoredLesson,
  'kind' | 'content' | 'uses' | 'lastScore' | 'creditedRuns' | 'credit' | 'isByHand'
> {
  return { kind, content, uses, lastScore, creditedRuns, credit, isByHand }
}

export function toLessonOutput(lesson: StoredLesson): z.infer<typeof lessonOutput> {
  return {
    lessonId: lesson.id,
    ...toLessonFields(lesson),
    createdAt: lesson.createdAt.toISOString(),
  }
}
