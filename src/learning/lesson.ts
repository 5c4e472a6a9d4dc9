/** Whether a strategy is worth repeating or worth avoiding. */
export type LessonKind = 'helpful' | 'harmful'

/** What one strategy says. */
export interface LessonLine {
  readonly kind: LessonKind
  /** One line, 1 to 500 characters. */
  readonly content: string
}

/** One strategy of a task tag, with what came of it. */
export interface Lesson extends LessonLine {
  /** In how many runs it has come up again, from 0. */
  readonly uses: number
  /** The score of the last of those runs, 0 to 1; null before the first. */
  readonly lastScore: number | null
  /** Written or changed by a person. */
  readonly isByHand: boolean
}

/** What a run is judged by. */
export interface RunFeedback {
  /** 0 to 1. */
  readonly score: number
  /** What was wrong with it, the worst first. */
  readonly issues: readonly string[]
}

/** How a line begins that was made of an issue, or of an answer. */
export const linePrefixes: Readonly<Record<LessonKind, string>> = {
  helpful: 'Worked well: ',
  harmful: 'Avoid: ',
}

export const lessonLimits = {
  contentCharacters: 500,
  tagCharacters: 200,
  /** Of an answer in a line. */
  answerCharacters: 200,
  /** Issues of a run that count, and lines of a kind that a model may answer. */
  linesOfRun: 3,
  /** From this score on an answer has worked well. */
  goodScore: 0.8,
  /** How many lines a tag keeps. */
  entries: { min: 1, max: 200, default: 30 },
} as const

/**
 * A text as one line: breaks and white space become single blanks; what is invisible or turns the direction of writing is
 * left out, but for the joiners that some scripts are spelled with.
 */
export function oneLine(text: string): string {
  return text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]|[\u{e0000}-\u{e007f}]/gu, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}

/** A text as the content of a line; empty when there is nothing to read in it. */
export function lineOf(
  text: string,
  prefix = '',
  most: number = lessonLimits.contentCharacters,
): string {
  const flat = cut(oneLine(text), most).trimEnd()
  if (!/[\p{L}\p{N}\p{S}]/u.test(flat)) return ''
  return cut(prefix + flat, lessonLimits.contentCharacters).trimEnd()
}

/** The first UTF-16 units of a text, one fewer where the cut would split a character in two. */
function cut(text: string, most: number): string {
  const start = text.slice(0, most)
  return start.isWellFormed() ? start : start.slice(0, -1)
}
