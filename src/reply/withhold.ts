import { type FoldedText, foldText, lettersOf } from '../domain/folded-text.ts'
import type { Json } from '../domain/json.ts'

const defaultMark = '[withheld]'

/**
 * Shorter ones stand by chance in every other word and number: those with a digit are withheld where they stand alone, and
 * those without, such as "a" and "no", say nothing.
 */
const minLength = 3

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * A text without the values that must not leave the service: a model is told that something stood there, and not what.
 * A value is found by its letters and digits, as a reader takes them in: in any case, full width, script or accent, and
 * with anything between them, as people write numbers of cards and telephones. `mark` takes its place.
 */
export function withhold(text: string, values: readonly Json[], mark = defaultMark): string {
  const texts = values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' ? [String(value)] : [],
  )
  if (texts.length === 0) return text
  const letters = lettersOf(foldText(text), '')
  const read = alike(letters.text)
  const spans = [...new Set(texts)].flatMap((value) => {
    const wanted = alike(lettersOf(foldText(value), '').text)
    const isShort = wanted.length < minLength
    if (isShort && !/\p{N}/u.test(value)) return []
    return placesOf(wanted, read)
      .filter((place) => !isShort || isAlone(letters, place))
      .map(({ start, end }) => sourceSpan(letters, start, end))
  })
  return withoutSpans(text, spans, mark)
}

/** `O` and `0`, `I`, `L` and `1` are one. */
function alike(text: string): string {
  return text.replace(/O/g, '0').replace(/[IL]/g, '1')
}

function placesOf(wanted: string, text: string): readonly Span[] {
  const places: Span[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    places.push({ start: at, end: at + wanted.length })
  }
  return places
}

/** Whether no letter or digit stands right beside a part of the letters in the text. */
function isAlone(letters: FoldedText, { start, end }: Span): boolean {
  const isApart = (left: number, right: number): boolean => {
    if (left < 0 || right >= letters.text.length) return true
    return letters.sourceOf(left, left + 1)[1] < letters.sourceOf(right, right + 1)[0]
  }
  return isApart(start - 1, start) && isApart(end - 1, end)
}

function sourceSpan(letters: FoldedText, start: number, end: number): Span {
  const [from, to] = letters.sourceOf(start, end)
  return { start: from, end: to }
}

function withoutSpans(text: string, spans: readonly Span[], mark: string): string {
  let rest = ''
  let from = 0
  let isOpen = false
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (end <= from) continue
    if (!isOpen || start > from) rest += text.slice(from, Math.max(start, from)) + mark
    from = end
    isOpen = true
  }
  return rest + text.slice(from)
}
