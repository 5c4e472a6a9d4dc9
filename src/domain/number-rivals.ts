import { foldText } from './folded-text.ts'
import { currency, measures } from './known-numbers.ts'
import { isWhole } from './text-value.ts'

/** What a number was read from, and what is known of its property. */
export interface NumberGround {
  readonly text: string
  /** Name and description of the property: a unit that they name may stand beside the number. */
  readonly meaning: string
  /** Ids that stand in the text and are known to mean something else. */
  readonly others: ReadonlySet<string>
}

/** What a text has of a number: nothing, just it, or something else that may be meant. */
export type NumberStanding = 'absent' | 'alone' | 'rivalled'

/** Takes the place of the number, so that what stands around it can be told. */
const self = '\uE000'

const numberWords = new RegExp(
  '\\b(?:ZERO|(?<!\\b(?:THE|THIS|THAT|WHICH|NO|ANY|EVERY|EACH|OTHER|ANOTHER|LAST|FIRST|NEW|OLD|RIGHT|WRONG) )ONE(?! OF\\b)|' +
    'TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|ELEVEN|TWELVE|\\w{2,6}TEEN|TWENTY|THIRTY|FORTY|FOURTY|FIFTY|SIXTY|' +
    'SEVENTY|EIGHTY|NINETY|HUNDREDS?|THOUSANDS?|MILLIONS?|BILLIONS?|DOZENS?|GRAND|HALF|HALVES|QUARTERS?|THIRDS?)\\b',
)

/** Words that make another number of the one beside them, or another number possible. */
const shifting =
  'MINUS|NEGATIVE|PLUS|TWICE|DOUBLE|TRIPLE|THRICE|LESS|MORE|OFF|PER|EACH|UP TO|ABOUT|AROUND|ROUGHLY|APPROX|APPROXIMATELY|' +
  'CIRCA|CA|ALMOST|NEARLY|OVER|ABOVE|UNDER|BELOW|LEAST|MOST|BETWEEN|NOT|NOR|EXCEPT|INSTEAD|OR|ODER|OU'
/** Signs that say the same. A sign that is attached makes the number part of something longer. */
const signs = '[-+±~<>≤≥≈=×*/^°√#&|]'

const shiftedBefore = new RegExp(`(?:${signs}|\\b(?:${shifting})(?: THE| A| OF)?) *${self}`, 'u')
// A dash with a blank before it only goes on with the sentence.
const shiftedAfter = new RegExp(`${self}(?: *(?!-)${signs}| *(?:${shifting})\\b)`, 'u')
const measureBefore = new RegExp(`(?<![\\p{L}\\p{N}])(?:${currency}|RS|KR)\\.? ?${self}`, 'gu')
const measureAfter = new RegExp(`${self}[ -]?(?:${measures})(?![\\p{L}\\p{N}])`, 'gu')

/**
 * Whether a number that was read stands in a text, whole, and nothing else there may be meant: no other digit, number in
 * words, sign or group of digits anywhere, and beside it no unit that the property does not name. The form of the number
 * must be plain: what `1,234` means depends on who wrote it.
 */
export function standingOf(
  number: string,
  { text, meaning, others }: NumberGround,
): NumberStanding {
  let rest = ''
  let from = 0
  let count = 0
  for (let at = text.indexOf(number); at >= 0; at = text.indexOf(number, at + number.length)) {
    if (!standsWithCurrency(text, at, at + number.length)) continue
    count += 1
    if (count > maxPlaces) return 'rivalled'
    rest += `${text.slice(from, at)}${self}`
    from = at + number.length
  }
  if (count === 0) return 'absent'
  rest += text.slice(from)
  for (const other of others) rest = rest.replaceAll(other, ' ')
  const around = foldText(rest).text
  const isRivalled =
    /\p{N}/u.test(around) ||
    numberWords.test(around) ||
    shiftedBefore.test(around) ||
    shiftedAfter.test(around) ||
    hasOtherMeasure(around, foldText(meaning).text)
  return isRivalled ? 'rivalled' : 'alone'
}

/** Nobody names an amount more often; going through them all takes its time. */
const maxPlaces = 1_000

/** A sign of a currency may be attached to a number: the two together are whole then. */
function standsWithCurrency(text: string, start: number, end: number): boolean {
  const isSign = (character: string): boolean => /^\p{Sc}$/u.test(character)
  const first = isSign(text.slice(start - 1, start)) ? start - 1 : start
  const last = isSign(text.slice(end, end + 1)) ? end + 1 : end
  return isWhole(text, first, last)
}

/** The names of one currency; a sign is taken for the one that it mostly stands for. */
const currencies = [
  'USD|DOLLARS?|BUCKS?|[$]',
  'EUR|EUROS?|€',
  'GBP|POUNDS?|QUID|£',
  'JPY|YEN|¥',
].map((names) => new RegExp(`(?<!\\p{L})(?:${names})(?!\\p{L})`, 'u'))

function hasOtherMeasure(around: string, meaning: string): boolean {
  const found = [...around.matchAll(measureBefore), ...around.matchAll(measureAfter)]
  return found
    .map(([all]) => all.replace(self, '').replace(/[ .-]/g, ''))
    .some((measure) => {
      const named = currencies.find((names) => names.test(measure))
      if (named !== undefined) return !named.test(meaning)
      const word = measure.replace(/(?<=\p{L}{2})S$/u, '')
      return !new RegExp(`(?<!\\p{L})${word}S?(?!\\p{L})`, 'u').test(meaning)
    })
}
