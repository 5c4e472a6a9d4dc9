import type { AppContext } from '../context.ts'
import type { EmbeddedLine, StoredLesson } from '../db/queries/lessons.ts'
import type { LessonLine } from '../learning/lesson.ts'
import { lessonThresholds } from '../learning/lesson-meaning.ts'
import type { SimilarLines } from '../learning/lesson-merge.ts'
import { noneSimilar, similarByVector } from '../learning/lesson-similarity.ts'

/** The vectors of what a run teaches, and of the lines that had none. */
export interface LineVectors {
  /** The vector of a line by its words; null where there is none. */
  of(line: LessonLine): EmbeddedLine | null
  /** The vector that a stored line lacks; null where it has one, or there is none. */
  missing(lesson: StoredLesson): EmbeddedLine | null
  /** What is similar among candidates and these lines. */
  similarTo(lessons: readonly StoredLesson[]): SimilarLines
}

const noVectors: LineVectors = {
  of: () => null,
  missing: () => null,
  similarTo: () => noneSimilar,
}

/**
 * Embeds lines by the offline model: it is there without a network, what agents write leaves the process to nobody, and it
 * is the one of which it was measured what its vectors say of lessons. Without a measurement there are no vectors, and
 * neither when it fails: lines that are equal or contained merge all the same.
 */
export async function embedLines(
  { embedders: { offline }, log }: Pick<AppContext, 'embedders' | 'log'>,
  candidates: readonly LessonLine[],
  known: readonly StoredLesson[],
): Promise<LineVectors> {
  const { model } = offline
  const threshold = lessonThresholds.get(model)
  if (threshold === undefined) return noVectors
  const lacking = known.filter(({ embedded }) => embedded?.model !== model)
  const texts = [...new Set([...candidates, ...lacking].map(({ content }) => content))]
  let vectors: readonly Float32Array[]
  try {
    vectors = await offline.embed(texts)
  } catch (error) {
    log.warn({ err: error, model }, 'lessons are merged without their meaning')
    return noVectors
  }
  const byText = new Map(texts.map((text, at) => [text, vectors[at]] as const))
  const find = ({ content }: LessonLine): EmbeddedLine | null => {
    const vector = byText.get(content)
    return vector === undefined ? null : { model, vector }
  }
  return {
    of: find,
    missing: (lesson) => (lesson.embedded?.model === model ? null : find(lesson)),
    similarTo(lessons) {
      const stored = new Map(
        lessons.flatMap(({ content, embedded }) =>
          embedded?.model === model ? [[content, embedded.vector] as const] : [],
        ),
      )
      return similarByVector(threshold, ({ content }) => byText.get(content) ?? stored.get(content))
    },
  }
}
