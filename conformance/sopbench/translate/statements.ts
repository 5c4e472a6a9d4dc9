import { readAdjective } from './adjectives.ts'
import { compare, lowered, requireComparable } from './comparisons.ts'
import { readCondition } from './conditions.ts'
import { readDeed } from './deeds.ts'
import { formTest } from './formats.ts'
import { contained, findListValue, readLists } from './lists.ts'
import { readMakeup } from './makeup.ts'
import { fieldOf, textTerm } from './nouns.ts'
import { readHas } from './owners.ts'
import { withoutArticle } from './phrase.ts'
import { isRecord, recordNamed } from './records.ts'
import {
  type Condition,
  isTime,
  negated as negatedCondition,
  operand,
  quote,
  type Term,
} from './term.ts'
import { findValue, type Reader, readValue } from './values.ts'

/** A statement with `is`, `has`, `contains` and the like. */
export function readStatement(reader: Reader, text: string): Condition | undefined {
  const verb = /^(.+?),? (is|are|was|were) (not |never )?(?:exactly )?(.+)$/.exec(text)
  return (
    readOccurs(reader, text) ??
    readLists(reader, text) ??
    readMakeup(reader, text) ??
    readTextual(reader, text) ??
    readHas(reader, text) ??
    readDeed(reader, text) ??
    (verb === null
      ? undefined
      : readIs(reader, verb[1] ?? '', verb[3] !== undefined, verb[4] ?? '')) ??
    readExists(reader, text) ??
    readFlag(reader, text)
  )
}

/** `unit contains «0»`, `code starts with GEN`. */
function readTextual(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (do(?:es)? not contain|contains?|includes?|do(?:es)? not include|starts with|begins with|ends with) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, left = '', verb = '', right = ''] = parts
  const value = findValue(reader, left)
  if (value === undefined) return undefined
  const isWord = /^\S+$/.test(right) && mayHold(value, right)
  const part = findValue(reader, right) ?? (isWord ? textTerm(right) : undefined)
  if (part === undefined) return undefined
  const guards = [...value.guards, ...part.guards]
  if (value.shape.kinds.has('list') || value.shape.isMap) {
    return negatedCondition(contained(reader, part, value), verb.includes('not'))
  }
  const name = /contain|include/.test(verb)
    ? 'contains'
    : verb.startsWith('ends')
      ? 'endsWith'
      : 'startsWith'
  const ignoresCase = value.ignoresCase || part.ignoresCase || reader.scope.ignoresCase
  const [whole, some] = ignoresCase
    ? [lowered(value), lowered(part)]
    : [operand(value.cel), part.cel]
  return negatedCondition({ cel: `${whole}.${name}(${some})`, guards }, verb.includes('not'))
}

/** Whether a word that names nothing may be a text by itself: in a text, or where it was seen in a list. */
function mayHold({ shape }: Term, word: string): boolean {
  return shape.kinds.has('text') || shape.item?.texts.includes(word) === true
}

