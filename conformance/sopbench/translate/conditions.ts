import { Untranslatable } from '../playbook.ts'
import { compare } from './comparisons.ts'
import { splits, withoutGroup } from './phrase.ts'
import { readQuantified } from './quantified-phrases.ts'
import { readSpan, readThere } from './spans.ts'
import { readStatement } from './statements.ts'
import { type Condition, joined, negated } from './term.ts'
import { readTimeStatement } from './time-statements.ts'
import { findValue, type Reader, unmask } from './values.ts'

/** Reads a condition: quantifiers, `and` and `or`, comparisons. Throws `Untranslatable`. */
export function readCondition(reader: Reader, phrase: string): Condition {
  const text = withoutGroup(phrase.trim().replace(/^[,;]\s*|\s*[,;.]$/g, ''))
  const found =
    readConstant(text) ??
    readNot(reader, text) ??
    readQuantified(reader, text) ??
    readTimeStatement(reader, text) ??
    readSpan(reader, text) ??
    readThere(reader, text) ??
    readJoined(reader, text) ??
    readNeither(reader, text) ??
    readEach(reader, text) ??
    readComparison(reader, text) ??
    readStatement(reader, text)
  if (found === undefined) throw new Untranslatable(`'${unmask(reader, text)}' is not understood`)
  return found
}

/** A condition, or undefined where its words are not understood. */
function attempt(read: () => Condition | undefined): Condition | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Untranslatable) return undefined
    throw error
  }
}

function readConstant(text: string): Condition | undefined {
  if (/^(always true|always holds|always|true)$/.test(text)) return { cel: 'true', guards: [] }
  if (/^(never true|never holds|never|false)$/.test(text)) return { cel: 'false', guards: [] }
  return undefined
}

/** `not (A or B)`, `it is not the case that A`. */
function readNot(reader: Reader, text: string): Condition | undefined {
  const inner =
    /^not (\(.+\))$/.exec(text)?.[1] ??
    /^it is (?:not (?:the case|true)|false) that (.+)$/.exec(text)?.[1]
  return inner === undefined ? undefined : negated(readCondition(reader, inner))
}

function readJoined(reader: Reader, text: string): Condition | undefined {
  const chained = readIfThen(reader, text)
  if (chained !== undefined) return chained
  const both = /^(?:both|either) (.+)$/.exec(text)?.[1] ?? text
  return readJoinedOf(both, (part) => readCondition(reader, part))
}

/** `if A then B`, `B unless A`, `if A then B, else C`. */
function readIfThen(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(?:if|when|where|in case) (.+?),? then (.+)$/.exec(text) ??
    /^(?:if|when|in case) ([^,]+), (.+)$/.exec(text)
  const whichever = readWhichever(reader, text)
  if (whichever !== undefined) return whichever
  const unless = /^(.+?),? unless (.+)$/.exec(text)
  const [test, then] = parts !== null ? [parts[1], parts[2]] : [unless?.[2], unless?.[1]]
  if (test === undefined || then === undefined) return undefined
  const [yes = '', no] = then.split(/,? (?:else|otherwise),? /)
  const a = readCondition(reader, test)
  const b = readCondition(reader, yes)
  if (no === undefined) return joined('||', [parts === null ? a : negated(a), b])
  if (parts === null) return undefined
  const c = readCondition(reader, no)
  return joined('&&', [joined('||', [negated(a), b]), joined('||', [a, c])])
}

/** `A when B, otherwise C`, where A and C are conditions by themselves. */
function readWhichever(reader: Reader, text: string): Condition | undefined {
  const parts = /^(.+?),? (?:when|if) (.+?)(?:,|;)? (?:else|otherwise),? (.+)$/.exec(text)
  if (parts === null) return undefined
  const [yes, test, no] = [parts[1], parts[2], parts[3]].map((part) =>
    attempt(() => readCondition(reader, part ?? '')),
  )
  if (yes === undefined || test === undefined || no === undefined) return undefined
  return joined('&&', [joined('||', [negated(test), yes]), joined('||', [test, no])])
}

