/** A sentence in which each quoted text is a mark such as `«0»`, so that its words are never taken for grammar. */
export interface Masked {
  readonly text: string
  readonly quoted: readonly string[]
}

export function mask(text: string): Masked {
  const quoted: string[] = []
  const masked = text.replace(/"([^"]*)"|“([^”]*)”/g, (_, straight, curly) => {
    quoted.push(straight ?? curly)
    return `«${quoted.length - 1}»`
  })
  return { text: masked, quoted }
}

/** The texts on both sides of every place where `separator` stands outside parentheses. */
export function* splits(
  text: string,
  separator: string,
): Generator<readonly [left: string, right: string]> {
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) {
    const left = text.slice(0, at)
    if (depthOf(left) === 0) yield [left, text.slice(at + separator.length)]
  }
}

function depthOf(text: string): number {
  return [...text].reduce((depth, char) => depth + (char === '(' ? 1 : char === ')' ? -1 : 0), 0)
}

/** What stands in parentheses, where all of the text does. */
export function withoutGroup(text: string): string {
  const inner = /^\((.+)\)$/.exec(text)?.[1]
  const isOne = inner !== undefined && [...closings(inner)].every((depth) => depth >= 0)
  return isOne ? withoutGroup(inner.trim()) : text
}

/** How deep in parentheses each character stands; below zero where one closes that was not opened. */
function* closings(text: string): Generator<number> {
  let depth = 0
  for (const char of text) {
    if (char === '(') depth += 1
    if (char === ')') depth -= 1
    yield depth
  }
}

/** The last place of one of the operators outside parentheses, with blanks around it. */
export function splitLast(
  text: string,
  operators: readonly string[],
): readonly [left: string, operator: string, right: string] | undefined {
  let found: readonly [string, string, string] | undefined
  for (const operator of operators) {
    for (const [left, right] of splits(text, ` ${operator} `)) {
      if (found === undefined || left.length > found[0].length) found = [left, operator, right]
    }
  }
  return found
}

/** Words that say nothing about which value is meant. */
const empty = new Set([
  ...['a', 'an', 'the', 'that', 'this', 'its', 'their', 'any', 'each', 'all', 'of', 'for', 'with'],
  ...['already', 'currently', 'itself', 'own', 'given', 'at', 'on', 'in', 'by', 'moment', 'value'],
])

/** The words of a phrase or a name that tell what is meant, in the singular. */
export function wordsOf(phrase: string): readonly string[] {
  const words = phrase
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const telling = words.filter((word) => !empty.has(word))
  // A field may be called by such a word alone: `value`.
  return (telling.length > 0 ? telling : words.slice(-1)).map(singular)
}

export function isPlural(phrase: string): boolean {
  const last =
    phrase
      .trim()
      .split(/[^A-Za-z0-9]+/)
      .at(-1) ?? ''
  return singular(last) !== last
}

function singular(word: string): string {
  if (word.length < 4 || /(ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(sses|xes|ches|shes)$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

export function hasAll(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length > 0 && wanted.every((word) => words.includes(word))
}

export function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return hasAll(a, b) && hasAll(b, a)
}

export function withoutArticle(phrase: string): string {
  return phrase.trim().replace(/^(?:the|that|this|its|a|an|their|his|her)\s+/i, '')
}
