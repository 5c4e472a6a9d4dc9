import { RE2JS } from 're2js'
import { linearPattern } from './linear-pattern.ts'

/** Letters, digits, marks, underscores and dashes of every script, and invisible characters, continue a token. */
export const inToken = String.raw`\p{L}\p{M}\p{N}_\p{Pd}\p{Cf}`

/** Shorter strings stand by chance in too many texts. */
const minLength = 4

/**
 * Characters that one call may scan. A pattern may look far ahead from each of its matches, and a text can be made of
 * such matches: without a bound that is quadratic. 4 MiB is four times the longest ticket.
 */
const maxScanned = 4 * 1024 * 1024

/**
 * Finds the different values of a JSON Schema `pattern` that stand in a text as whole tokens and that `accepts`
 * allows, at most `limit`, in the order in which they first stand there.
 *
 * A token has no white space in it, no letter, digit, underscore, dash or invisible character next to it, and is not
 * part of a longer number such as 1,234.56. It matches exactly as the pattern says: no case, dash or invisible
 * character is folded, since two ids may differ in just that.
 *
 * Undefined when the pattern cannot tell a value from prose: it is no RE2 expression, may match fewer than four
 * characters or a word of letters alone, or uses syntax that this module cannot judge. Also when the text would take
 * more than 4 MiB of scanning.
 */
export function findTokens(
  pattern: string,
  text: string,
  limit: number,
  accepts: (value: string) => boolean = () => true,
): readonly string[] | undefined {
  const finder = tokenFinder(pattern)
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
      const value = chunk.slice(start, end)
      if (!isInsideNumber(chunk, start, end) && accepts(value)) values.add(value)
      if (values.size >= limit) return [...values]
    }
  }
  return [...values]
}

function tokenFinder(pattern: string): RE2JS | undefined {
  try {
    // First as it stands: the limits on length, depth and size then hold for what follows.
    linearPattern(pattern)
    const judged = judgePattern(pattern)
    if (judged === undefined || judged.isWord || judged.length < minLength) return undefined
    const source = RE2JS.translateRegExp(judged.source)
    return RE2JS.compile(`(?:^|[^${inToken}])(${source})(?:$|[^${inToken}])`)
  } catch {
    // Not linear: the check of the definition says so, and here it only means that text cannot supply the value.
    return undefined
  }
}

/** 1234 is no value of its own in `1234.56` and `9,1234`. */
export function isInsideNumber(text: string, start: number, end: number): boolean {
  return (
    /[0-9][.,][0-9]$/.test(text.slice(Math.max(start - 2, 0), start + 1)) ||
    /^[0-9][.,][0-9]/.test(text.slice(end - 1, end + 2))
  )
}

/** What is known of all strings that a part of a pattern matches. */
interface Judgement {
  /** The part without anchors: whole tokens take their place. */
  readonly source: string
  /** Characters of the shortest match. */
  readonly length: number
  /** Whether some match consists of letters alone; also true of the empty match. */
  readonly isWord: boolean
}

const nothing: Judgement = { source: '', length: 0, isWord: true }

class NotJudged extends Error {}

/**
 * Judges a pattern that compiles. Reads the common core of RE2 and ECMAScript syntax; where the two differ or a part
 * is exotic it gives up, which costs nothing but a question to the customer.
 */
function judgePattern(pattern: string): Judgement | undefined {
  const reader = new PatternReader(pattern)
  try {
    return reader.readAlternatives()
  } catch (error) {
    if (error instanceof NotJudged) return undefined
    throw error
  }
}

class PatternReader {
  readonly #characters: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#characters = [...pattern]
  }

  readAlternatives(): Judgement {
    let result = this.#readSequence()
    while (this.#take('|')) {
      const other = this.#readSequence()
      result = {
        source: `${result.source}|${other.source}`,
        length: Math.min(result.length, other.length),
        isWord: result.isWord || other.isWord,
      }
    }
    return result
  }

  #readSequence(): Judgement {
    let result = nothing
    while (this.#peek() !== undefined && this.#peek() !== '|' && this.#peek() !== ')') {
      const part = this.#readRepeated()
      result = {
        source: result.source + part.source,
        length: result.length + part.length,
        isWord: result.isWord && part.isWord,
      }
    }
    return result
  }

  #readRepeated(): Judgement {
    const part = this.#readAtom()
    const suffix = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(
      this.#characters.slice(this.#at, this.#at + 16).join(''),
    )
    if (suffix === null) return part
    this.#at += suffix[0].length
    const least = suffix[1] === undefined ? (suffix[0].startsWith('+') ? 1 : 0) : Number(suffix[1])
    return {
      // An anchor that is repeated leaves nothing to repeat.
      source: part.source === '' ? '' : part.source + suffix[0],
      length: part.length * least,
      isWord: part.isWord || least === 0,
    }
  }

  #readAtom(): Judgement {
    const character = this.#next()
    switch (character) {
      case '^':
      case '$':
        return nothing
      case '(':
        return this.#readGroup()
      case '[':
        return this.#readClass()
      case '.':
        return one('.', true)
      case '\\':
        return this.#readEscape()
      default:
        return one(character, isLetter(character))
    }
  }

  #readGroup(): Judgement {
    if (this.#take('?') && !this.#take(':')) throw new NotJudged()
    const inner = this.readAlternatives()
    if (!this.#take(')')) throw new NotJudged()
    return { ...inner, source: `(?:${inner.source})` }
  }

  #readEscape(): Judgement {
    const character = this.#next()
    if (character === 'A' || character === 'z') return nothing
    if (character === 'b' || character === 'B') return { ...nothing, source: `\\${character}` }
    return one(`\\${character}`, mayEscapeBeLetter(character))
  }

  /** A class that is negated, or holds a range beyond ASCII, counts as holding letters. */
  #readClass(): Judgement {
    let source = '['
    let hasLetter = false
    if (this.#take('^')) {
      source += '^'
      hasLetter = true
    }
    while (!this.#take(']')) {
      let character = this.#next()
      if (character === '[') throw new NotJudged()
      if (character === '\\') {
        const escaped = this.#next()
        hasLetter ||= mayEscapeBeLetter(escaped)
        character += escaped
      } else if (character === '-') {
        hasLetter ||= mayRangeHoldLetter(source.at(-1), this.#peek())
      } else {
        hasLetter ||= isLetter(character)
      }
      source += character
    }
    return one(`${source}]`, hasLetter)
  }

  #peek(): string | undefined {
    return this.#characters[this.#at]
  }

  #next(): string {
    const character = this.#characters[this.#at]
    if (character === undefined) throw new NotJudged()
    this.#at += 1
    return character
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at += 1
    return true
  }
}

function one(source: string, mayBeLetter: boolean): Judgement {
  return { source, length: 1, isWord: mayBeLetter }
}

function isLetter(character: string): boolean {
  return /^[\p{L}\p{M}]$/u.test(character)
}

/** Whether an escape may stand for a letter; throws for escapes that are more than the one character after the `\`. */
function mayEscapeBeLetter(character: string): boolean {
  if (/^[dstnrfv]$/.test(character)) return false
  if (/^[DwWS]$/.test(character)) return true
  if (/^[A-Za-z0-9]$/.test(character)) throw new NotJudged()
  return isLetter(character)
}

/** Whether a `-` between two characters of a class spans letters. A `-` at either end stands for itself. */
function mayRangeHoldLetter(from: string | undefined, to: string | undefined): boolean {
  if (from === undefined || from === '[' || from === '^' || to === undefined || to === ']')
    return false
  return !(/^\d$/.test(from) && /^\d$/.test(to))
}
