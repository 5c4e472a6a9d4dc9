import { RE2JS } from 're2js'
import { foldText } from './folded-text.ts'

/** What is known of all strings that a part of a pattern matches. */
export interface Judgement {
  /** The part without anchors: whole tokens take their place. */
  readonly source: string
  /** Characters of the shortest match. */
  readonly length: number
  /** Whether some match consists of letters alone; also true of the empty match. */
  readonly isWord: boolean
  /** The same for what matches look like in a folded text. */
  readonly folded: string
  /** And with any other sign, a gap or nothing where the pattern has punctuation. */
  readonly alike: string
  /** For letters and digits that have gaps of one blank anywhere. */
  readonly gapped: string
  /** Whether some match of `gapped` consists of letters alone. */
  readonly isGappedWord: boolean
}

const nothing: Judgement = {
  source: '',
  length: 0,
  isWord: true,
  folded: '',
  alike: '',
  gapped: '',
  isGappedWord: true,
}

class NotJudged extends Error {}

/**
 * Judges a pattern that compiles. Reads the common core of RE2 and ECMAScript syntax; where the two differ or a part
 * is exotic it gives up, which costs nothing but a question to the customer.
 */
export function judgePattern(pattern: string): Judgement | undefined {
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
        folded: `${result.folded}|${other.folded}`,
        alike: `${result.alike}|${other.alike}`,
        gapped: `${result.gapped}|${other.gapped}`,
        isGappedWord: result.isGappedWord || other.isGappedWord,
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
        folded: result.folded + part.folded,
        alike: result.alike + part.alike,
        gapped: result.gapped + part.gapped,
        isGappedWord: result.isGappedWord && part.isGappedWord,
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
    // An anchor that is repeated leaves nothing to repeat.
    const repeated = (source: string) => (source === '' ? '' : source + suffix[0])
    return {
      source: repeated(part.source),
      length: part.length * least,
      isWord: part.isWord || least === 0,
      folded: repeated(part.folded),
      alike: repeated(part.alike),
      gapped: repeated(part.gapped),
      isGappedWord: part.isGappedWord || least === 0,
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
    const grouped = (source: string) => (source === '' ? '' : `(?:${source})`)
    return {
      ...inner,
      source: `(?:${inner.source})`,
      folded: grouped(inner.folded),
      alike: grouped(inner.alike),
      gapped: grouped(inner.gapped),
    }
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
  const alike = alikeOf(source)
  const isGappedWord = mayBeLetter || alike.gapped === ''
  return { source, length: 1, isWord: mayBeLetter, ...alike, isGappedWord }
}

const ascii = Array.from({ length: 0x7f - 0x20 }, (_, place) => String.fromCharCode(place + 0x20))
/** What one character of a pattern may be written as. */
const readAlike: Readonly<Record<string, string>> = {
  O: 'O0',
  0: 'O0',
  I: 'IL1',
  L: 'IL1',
  1: 'IL1',
}

type Alike = Pick<Judgement, 'folded' | 'alike' | 'gapped'>

// Patterns are made of few different characters and classes.
const known = new Map<string, Alike>()
const maxKnown = 1_000

/** What one character of a pattern looks like when both are folded. */
function alikeOf(source: string): Alike {
  const found = known.get(source) ?? findAlike(source)
  if (known.size >= maxKnown) known.clear()
  known.set(source, found)
  return found
}

function findAlike(source: string): Alike {
  const only = RE2JS.compile(`^(?:${RE2JS.translateRegExp(source)})$`)
  // A character of another script that stands for itself is folded; of classes of them all count.
  const own = [...source].length === 1 ? [source] : []
  const matched = [...ascii, ...own].filter((character) => only.test(character))
  const folded = [...foldText(matched.join('')).text]
  const letters = folded.filter((character) => /[\p{L}\p{N}]/u.test(character))
  const others = folded.filter((character) => !letters.includes(character))
  const isWide = own.length === 0 && ['é', 'я', '字'].some((character) => only.test(character))
  const wide = isWide ? String.raw`\x{80}-\x{10FFFF}` : ''
  const members = letters.flatMap((letter) => [...(readAlike[letter] ?? letter)])
  const letterClass = `${[...new Set(members)].map(escaped).join('')}${wide}`
  const otherClass = [...new Set(others)].map(escaped).join('')
  if (letterClass === '') {
    return { folded: otherClass && `[${otherClass}]`, alike: anyGap, gapped: '' }
  }
  return {
    folded: `[${letterClass}${otherClass}]`,
    alike: `[${letterClass}${otherClass}]`,
    gapped: `(?:[${letterClass}] ?)`,
  }
}

/** Where a pattern has punctuation, a writer may have had another, a blank or none. */
const anyGap = String.raw`[^\p{L}\p{N}]{0,3}`

function escaped(character: string): string {
  return `\\x{${character.codePointAt(0)?.toString(16)}}`
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
