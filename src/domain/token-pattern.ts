import { RE2JS } from 're2js'
import { type FoldedText, lettersOf } from './folded-text.ts'
import { linearPattern } from './linear-pattern.ts'
import { once } from './once.ts'
import { judgePattern } from './pattern-judgement.ts'
import { inToken, isWhole } from './text-value.ts'

/** Shorter strings stand by chance in too many texts. */
const minLength = 4

/**
 * Characters that one call may scan. A pattern may look far ahead from each of its matches, and a text can be made of
 * such matches: without a bound that is quadratic. 2 MiB is twice the longest ticket.
 */
const maxScanned = 2 * 1024 * 1024

/** A part of a text: UTF-16 offsets, the end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Finds the different values of a JSON Schema `pattern` that stand in a text as whole tokens (`isWhole`), at most
 * `limit`, in the order in which they first stand there. A token has no white space in it, and matches exactly as the
 * pattern says: nothing is folded, since two ids may differ in just that.
 *
 * Undefined when the pattern cannot tell a value from prose: it is no RE2 expression, may match fewer than four
 * characters or a word of letters alone, or uses syntax that cannot be judged. Also when the text would take more than
 * 2 MiB of scanning.
 */
export function findTokens(
  pattern: string,
  text: string,
  limit: number,
): readonly string[] | undefined {
  const finder = findersOf(pattern).exact
  if (finder === undefined) return undefined
  const values = new Set<string>()
  let scanned = 0
  for (const chunk of new Set(text.split(/\s+/u))) {
    const matcher = finder.matcher(chunk)
    // The next search starts where a token ends, so that one comma can separate two tokens.
    for (let from = 0; ; from = matcher.end(1)) {
      scanned += chunk.length - from
      if (scanned > maxScanned) return undefined
      if (!matcher.find(from)) break
      const [start, end] = [matcher.start(1), matcher.end(1)]
      if (isWhole(chunk, start, end)) values.add(chunk.slice(start, end))
      if (values.size >= limit) return [...values]
    }
  }
  return [...values]
}

/**
 * Where a folded text has something that looks like a match of a pattern, without letters and digits beside it. Nothing
 * looks like a pattern that cannot be judged, or that words of letters match. Undefined when it would take too long.
 */
export function findAlikes(pattern: string, { text }: FoldedText): readonly Span[] | undefined {
  const finder = findersOf(pattern).alike?.()
  if (finder === 'too_large') return undefined
  return finder === undefined ? [] : findAll(finder, text)
}

/**
 * The parts of a text that a value of a pattern may stand in, however it is written: in which case or script, with
 * which gaps or signs between its letters and digits. Rather too much than too little: what is found is hidden, not used.
 *
 * Of a pattern that words of prose match, and of one that cannot be judged, only tokens with a digit are found that
 * match it just so.
 */
export function findSpellings(pattern: string, folded: FoldedText, source: string): string[] {
  const { gapped, alike, tokens } = findersOf(pattern)
  const spelled = gapped === undefined ? folded : lettersOf(folded, ' ')
  const finder = (gapped ?? alike)?.()
  if (finder !== undefined && finder !== 'too_large') {
    const spans = findAll(finder, spelled.text) ?? []
    return spans.map(({ start, end }) => {
      const found = spelled.text.slice(start, end).trimEnd()
      return source.slice(...spelled.sourceOf(start, start + found.length))
    })
  }
  return source
    .split(/\s+/u)
    .flatMap((chunk) => [chunk, chunk.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')])
    .filter((token) => /\p{N}/u.test(token) && tokens(token))
}

function findAll(finder: RE2JS, text: string): readonly Span[] | undefined {
  const spans: Span[] = []
  const matcher = finder.matcher(text)
  let scanned = 0
  for (let from = 0; from <= text.length; ) {
    scanned += text.length - from
    if (scanned > maxScanned) return undefined
    if (!matcher.find(from)) break
    const [start, end] = [matcher.start(1), matcher.end(1)]
    spans.push({ start, end })
    from = Math.max(end, from + 1)
  }
  return spans
}

type Grown = RE2JS | 'too_large'

/** Ways to find values of a pattern. Most patterns are asked for the first alone, so the others are made when needed. */
interface Finders {
  /** Whole tokens, just as the pattern says; absent for one that cannot tell a value from prose. */
  readonly exact?: RE2JS
  /** What looks like one, in a folded text; absent for one that cannot be judged, or that words look like. */
  readonly alike?: () => Grown
  /** The same in letters and digits with blanks between them. */
  readonly gapped?: () => Grown
  readonly tokens: (token: string) => boolean
}

/** What one may be grown to by look-alikes, as `linearPattern` limits what is written. */
const maxProgramSize = 2_500

// Reading a pattern takes a hundred times as long as finding this.
const found = new Map<string, Finders>()
const maxFound = 500

function findersOf(pattern: string): Finders {
  const known = found.get(pattern)
  if (known !== undefined) return known
  if (found.size >= maxFound) found.clear()
  const finders = makeFinders(pattern)
  found.set(pattern, finders)
  return finders
}

function makeFinders(pattern: string): Finders {
  try {
    // First as it stands: the limits on length, depth and size then hold for what follows.
    const tokens = linearPattern(pattern).test
    const judged = judgePattern(pattern)
    if (judged === undefined) return { tokens }
    const { source, isWord, length, gapped, isGappedWord } = judged
    // Where only punctuation tells a value from words, it must be there.
    const alike = isGappedWord ? judged.folded : judged.alike
    const isToken = !isWord && length >= minLength
    return {
      tokens,
      ...(isToken && { exact: bounded(RE2JS.translateRegExp(source), inToken) }),
      ...(!isWord && { alike: once(() => grown(alike, String.raw`\p{L}\p{N}`)) }),
      // A longer number is another one; a letter before or after may be anything.
      ...(!isGappedWord && { gapped: once(() => grown(gapped, '0-9')) }),
    }
  } catch {
    // Not linear: the check of the definition says so, and here it only means that nothing is found.
    return { tokens: () => false }
  }
}

function grown(source: string, around: string): Grown {
  try {
    const finder = bounded(source, around)
    return finder.programSize() > maxProgramSize ? 'too_large' : finder
  } catch {
    // Repeats that were just small enough are not any more.
    return 'too_large'
  }
}

function bounded(source: string, around: string): RE2JS {
  return RE2JS.compile(`(?:^|[^${around}])(${source})(?:$|[^${around}])`)
}
