import type { Json } from '../domain/json.ts'

/** Shorter patterns stand by chance in too many texts. */
const minPatternLength = 4
/** How long the ends are by which patterns are looked up: long enough that few share one. Short patterns have the short. */
const tailLengths = { long: 8, short: minPatternLength } as const
/** A longer text is cut: it would have more ends than the database should look up for one search. */
const maxTextLength = 20_000

/** An issue pattern as search looks for it. */
export interface LiteralPattern {
  /** Folded, whole. */
  readonly pattern: string
  /** Its last eight characters, or four where it has no eight. */
  readonly tail: string
}

/**
 * The text in which literal patterns are looked for: the issue and every string value in the context, one a line,
 * folded as patterns are, and cut at 20,000 characters. Made once per search, however many procedures there are.
 */
export function literalText(issue: string, context: Json = null): string {
  const whole = [issue, ...stringValues(context)].join('\n')
  return fold(whole.slice(0, maxTextLength))
}

/** The patterns that can be found literally: those of at least four characters, white space around them not counted. */
export function literalPatterns(patterns: readonly string[]): readonly LiteralPattern[] {
  return patterns.flatMap((written) => {
    const pattern = fold(written.trim())
    const characters = [...pattern]
    if (characters.length < minPatternLength) return []
    const { long, short } = tailLengths
    return { pattern, tail: characters.slice(characters.length < long ? -short : -long).join('') }
  })
}

/** Every end that a pattern can have that stands in the text, each once: its runs of eight and of four characters. */
export function literalTails(text: string): readonly string[] {
  const tails = new Set<string>()
  // Cut by places, so that characters outside the basic plane stay whole, and no run is joined from its parts.
  const places = [0]
  for (const character of text) places.push((places.at(-1) ?? 0) + character.length)
  for (const length of Object.values(tailLengths)) {
    for (let end = length; end < places.length; end += 1) {
      tails.add(text.slice(places[end - length], places[end]))
    }
  }
  return [...tails]
}

/**
 * The patterns that stand literally in a text, ignoring case: whole, as they are written, at least four characters
 * long, though not necessarily at word boundaries.
 */
export function literalMatches(patterns: readonly string[], text: string): readonly string[] {
  return patterns.filter((pattern) =>
    literalPatterns([pattern]).some((wanted) => text.includes(wanted.pattern)),
  )
}

/** What no database text can hold is folded away. */
function fold(text: string): string {
  return text.toWellFormed().replaceAll('\0', ' ').normalize('NFC').toLowerCase()
}

function stringValues(root: Json): readonly string[] {
  const values: string[] = []
  const open: Json[] = [root]
  // A loop, because recursion on a caller's nesting could exhaust the stack.
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') values.push(value)
    else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) open.push(member)
    }
  }
  return values
}
