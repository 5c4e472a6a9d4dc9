import { readCondition } from './conditions.ts'
import { countOperators } from './quantified-phrases.ts'
import type { Condition } from './term.ts'
import type { Reader } from './values.ts'

const numberWords: Readonly<Record<string, string>> = {
  ...{ no: '0', one: '1', two: '2', three: '3', four: '4', five: '5', six: '6', ten: '10' },
}

/** `there is more than one address`, `there are no orders`, `at least two addresses exist`. */
export function readThere(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(?:there (?:is|are|exists?) )(at least |at most |more than |fewer than |less than |exactly |only )?(an?|no|\w+|policy\.\w+) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, words = '', count = '', phrase = ''] = parts
  const number = /^an?$/.test(count) ? '1' : (numberWords[count] ?? count)
  if (!/^\d+$|^policy\./.test(number)) return undefined
  const isNone = count === 'no'
  const plain = isNone ? '==' : '>='
  const operator = countOperators[words.trim().replace('only', 'exactly')] ?? plain
  return readCondition(reader, `number of ${phrase.replace(/ at all$/, '')} ${operator} ${number}`)
}

/** `A is at least 2 days after B`, `A is within 3 hours of B`, `at most 30 days have passed since A`. */
export function readSpan(reader: Reader, text: string): Condition | undefined {
  const unit = '(.+? (?:minutes?|hours?|days?|nights?|weeks?|months?|years?))'
  const passed = new RegExp(
    `^(at least|at most|more than|less than|fewer than|no more than) ${unit} (?:have|has) (?:passed|gone by|elapsed) since (.+)$`,
  ).exec(text)
  if (passed !== null) {
    const operator = countOperators[passed[1] ?? ''] ?? ''
    return readCondition(reader, `now - ${passed[3]} ${operator} ${passed[2]}`)
  }
  const apart = new RegExp(
    `^(.+?) is (at least|at most|more than|less than|fewer than|no more than|not more than) ${unit} (before|after) (.+)$`,
  ).exec(text)
  if (apart !== null) {
    const [, one, words = '', length, side, other] = apart
    const operator = countOperators[words.replace('not more', 'no more')] ?? ''
    const [late, early] = side === 'after' ? [one, other] : [other, one]
    return readCondition(reader, `${late} - ${early} ${operator} ${length}`)
  }
  const within = new RegExp(`^(.+?) is within ${unit} (of|before|after) (.+)$`).exec(text)
  if (within === null) return undefined
  const [, one, length, side, other] = within
  const after = `${one} - ${other} <= ${length}`
  const before = `${other} - ${one} <= ${length}`
  if (side === 'after') return readCondition(reader, `${one} >= ${other}, and ${after}`)
  if (side === 'before') return readCondition(reader, `${one} <= ${other}, and ${before}`)
  return readCondition(reader, `${after}, and ${before}`)
}