function readIs(
  reader: Reader,
  left: string,
  isNot: boolean,
  right: string,
): Condition | undefined {
  const value = subject(reader, left)
  const adjective = readQuality(reader, left, value, right)
  if (adjective !== undefined) return negatedCondition(adjective, isNot)
  if (value === undefined) return undefined
  const negated = (cel: string, guards: readonly string[]) =>
    negatedCondition({ cel, guards }, isNot)
  if (/^(null|none|absent|missing|unset)$/.test(right)) {
    const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
    return { cel: `${isNot ? '' : '!'}has(${value.cel})`, guards }
  }
  const isThere = /^(there|present|given|set|known|supplied|assigned|chosen|recorded)$/.test(right)
  if (isThere && !value.shape.texts.includes(right)) {
    const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
    return { cel: `${isNot ? '!' : ''}has(${value.cel})`, guards }
  }
  if (/^(true|set to true|false)$/.test(right)) {
    return negated(right === 'false' ? `!${operand(value.cel)}` : value.cel, value.guards)
  }
  const signed = /^(?:a )?(positive|negative) (?:whole number|integer)$/.exec(right)
  if (signed !== null) {
    const sign = signed[1] === 'positive' ? '> 0' : '< 0'
    const whole = `floor(${value.cel}) == ${operand(value.cel)}`
    return negated(`${whole} && ${operand(value.cel)} ${sign}`, value.guards)
  }
  const whole = /^(?:a )?(?:whole number|integer)(?: (?:from|between) (.+) (?:to|and) (.+))?$/.exec(
    right,
  )
  if (whole !== null) {
    const range =
      whole[1] === undefined
        ? undefined
        : readCondition(reader, `${left} is between ${whole[1]} and ${whole[2]}`)
    const cel = `floor(${value.cel}) == ${operand(value.cel)}`
    const guards = [...value.guards, ...(range?.guards ?? [])]
    return negated(range === undefined ? cel : `${cel} && ${range.cel}`, guards)
  }
  const multiple = /^(?:a )?multiple of (.+)$/.exec(right)
  if (multiple !== null) {
    const factor = readValue(reader, multiple[1] ?? '')
    return negated(`${operand(value.cel)} % ${operand(factor.cel)} == 0`, [
      ...value.guards,
      ...factor.guards,
    ])
  }
  if (/^(?:an? )?empty(?: text| list| map)?$/.test(right))
    return negated(`size(${value.cel}) == 0`, value.guards)
  if (/^(positive|negative|zero)$/.test(right)) {
    const sign = { positive: '> 0', negative: '< 0', zero: '== 0' }[right]
    return negated(`${operand(value.cel)} ${sign}`, value.guards)
  }
  const ofKind = /^of (?:the )?(\w+) (.+)$/.exec(right)
  if (ofKind !== null) {
    const said = readHas(reader, `${left} has ${ofKind[1]} ${ofKind[2]}`)
    return said === undefined ? undefined : negatedCondition(said, isNot)
  }
  if (/^(?:even|odd)$/.test(right)) {
    return negated(`${operand(value.cel)} % 2 == ${right === 'even' ? 0 : 1}`, value.guards)
  }
  const form = formTest(value.cel, right)
  if (form !== undefined) return negated(form, value.guards)
  const isIn =
    /^(?:a |an |one of the )?(?:key|entry|member|element|item|one)s? (?:of|in) (.+)$/.exec(right) ??
    /^(?:in|among|listed in|contained in|part of|included in) (.+)$/.exec(right)
  if (isIn !== null) {
    const list = findListValue(reader, isIn[1] ?? '')
    if (list !== undefined) {
      return negatedCondition(contained(reader, value, list), isNot)
    }
  }
  if (isIn !== null && !/^one/.test(right)) return undefined
  return isOneOf(reader, value, right, isNot)
}

/** `the booking is paid`, `the guest is vip`, `it is the default`: what a word says of a record. */
function readQuality(
  reader: Reader,
  left: string,
  value: Term | undefined,
  right: string,
): Condition | undefined {
  const word = withoutArticle(right)
  if (!/^[a-z][\w-]*(?: [a-z][\w-]*)?$/i.test(word)) return undefined
  const named = recordNamed(reader, left)
  const record = named ?? (value !== undefined && isRecord(value) ? value : undefined)
  return record === undefined ? undefined : readAdjective(record, word)
}

/** Names of what is in one of a few states, of which not all need have been seen. */
const stateNames =
  /[._]?(?:status|state|type|kind|level|tier|class|category|standing|method|mode|role|plan)$/