/** Splits at `or` first, since `and` binds more tightly; only where both sides are conditions by themselves. */
export function readJoinedOf(
  text: string,
  read: (part: string) => Condition,
): Condition | undefined {
  for (const [separator, operator] of [
    ['; or ', '||'],
    [', or ', '||'],
    [', or else ', '||'],
    [' or else ', '||'],
    ['; and ', '&&'],
    ['; ', '&&'],
    [', and ', '&&'],
    [' or ', '||'],
    [', but ', '&&'],
    [' and ', '&&'],
    [' but ', '&&'],
    [', ', '&&'],
  ] as const) {
    for (const [left, right] of splits(text, separator)) {
      const one = attempt(() => read(left))
      if (one === undefined) continue
      const second = right.replace(/^(either|both|also|that) /, '')
      const other = attempt(() => read(second)) ?? attempt(() => read(withSubject(left, second)))
      // A bare comma joins as the word does that comes after it: `A, B and C`.
      if (other === undefined || (separator === ', ' && other.joined?.operator !== '&&')) continue
      return joined(operator, [one, other])
    }
  }
  return undefined
}

/** How a second part begins that leaves the verb out as well. */
const goesOn =
  'not|exactly|at least|at most|on or|before|after|above|below|under|over|more than|less than|within|between|earlier than|later than|in|one of'
const links = '<=?|>=?|=|!='
const verbs =
  'is|are|has|have|does|was|were|do|can|occurs?|contains?|starts?|ends?|equals?|exceeds?'

/** `A is not empty and is in B`: the second part is about the same as the first. */
function withSubject(left: string, right: string): string {
  const isVerb = new RegExp(`^(?:${verbs}|${goesOn}|${links})(?= )`).test(right)
  const about = new RegExp(`^(.+?) (${verbs}|${links}) `).exec(left)
  const isQuality =
    / is (?!not )/.test(left) &&
    /^(?:still |not )?(?!on$|in$|at$|by$|of$|for$|before$|after$)[a-z][\w-]*$/.test(right)
  if (isQuality && about !== null) return `${about[1]} is ${right.replace(/^still /, '')}`
  if (!isVerb || about === null) return ''
  const verb = new RegExp(`^(?:${goesOn}) `).test(right) ? `${about[2]} ` : ''
  return `${about[1]} ${verb}${right}`
}

/** `A is neither B nor C`, `neither A nor B is C`. */
function readNeither(reader: Reader, text: string): Condition | undefined {
  const said = /^(.+?) (is|are|has|have) neither (.+?) nor (.+)$/.exec(text)
  const about = /^neither (.+?) nor (.+?) (is|are|has|have) (.+)$/.exec(text)
  const sides =
    said !== null
      ? [`${said[1]} ${said[2]} ${said[3]}`, `${said[1]} ${said[2]} ${said[4]}`]
      : about !== null
        ? [`${about[1]} ${about[3]} ${about[4]}`, `${about[2]} ${about[3]} ${about[4]}`]
        : []
  if (sides.length === 0) return undefined
  return joined(
    '&&',
    sides.map((side) => negated(readCondition(reader, side))),
  )
}

/** `A, B and C are not empty`, `A and B are equal`: something said of each of several. */
function readEach(reader: Reader, text: string): Condition | undefined {
  const parts = /^(?:both )?(.+?) and (\S+(?: \S+){0,3}?) (are|have|were) (.+)$/.exec(text)
  if (parts === null) return undefined
  const [, first = '', last = '', verb, said = ''] = parts
  const subjects = [...first.split(/, /), last].map((subject) => subject.replace(/^both /, ''))
  if (subjects.some((subject) => findValue(reader, subject) === undefined)) return undefined
  const [one = '', ...others] = subjects
  if (/^(?:not )?(?:equal|the same|identical|different)$/.test(said)) {
    if (others.length !== 1) return undefined
    const isSame = /not|different/.test(said) === (said === 'not different')
    return readCondition(reader, `${one} ${isSame ? '==' : '!='} ${others[0]}`)
  }
  const singular = { are: 'is', have: 'has', were: 'was' }[verb ?? ''] ?? ''
  return joined(
    '&&',
    subjects.map((subject) => readCondition(reader, `${subject} ${singular} ${said}`)),
  )
}

