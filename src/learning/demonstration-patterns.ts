import { foldText } from '../domain/folded-text.ts'

/** Words of a situation in their order, each with where it stands. */
interface Word {
  readonly folded: string
  readonly start: number
  readonly end: number
}

const maxPatterns = 6
const minWords = 2
const maxWords = 5
/** Of a situation that is the only one, so many words. */
const wordsOfOnly = 10
const looseWords = new Set(
  'a an the i my me we our you your it its is are was were be been am do did does has have had and or but if of to in on at for from by with as this that there not no hello hi please thanks'.split(
    ' ',
  ),
)

/**
 * Wordings that situations share: what comes again in at least two of them, so that nothing that one customer alone has
 * said gets into a playbook. Of one situation alone its first words. No word with a digit or an @ is in any: those are values.
 */
export function patternsOf(situations: readonly string[]): readonly string[] {
  const different = [...new Set(situations)]
  if (different.length === 1) return firstWords(different[0] ?? '')
  const found = new Map<string, { readonly text: string; readonly words: number; count: number }>()
  for (const situation of different) {
    const inThis = new Set<string>()
    for (const part of partsOf(situation)) {
      for (const phrase of phrasesOf(part, situation)) {
        if (inThis.has(phrase.folded)) continue
        inThis.add(phrase.folded)
        const known = found.get(phrase.folded) ?? { ...phrase, count: 0 }
        known.count += 1
        found.set(phrase.folded, known)
      }
    }
  }
  const ranked = [...found]
    .filter(([, { count }]) => count > 1)
    .sort(
      ([aKey, a], [bKey, b]) =>
        b.count * b.words - a.count * a.words || b.words - a.words || (aKey < bKey ? -1 : 1),
    )
  const chosen: string[] = []
  const patterns: string[] = []
  for (const [folded, { text }] of ranked) {
    if (chosen.some((one) => one.includes(folded) || folded.includes(one))) continue
    chosen.push(folded)
    patterns.push(text)
    if (patterns.length === maxPatterns) break
  }
  return patterns
}

/**
 * The words that more than half of the situations have, loose ones left out; where there is none, the two that most have,
 * and at least two of them. Of as many the first by their letters; in the order in which the situation that has the most
 * of them says them.
 */
export function commonWordsOf(situations: readonly string[], most: number): readonly string[] {
  const worded = [...new Set(situations)].map((situation) =>
    [...new Set(partsOf(situation).flatMap((part) => part.map(({ folded }) => folded)))].filter(
      (word) => word.length > 2 && !looseWords.has(word),
    ),
  )
  const counts = new Map<string, number>()
  for (const word of worded.flat()) counts.set(word, (counts.get(word) ?? 0) + 1)
  const shared = [...counts]
    .filter(([, count]) => count > 1)
    .sort(([aWord, a], [bWord, b]) => b - a || (aWord < bWord ? -1 : 1))
  const frequent = shared.filter(([, count]) => count * 2 > worded.length)
  const chosen = (frequent.length > 0 ? frequent.slice(0, most) : shared.slice(0, 2)).map(
    ([word]) => word,
  )
  const orders = worded.map((words) => words.filter((word) => chosen.includes(word)))
  const [longest = []] = orders.sort((a, b) => b.length - a.length)
  return [...longest, ...chosen.filter((word) => !longest.includes(word))]
}

/** A text without what has a digit or an @ in it: ids, numbers and addresses are those of somebody. */
export function withoutValues(text: string): string {
  return text.replaceAll(value, '…')
}

function firstWords(situation: string): readonly string[] {
  const [part] = [...partsOf(situation)].sort((a, b) => b.length - a.length)
  const words = part?.slice(0, wordsOfOnly) ?? []
  const text = situation.slice(words[0]?.start ?? 0, words.at(-1)?.end ?? 0)
  return text === '' ? [] : [text]
}

/** The words of a situation in runs that no value, and no end of a sentence, interrupts. */
function partsOf(situation: string): readonly (readonly Word[])[] {
  const parts: Word[][] = [[]]
  let last = 0
  const plain = situation.replaceAll(value, (found) => '\n'.repeat(found.length))
  for (const { segment, index, isWordLike } of segmenter.segment(plain)) {
    if (!isWordLike) continue
    const isCut = /[.!?:;,。，！？\n()"“”-]/u.test(plain.slice(last, index))
    const folded = foldText(segment).text.toLowerCase()
    last = index + segment.length
    if (isCut) parts.push([])
    parts.at(-1)?.push({ folded, start: index, end: last })
  }
  return parts.filter((part) => part.length > 0)
}

/** An id, a number, an address: what has a digit in it, or an @. */
const value = /[A-Za-z0-9_#.@+-]*[\p{N}@][A-Za-z0-9_#.@+-]*/gu

const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

function* phrasesOf(
  words: readonly Word[],
  situation: string,
): Generator<{ readonly folded: string; readonly text: string; readonly words: number }> {
  for (let from = 0; from < words.length; from += 1) {
    for (let count = minWords; count <= maxWords && from + count <= words.length; count += 1) {
      const some = words.slice(from, from + count)
      const [first, last] = [some[0], some.at(-1)]
      if (first === undefined || last === undefined) continue
      // With one word alone that says something it would fit far too much: `the order`, `I was charged`.
      const telling = some.filter((one) => !looseWords.has(one.folded))
      if (looseWords.has(last.folded) || telling.length < minWords) continue
      const folded = some.map((one) => one.folded).join(' ')
      yield { folded, text: situation.slice(first.start, last.end), words: count }
    }
  }
}
