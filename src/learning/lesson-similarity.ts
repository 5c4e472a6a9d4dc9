import { cosine } from '../search/embedder.ts'
import type { LessonLine } from './lesson.ts'
import { mayMeanTheSame } from './lesson-meaning.ts'
import type { SimilarLines } from './lesson-merge.ts'

/** Nothing is similar: what holds when nobody knows what the vectors of a model mean. */
export const noneSimilar: SimilarLines = () => undefined

/**
 * Which lines say the same by the vectors of one model: `vectorOf` answers that of a line, where it has one. From
 * `threshold` on they do, unless their words forbid it.
 */
export function similarByVector(
  threshold: number,
  vectorOf: (line: LessonLine) => Float32Array | undefined,
): SimilarLines {
  return (one, other) => {
    const [a, b] = [vectorOf(one), vectorOf(other)]
    if (a === undefined || b === undefined || a.length !== b.length) return undefined
    const similarity = cosine(a, b)
    return similarity >= threshold && mayMeanTheSame(one.content, other.content)
      ? similarity
      : undefined
  }
}
