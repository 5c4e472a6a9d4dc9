/** A piece of a sentence: a word in lower case, a mark, or the name of the procedure as a whole. */
export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'mark'; readonly mark: string }
  | { readonly kind: 'name' }

export interface Sentence {
  readonly tokens: readonly Token[]
  /** `.`, `!`, `?`, `,` or nothing. */
  readonly end: string
}

/** A character that has no place in a sentence, and what it is. */
export interface StrangeCharacter {
  readonly strange: 'digit' | 'letter' | 'symbol'
}

/**
 * Cuts one sentence of plain English into words. Anything but English letters, marks, commas, colons and the sign at
 * the end is strange: digits, letters of other scripts, markup, links, currency signs, emoji, invisible characters.
 */
export function readSentence(text: string, procedureName: string): Sentence | StrangeCharacter {
  // A mark stands apart, so that nothing grows together with the value that takes its place.
  if (/[^\s]\[\[|\]\][^\s.,:!?]/.test(text)) return { strange: 'symbol' }
  const tokens: Token[] = []
  let rest = text.trim()
  let end = ''
  while (rest !== '') {
    const name = nameLength(rest, procedureName)
    const mark = /^\[\[(f[1-9][0-9]{0,2})\]\]/.exec(rest)
    const word = /^[A-Za-z]+(?:['’][A-Za-z]+)?/.exec(rest)
    if (name > 0) {
      tokens.push({ kind: 'name' })
      rest = rest.slice(name)
    } else if (mark?.[1] !== undefined) {
      tokens.push({ kind: 'mark', mark: mark[1] })
      rest = rest.slice(mark[0].length)
    } else if (word !== null) {
      tokens.push({ kind: 'word', text: word[0].toLowerCase().replace('’', "'") })
      rest = rest.slice(word[0].length)
    } else {
      const [character = ''] = rest
      const isEnd = rest.length === 1 && /[.!?,]/.test(rest)
      if (!isEnd && !/^[,:] /.test(rest) && !/^ [^ ]/.test(rest)) return { strange: kindOf(rest) }
      if (isEnd) end = character
      rest = rest.slice(1)
    }
  }
  return { tokens, end }
}

/** How many characters the procedure's name takes here, with or without quotes; 0 when it does not stand here. */
function nameLength(text: string, name: string): number {
  const candidates = [`"${name}"`, `“${name}”`, `'${name}'`, name]
  const found = candidates.find((candidate) => text.startsWith(candidate))
  if (name.trim() === '' || found === undefined) return 0
  return /^[\p{L}\p{M}\p{N}]/u.test(text.slice(found.length)) ? 0 : found.length
}

/** What is strange about a text, named by its worst. */
function kindOf(rest: string): StrangeCharacter['strange'] {
  if (/\p{N}/u.test(rest.replace(/\[\[f\d+\]\]/g, ''))) return 'digit'
  return /^[\p{L}\p{M}]/u.test(rest) ? 'letter' : 'symbol'
}