/** Comparisons in words, and how they are written. The longer come first. */
const wordOperators: readonly (readonly [RegExp, string])[] = [
  [/ (?:is |are )?on or before | is not after | is (?:not|no) later than | is by /, '<='],
  [/ (?:is |are )?on or after | is not before | is (?:not|no) earlier than /, '>='],
  [
    / (?:is|are) (?:at least|not below|not less than|no less than|not under|no fewer than) | covers /,
    '>=',
  ],
  [
    / (?:is|are) (?:at most|not above|not more than|no more than|up to|not over|within the limit of) | does not exceed | do not exceed /,
    '<=',
  ],
  [/ (?:is|are) (?:greater than or equal to|more than or equal to) /, '>='],
  [/ (?:is|are) (?:less than or equal to|smaller than or equal to) /, '<='],
  [
    / (?:is|are) (?:strictly )?(?:above|more than|greater than|over|larger than|higher than|after|later than|beyond|longer than|older than|heavier than|dearer than) | exceeds? | surpass(?:es)? /,
    '>',
  ],
  [
    / (?:is|are) (?:strictly )?(?:below|less than|under|smaller than|fewer than|lower than|before|earlier than|shorter than|younger than|lighter than|cheaper than) /,
    '<',
  ],
  [
    / (?:is|are) (?:not equal to|different from|other than|not the same as) | differs from | does not equal | does not match /,
    '!=',
  ],
  [
    / (?:is|are) (?:exactly )?(?:equal to|the same as|identical to|exactly) | equals? | matches /,
    '==',
  ],
]

function readComparison(reader: Reader, text: string): Condition | undefined {
  const plain = wordOperators.reduce(
    (sofar, [pattern, operator]) => sofar.replace(pattern, ` ${operator} `),
    text,
  )
  const signs = plain.replaceAll('≤', '<=').replaceAll('≥', '>=').replaceAll('≠', '!=')
  const ordered = betweenSigns(signs) ?? signs
  const parts = ordered.split(/ (<=|>=|==|!=|<|>|=) /)
  if (parts.length < 3) return undefined
  const conditions: Condition[] = []
  for (let at = 0; at + 2 < parts.length; at += 2) {
    const operator = parts[at + 1] === '=' ? '==' : (parts[at + 1] ?? '')
    const [left, right] = [parts[at], parts[at + 2]].map((part) => findValue(reader, part ?? ''))
    if (left === undefined || right === undefined) return undefined
    conditions.push(compare(reader, left, operator, right))
  }
  const cel = conditions.map((one) => one.cel).join(' && ')
  const condition = { cel, guards: conditions.flatMap(({ guards }) => guards) }
  return / is not between /.test(signs) ? negated(condition) : condition
}

/** `A is between B and C`: both ends count, unless it says `strictly` or `exclusive`. */
function betweenSigns(text: string): string | undefined {
  const parts =
    /^(.+?) is (?:not )?(strictly )?(?:between|within|in the range|from) (.+?) (?:and|to) (.+?)(,? \(?(?:inclusive|exclusive|both inclusive|both included|both ends included)\)?)?$/.exec(
      text,
    )
  if (parts === null) return undefined
  const isOpen = parts[2] !== undefined || /exclusive/.test(parts[5] ?? '')
  const sign = isOpen ? '<' : '<='
  return `${parts[3]} ${sign} ${parts[1]} ${sign} ${parts[4]}`
}