/** `«0» or «1»`, `Health, Dental or Vision`, a single value or word. */
function isOneOf(
  reader: Reader,
  subject: Term,
  text: string,
  isNot: boolean,
): Condition | undefined {
  // Of a record that is `«pending»` its status is meant.
  const value = subject.shape.kinds.has('object') ? fieldOf(subject, 'status') : subject
  if (value === undefined) return undefined
  const list = listNamed(reader, text)
  if (list !== undefined) return negatedCondition(contained(reader, value, list), isNot)
  const isText = value.shape.kinds.has('text')
  const isNamed = /^(?:either|one of|any of)\b/.test(text)
  const isListed = isNamed || subject.cel !== reader.scope.items.at(-1)?.self.cel
  const words = text
    .replace(/^(?:either|one of|any of|exactly|one of the values) /, '')
    .split(/, or |, and |, | or | and /)
    .map((word) => word.trim())
  const isPlain = words.every((word) => /^(«\d+»|-?[\w.-]+)$/.test(word))
  if (!isPlain && words.length > 1) return undefined
  const terms = words.map((word) => {
    const known = findValue(reader, word)
    if (known !== undefined) return known
    // A word that names nothing is a text by itself, where texts are what it is compared with.
    const isSeen =
      isNamed ||
      stateNames.test(value.cel) ||
      value.shape.texts.some((text) => text.toLowerCase() === word.toLowerCase()) ||
      (value === subject && words.length > 1)
    const isWord = isText && !isTime(value) && isListed && isSeen && /^[\w-]+$/.test(word)
    return isWord ? { ...value, cel: quote(word), guards: [] } : undefined
  })
  const [first] = terms
  if (first === undefined || terms.some((term) => term === undefined)) return undefined
  for (const term of terms) if (term !== undefined) requireComparable(value, term)
  if (terms.length === 1) return compare(reader, value, isNot ? '!=' : '==', first)
  const ignoresCase = value.ignoresCase || reader.scope.ignoresCase
  const texts = terms.flatMap((term) =>
    term === undefined ? [] : [ignoresCase ? lowered(term) : term.cel],
  )
  const values = `[${texts.join(', ')}]`
  const guards = [...value.guards, ...terms.flatMap((term) => term?.guards ?? [])]
  const cel = `${ignoresCase ? lowered(value) : operand(value.cel)} in ${values}`
  return { cel: isNot ? `!(${cel})` : cel, guards }
}

/** What a statement is about; `it` is the item that a quantifier goes through, `the text` the only input. */
function subject(reader: Reader, phrase: string): Term | undefined {
  const { scope } = reader
  const text = phrase.trim()
  if (text === 'it') {
    const item = scope.items.at(-1)
    return item?.self
  }
  const [only] = scope.check.inputs
  if (
    /^(the )?(text|value|input)$/.test(text) &&
    scope.check.inputs.length === 1 &&
    only !== undefined
  ) {
    const input = scope.input(only)
    scope.definitions.set('midnight', {
      ...input,
      cel: `date(parseDate(${input.cel}))`,
      isMoment: true,
    })
    return input
  }
  return findValue(reader, text)
}

/** `the order exists`, `the booking is there`. */
function readExists(reader: Reader, text: string): Condition | undefined {
  const parts = /^(.+?) (exists?|does not exist|do not exist)$/.exec(text)
  if (parts === null) return undefined
  const value = findValue(reader, parts[1] ?? '')
  if (value === undefined) return undefined
  const isNot = parts[2]?.includes('not') === true
  if (value.shape.kinds.has('boolean')) {
    return { cel: isNot ? `!${operand(value.cel)}` : value.cel, guards: value.guards }
  }
  const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
  return { cel: `${isNot ? '!' : ''}has(${value.cel})`, guards }
}

/** A name of something that is true or false. */
function readFlag(reader: Reader, text: string): Condition | undefined {
  const isNot = text.startsWith('not ')
  const value = findValue(reader, isNot ? text.slice(4) : text)
  if (value === undefined || !value.shape.kinds.has('boolean')) return undefined
  return { cel: isNot ? `!${operand(value.cel)}` : value.cel, guards: value.guards }
}

/** `one of policy.accepted`: a list that has a name. */
function listNamed(reader: Reader, text: string): Term | undefined {
  const name = /^(?:one of|any of) (?:the )?(?:entries of |values of |items of )?([\w. ]+)$/.exec(
    text,
  )?.[1]
  return name === undefined ? undefined : findListValue(reader, name)
}

/** `code does not occur in coupons_used`, `it belongs to addresses`. */
function readOccurs(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (does not |do not )?(?:occurs?|appears?|is listed|is contained) (?:in|among) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [value, list] = [subject(reader, parts[1] ?? ''), findListValue(reader, parts[3] ?? '')]
  if (value === undefined || list === undefined) return undefined
  return negatedCondition(contained(reader, value, list), parts[2] !== undefined)
}
