import type { Lesson, LessonLine } from './lesson.ts'

/**
 * How alike two lines of one kind are that say the same; undefined when they do not. Asked only of lines that are neither
 * equal nor contained in each other.
 */
export type SimilarLines = (one: LessonLine, other: LessonLine) => number | undefined

/** What a curation comes to. */
export interface LessonMerge<E extends Lesson> {
  /** What stays, in order. Those that are new have no `from`. */
  readonly lessons: readonly MergedLesson<E>[]
  /** What was there before and does not stay. */
  readonly dropped: readonly E[]
}

export interface MergedLesson<E extends Lesson> extends Lesson {
  /** The line as it was. */
  readonly from?: E
}

/**
 * Brings what a run teaches into the lines that are there; rewrites none of them.
 *
 * A candidate that equals a line of its kind, contains it or is contained in it (ignoring case), or else is similar to it,
 * is that line come up again: its `uses` go up by one, whatever the number of candidates that meet it, and its `lastScore`
 * is that of the run. Of several lines the equal one is meant, then a contained one, then the most similar. Any other
 * candidate is a new line.
 *
 * At most `maxEntries` lines stay: those by hand before all others, then in order. The order is by uses, then by last score
 * (none is the lowest), the most first; ties stay as they are, and what is new stands before them, so that lines which
 * never came up again make room for new ones. `entries` are in that order already.
 */
export function mergeLessons<E extends Lesson>(
  entries: readonly E[],
  candidates: readonly LessonLine[],
  score: number,
  similar: SimilarLines,
  maxEntries: number,
): LessonMerge<E> {
  const counted = new Set<E>()
  const added: Lesson[] = []
  for (const { kind, content } of candidates) {
    const known = findSame({ kind, content }, entries, similar)
    if (known !== undefined) counted.add(known)
    else if (findSame({ kind, content }, added, similar) === undefined) {
      added.push({ kind, content, uses: 0, lastScore: null, isByHand: false })
    }
  }
  const merged = entries.map(
    (from): MergedLesson<E> => ({
      ...lineFields(from),
      from,
      ...(counted.has(from) && { uses: from.uses + 1, lastScore: score }),
    }),
  )
  const ranked = [...added, ...merged].sort(compareLessons)
  const kept = new Set(ranked.toSorted(byHandFirst).slice(0, maxEntries))
  return {
    lessons: ranked.filter((lesson) => kept.has(lesson)),
    dropped: merged.flatMap((lesson) =>
      kept.has(lesson) || lesson.from === undefined ? [] : [lesson.from],
    ),
  }
}

/** By uses, then by last score, the most first; equals are equal. */
export function compareLessons(
  a: Pick<Lesson, 'uses' | 'lastScore'>,
  b: Pick<Lesson, 'uses' | 'lastScore'>,
): number {
  return b.uses - a.uses || (b.lastScore ?? -1) - (a.lastScore ?? -1)
}

/** Whether two lines are one and the same, whatever their case. */
export function areEqualLines(a: LessonLine, b: LessonLine): boolean {
  return a.kind === b.kind && folded(a.content) === folded(b.content)
}

function byHandFirst(a: Lesson, b: Lesson): number {
  return Number(b.isByHand) - Number(a.isByHand)
}

function lineFields({ kind, content, uses, lastScore, isByHand }: Lesson): Lesson {
  return { kind, content, uses, lastScore, isByHand }
}

function findSame<L extends LessonLine>(
  candidate: LessonLine,
  lines: readonly L[],
  similar: SimilarLines,
): L | undefined {
  const ofKind = lines.filter(({ kind }) => kind === candidate.kind)
  const text = folded(candidate.content)
  const texts = ofKind.map((line) => ({ line, text: folded(line.content) }))
  const literal =
    texts.find((one) => one.text === text) ??
    texts.find((one) => isContained(one.text, text) || isContained(text, one.text))
  if (literal !== undefined) return literal.line
  let best: { readonly line: L; readonly similarity: number } | undefined
  for (const line of ofKind) {
    const similarity = similar(line, candidate)
    if (similarity !== undefined && similarity > (best?.similarity ?? Number.NEGATIVE_INFINITY)) {
      best = { line, similarity }
    }
  }
  return best?.line
}

/** Whether a text stands in another one, no number of which it cuts in two: 10 does not stand in 100. */
function isContained(part: string, whole: string): boolean {
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) {
    const isCutBefore = /^\p{Nd}/u.test(part) && /\p{Nd}[.,]?$/u.test(whole.slice(0, at))
    const isCutAfter = /\p{Nd}$/u.test(part) && /^[.,]?\p{Nd}/u.test(whole.slice(at + part.length))
    if (!isCutBefore && !isCutAfter) return true
  }
  return false
}

function folded(content: string): string {
  return content.normalize('NFKC').toLowerCase()
}
