import { Untranslatable } from '../playbook.ts'
import { compare, lowered } from './comparisons.ts'
import { fieldOf, findCollection, findField, findFieldOf } from './nouns.ts'
import { splits, withoutArticle, wordsOf } from './phrase.ts'
import { collected, overDates, quantified, type Walked } from './quantifiers.ts'
import type { Condition, Term } from './term.ts'
import { operand, quote, wholeDay } from './term.ts'
import { findValue, type Reader, readValue, unmask } from './values.ts'

/** Reads a condition: quantifiers, `and` and `or`, comparisons. Throws `Untranslatable`. */
export function readCondition(reader: Reader, phrase: string): Condition {
  const text = phrase.trim().replace(/^[,;]\s*|\s*[,;.]$/g, '')
  const found =
    readConstant(text) ??
    readQuantified(reader, text) ??
    readSpan(reader, text) ??
    readThere(reader, text) ??
    readJoined(reader, text) ??
    readComparison(reader, text) ??
    readStatement(reader, text)
  if (found === undefined) throw new Untranslatable(`'${unmask(reader, text)}' is not understood`)
  return found
}

function readConstant(text: string): Condition | undefined {
  if (/^(always true|always holds|always|true)$/.test(text)) return { cel: 'true', guards: [] }
  if (/^(never true|never holds|never|false)$/.test(text)) return { cel: 'false', guards: [] }
  return undefined
}

const everyPattern =
  /^(?:for )?(every|each|all|any|no|none of the|at least one|some)(?: of the)? (.+)$/

function readQuantified(reader: Reader, text: string): Condition | undefined {
  const counted =
    /^(at least|at most|exactly|more than|fewer than|less than|no more than|no fewer than) (\S+) (.+?)$/.exec(
      text,
    )
  if (
    counted !== null &&
    /^\d+$|^policy\.\w+$|^(one|two|three)$/.test(counted[2] ?? '') &&
    counted[2] !== 'one'
  ) {
    return readCounted(reader, counted[1] ?? '', counted[2] ?? '', counted[3] ?? '')
  }
  const every = everyPattern.exec(text)
  if (every === null) return undefined
  const [, word = '', rest = ''] = every
  const kind = /^(no|none of the)$/.test(word)
    ? 'none'
    : /^(every|each|all)$/.test(word)
      ? 'all'
      : 'exists'
  if (word === 'any' && !text.startsWith('any ')) return undefined
  const dates =
    /^(night|day|date)s? (?:from|between) (.+?) (?:to|until|and|through) (.+?)( inclusive| exclusive| \((?:inclusive|exclusive|not included|included)\))?(?:: |,? (?=is |are |has |have ))(.+)$/.exec(
      rest,
    )
  if (dates !== null) {
    const [, unit, first = '', last = '', note = '', said = ''] = dates
    if (unit !== 'night' && note === '') throw new Untranslatable('whether the last day counts')
    const isInclusive = unit !== 'night' && /inclusive|\(included/.test(note)
    const [from, until] = [readValue(reader, first), readValue(reader, last)]
    return overDates(reader, kind, { from, until, isInclusive }, (item) =>
      readOfItem(reader, item, said),
    )
  }
  const colon = /^([^:]+): (.+)$/.exec(rest)
  if (colon !== null) {
    const noun = colon[1] ?? ''
    return quantified(reader, kind, noun, (item) => readOfItem(reader, item, `${colon[2]}`))
  }
  // The noun ends where the verb begins; a longer noun is tried when a shorter one names no list.
  for (const verb of rest.matchAll(
    /,? (?:at all )?(?=(?:is|are|has|have|was|were|does|do|can|costs?|occurs?|contains?|equals?|appears?|belongs?|exists?)\b)/g,
  )) {
    const noun = rest.slice(0, verb.index).replace(/ at all$/, '')
    const said = rest.slice(verb.index + verb[0].length)
    if (!namesList(reader, noun)) continue
    return quantified(reader, kind, noun, (item) => readOfItem(reader, item, said))
  }
  return undefined
}

function namesList({ scope }: Reader, noun: string): boolean {
  try {
    findCollection(scope, noun)
    return true
  } catch (error) {
    if (error instanceof Untranslatable) return false
    throw error
  }
}

const countOperators: Readonly<Record<string, string>> = {
  'at least': '>=',
  'no fewer than': '>=',
  'at most': '<=',
  'no more than': '<=',
  exactly: '==',
  'more than': '>',
  'fewer than': '<',
  'less than': '<',
}

/** `at least 10 completed courses have a code that starts with GEN`. */
function readCounted(
  reader: Reader,
  words: string,
  count: string,
  rest: string,
): Condition | undefined {
  const number = { one: '1', two: '2', three: '3' }[count] ?? count
  for (const verb of rest.matchAll(/ (?=(?:is|are|has|have)\b)/g)) {
    const noun = rest.slice(0, verb.index)
    if (!namesList(reader, noun)) continue
    const { cel, guards } = collected(reader, noun, `it ${rest.slice(verb.index + 1)}`)
    return { cel: `size(${cel}) ${countOperators[words]} ${number}`, guards }
  }
  return undefined
}

/** Something said of the item that a quantifier goes through. */
function readOfItem(reader: Reader, item: Walked, said: string): Condition {
  const common = /^no common (\w+)$/.exec(said.trim())
  if (common !== null) return noCommon(reader, item, common[1] ?? '')
  if (/^(?:the )?time ranges (?:do not|don't) overlap$/.test(said.trim()))
    return noOverlap(reader, item)
  const joined = readJoinedOf(said, (part) => readOfItem(reader, item, part))
  if (joined !== undefined) return joined
  const same = /^(?:has|have) the same (.+?)(?: as .+)?$/.exec(said.trim())
  if (same !== null) {
    const [mine, theirs] = bothSides(reader, item, same[1] ?? '')
    return compare(reader, mine, '==', theirs)
  }
  return readCondition(
    reader,
    /^(is|are|has|have|was|were|does|do)\b/.test(said.trim()) ? `it ${said}` : said,
  )
}

/** A field of the item, and the same field of the record that the rule is about. */
function bothSides(
  reader: Reader,
  { record, keyed, words }: Walked,
  phrase: string,
): readonly [Term, Term] {
  const { scope } = reader
  const items = scope.items.splice(0)
  const other = findFieldOf(scope, phrase, words.slice(-1).join(' ')) ?? findValue(reader, phrase)
  scope.items.push(...items)
  const of = record ?? keyed
  const own = of === undefined ? undefined : findField(of, wordsOf(phrase))
  if (own === undefined || other === undefined) {
    throw new Untranslatable(`'${phrase}' is not a field of both records`)
  }
  return [own, other]
}

function noCommon(reader: Reader, item: Walked, noun: string): Condition {
  const [mine, theirs] = bothSides(reader, item, noun)
  const cel = `!${operand(mine.cel)}.exists(part, part in ${operand(theirs.cel)})`
  return { cel, guards: [...mine.guards, ...theirs.guards] }
}

/** Two fields such as `14:00-15:30`; ranges that touch do not overlap. */
function noOverlap(reader: Reader, item: Walked): Condition {
  const [mine, theirs] = bothSides(reader, item, 'time')
  if (mine.shape.format !== 'timeRange') throw new Untranslatable('the time is no range of times')
  const [a, b] = [mine, theirs].map(({ cel }) => operand(cel))
  const cel = `${a}.split('-')[1] <= ${b}.split('-')[0] || ${b}.split('-')[1] <= ${a}.split('-')[0]`
  return { cel, guards: [...mine.guards, ...theirs.guards] }
}

function readJoined(reader: Reader, text: string): Condition | undefined {
  const chained = readIfThen(reader, text)
  if (chained !== undefined) return chained
  const both = /^(?:both|either) (.+)$/.exec(text)?.[1] ?? text
  return readJoinedOf(both, (part) => readCondition(reader, part))
}

/** `if A then B`, `B unless A`. */
function readIfThen(reader: Reader, text: string): Condition | undefined {
  const parts = /^if (.+?),? then (.+)$/.exec(text)
  const unless = /^(.+?),? unless (.+)$/.exec(text)
  const [test, then] = parts !== null ? [parts[1], parts[2]] : [unless?.[2], unless?.[1]]
  if (test === undefined || then === undefined || / else /.test(text)) return undefined
  const [a, b] = [readCondition(reader, test), readCondition(reader, then)]
  const left = parts === null ? operand(a.cel) : `!${operand(a.cel)}`
  return { cel: `${left} || ${operand(b.cel)}`, guards: [...a.guards, ...b.guards] }
}

/** Splits at `or` first, since `and` binds more tightly; only where both sides are conditions by themselves. */
function readJoinedOf(text: string, read: (part: string) => Condition): Condition | undefined {
  const attempt = (part: string): Condition | undefined => {
    try {
      return read(part)
    } catch (error) {
      if (error instanceof Untranslatable) return undefined
      throw error
    }
  }
  for (const [separator, operator] of [
    [', or ', '||'],
    [' or else ', '||'],
    ['; ', '&&'],
    [', and ', '&&'],
    [' or ', '||'],
    [' and ', '&&'],
  ] as const) {
    for (const [left, right] of splits(text, separator)) {
      const one = attempt(left)
      const second = right.replace(/^(either|both) /, '')
      const other =
        one === undefined ? undefined : (attempt(second) ?? attempt(withSubject(left, second)))
      if (one === undefined || other === undefined) continue
      const parts = [one.cel, other.cel].map((cel) =>
        operator === '&&' ? andOperand(cel) : orOperand(cel),
      )
      return { cel: parts.join(` ${operator} `), guards: [...one.guards, ...other.guards] }
    }
  }
  return undefined
}

/** `A is not empty and is in B`: the second part is about the same as the first. */
function withSubject(left: string, right: string): string {
  if (!/^(is|are|has|have|does|was|were|do|can|occurs?|contains?) /.test(right)) return ''
  const about = /^(.+?) (?:is|are|has|have|does|was|were|do|can|occurs?|contains?) /.exec(left)?.[1]
  return about === undefined ? '' : `${about} ${right}`
}

function andOperand(cel: string): string {
  return /\|\|| \? /.test(cel) ? `(${cel})` : cel
}

function orOperand(cel: string): string {
  return /&&| \? /.test(cel) ? `(${cel})` : cel
}

/** Comparisons in words, and how they are written. The longer come first. */
const wordOperators: readonly (readonly [RegExp, string])[] = [
  [/ is (?:not|no) (?:later|earlier) than /, ''],
  [/ (?:is )?on or before | is not after | is no later than /, '<='],
  [/ (?:is )?on or after | is not before | is no earlier than /, '>='],
  [/ (?:is|are) (?:at least|not below|not less than|no less than) | covers /, '>='],
  [/ (?:is|are) (?:at most|not above|not more than|no more than|up to) | does not exceed /, '<='],
  [/ (?:is|are) (?:greater than or equal to|more than or equal to) /, '>='],
  [/ (?:is|are) (?:less than or equal to|smaller than or equal to) /, '<='],
  [
    / (?:is|are) (?:strictly )?(?:above|more than|greater than|over|larger than|higher than|after|later than) | exceeds /,
    '>',
  ],
  [
    / (?:is|are) (?:strictly )?(?:below|less than|under|smaller than|fewer than|lower than|before|earlier than) /,
    '<',
  ],
  [/ (?:is|are) (?:not equal to|different from|other than) | differs from | does not equal /, '!='],
  [/ (?:is|are) (?:exactly )?(?:equal to|the same as|identical to) | equals | matches /, '=='],
]

function readComparison(reader: Reader, text: string): Condition | undefined {
  const plain = wordOperators.reduce(
    (sofar, [pattern, operator]) =>
      operator === '' ? sofar : sofar.replace(pattern, ` ${operator} `),
    text,
  )
  const signs = plain.replaceAll('≤', '<=').replaceAll('≥', '>=').replaceAll('≠', '!=')
  const between = /^(.+?) is (?:between|within|in the range|from) (.+?) (?:and|to) (.+)$/.exec(
    signs,
  )
  const ordered = between === null ? signs : `${between[2]} <= ${between[1]} <= ${between[3]}`
  const parts = ordered.split(/ (<=|>=|==|!=|<|>|=) /)
  if (parts.length < 3) return undefined
  const conditions: Condition[] = []
  for (let at = 0; at + 2 < parts.length; at += 2) {
    const operator = parts[at + 1] === '=' ? '==' : (parts[at + 1] ?? '')
    const [left, right] = [parts[at], parts[at + 2]].map((part) => findValue(reader, part ?? ''))
    if (left === undefined || right === undefined) return undefined
    conditions.push(compare(reader, left, operator, right))
  }
  return {
    cel: conditions.map(({ cel }) => cel).join(' && '),
    guards: conditions.flatMap(({ guards }) => guards),
  }
}

/** A statement with `is`, `has`, `contains` and the like. */
function readStatement(reader: Reader, text: string): Condition | undefined {
  const verb = /^(.+?),? (is|are|was|were) (not |never )?(?:exactly )?(.+)$/.exec(text)
  return (
    readOccurs(reader, text) ??
    readTextual(reader, text) ??
    readHas(reader, text) ??
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
    /^(.+?) (does not contain|contains?|includes?|does not include|starts with|begins with|ends with) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, left = '', verb = '', right = ''] = parts
  const value = findValue(reader, left)
  if (value === undefined) return undefined
  const part =
    findValue(reader, right) ??
    (/^\S+$/.test(right) ? { cel: quote(right), guards: [] } : undefined)
  if (part === undefined) return undefined
  const guards = [...value.guards, ...part.guards]
  if (value.shape.kinds.has('list') || value.shape.isMap) {
    const cel = `${operand(part.cel)} in ${operand(value.cel)}`
    return { cel: verb.includes('not') ? `!(${cel})` : cel, guards }
  }
  const name = /contain|include/.test(verb)
    ? 'contains'
    : verb.startsWith('ends')
      ? 'endsWith'
      : 'startsWith'
  return {
    cel: `${verb.includes('not') ? '!' : ''}${operand(value.cel)}.${name}(${part.cel})`,
    guards,
  }
}

/** `that card has credit_balance 0`, `it has C in F`, `it has a code that starts with GEN`. */
function readHas(reader: Reader, text: string): Condition | undefined {
  const parts = /^(.+?) (has|have|does not have|do not have|has no|have no) (.+)$/.exec(text)
  if (parts === null) return undefined
  const { scope } = reader
  const [, owner = '', verb = '', rest = ''] = parts
  const isNot = /not|no$/.test(verb)
  if (!isNot) {
    const both = readJoinedOf(rest, (part) => {
      const found = readHas(reader, `${owner} has ${part.replace(/^(?:has|is) /, '')}`)
      if (found === undefined) throw new Untranslatable(`'${part}' is nothing that one has`)
      return found
    })
    if (both !== undefined) return both
  }
  const negated = ({ cel, guards }: Condition): Condition =>
    isNot ? { cel: `!(${cel})`, guards } : { cel, guards }
  const item = owner === 'it' ? scope.items.at(-1) : undefined
  const inside = /^(.+) in (\w[\w. ]*)$/.exec(rest)
  if (inside !== null) {
    const found = ownedField(reader, owner, inside[2] ?? '')
    const value = findValue(reader, inside[1] ?? '')
    if (found !== undefined && value !== undefined) {
      return negated(contained(value, found))
    }
  }
  const same = /^(?:this|that|the given|the same) (\w[\w ]*)$/.exec(rest)
  if (same !== null) {
    const field = ownedField(reader, owner, same[1] ?? '')
    const name = same[1]?.replaceAll(' ', '_') ?? ''
    if (field === undefined || !scope.check.inputs.includes(name)) return undefined
    return negated(compare(reader, field, '==', scope.input(name)))
  }
  const named = /^an? (?:code|id|name|key|text|value) (?:that |which )?(.+)$/.exec(rest)
  if (named !== null && item !== undefined && item.record === undefined) {
    scope.definitions.set('it', item.self)
    return negated(readCondition(reader, `it ${named[1]}`))
  }
  const words = withoutArticle(rest).split(' ')
  for (let count = words.length - 1; count > 0; count -= 1) {
    const field = ownedField(reader, owner, words.slice(0, count).join(' '))
    if (field === undefined) continue
    scope.definitions.set('thefield', field)
    const said = words.slice(count).join(' ').replace(/^of /, '')
    const phrase = /^(<|>|=|!=|is |are |at |above|below|more|less|equal|not )/.test(said)
      ? said
      : `is ${said}`
    const verbed = /^(at |above|below|more|less|equal|not )/.test(phrase) ? `is ${phrase}` : phrase
    return negated(outsideItems(reader, said, () => readCondition(reader, `thefield ${verbed}`)))
  }
  const whole = ownedField(reader, owner, withoutArticle(rest))
  if (whole === undefined || whole.shape.kinds.has('list') || whole.shape.isMap) return undefined
  if (!whole.guards.includes(`has(${whole.cel})`)) return undefined
  const guards = whole.guards.filter((guard) => guard !== `has(${whole.cel})`)
  return { cel: `${isNot ? '!' : ''}has(${whole.cel})`, guards }
}

/** `has username username`: what stands against the field is the customer's, unless it is `its` own. */
function outsideItems<T>({ scope }: Reader, said: string, read: () => T): T {
  if (scope.items.length === 0 || /\bits\b/.test(said)) return read()
  const items = scope.items.splice(0)
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
  } finally {
    scope.items.push(...items)
  }
  return read()
}

function ownedField(reader: Reader, owner: string, field: string): Term | undefined {
  if (/[<>=«»:;,]/.test(field)) return undefined
  const { scope } = reader
  const item = owner === 'it' ? scope.items.at(-1) : undefined
  if (item === undefined) return findFieldOf(scope, field, withoutArticle(owner))
  for (const of of [item.record, item.keyed]) {
    const found =
      of === undefined ? undefined : (fieldOf(of, field.trim()) ?? findField(of, wordsOf(field)))
    if (found !== undefined) return found
  }
  return undefined
}

function contained(value: Term, list: Term): Condition {
  return {
    cel: `${operand(value.cel)} in ${operand(list.cel)}`,
    guards: [...value.guards, ...list.guards],
  }
}

function readIs(
  reader: Reader,
  left: string,
  isNot: boolean,
  right: string,
): Condition | undefined {
  const value = subject(reader, left)
  if (value === undefined) return undefined
  const negated = (cel: string, guards: readonly string[]): Condition => ({
    cel: isNot ? `!(${cel})` : cel,
    guards,
  })
  if (/^(null|none|absent|missing|unset)$/.test(right)) {
    const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
    return { cel: `${isNot ? '' : '!'}has(${value.cel})`, guards }
  }
  if (/^(there|present|given|set|known|supplied)$/.test(right)) {
    const guards = value.guards.filter((guard) => guard !== `has(${value.cel})`)
    return { cel: `${isNot ? '!' : ''}has(${value.cel})`, guards }
  }
  if (/^(true|set to true|false)$/.test(right)) {
    return negated(right === 'false' ? `!${operand(value.cel)}` : value.cel, value.guards)
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
  const form = formatPattern(right)
  if (form !== undefined)
    return negated(`${operand(value.cel)}.matches(${quote(form)})`, value.guards)
  const isIn =
    /^(?:a |an |one of the )?(?:key|entry|member|element|item|one)s? (?:of|in) (.+)$/.exec(right) ??
    /^(?:in|among|listed in|contained in|part of|included in) (.+)$/.exec(right)
  if (isIn !== null) {
    const list = findValue(reader, isIn[1] ?? '') ?? undefined
    if (list !== undefined && (list.shape.kinds.has('list') || list.shape.isMap)) {
      return negated(contained(value, list).cel, [...value.guards, ...list.guards])
    }
  }
  if (isIn !== null && !/^one/.test(right)) return undefined
  return isOneOf(reader, value, right, isNot)
}

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
  if (list !== undefined) {
    const { cel, guards } = contained(value, list)
    return { cel: isNot ? `!(${cel})` : cel, guards }
  }
  const isText = value.shape.kinds.has('text')
  const isListed =
    /^(?:either|one of|any of)\b/.test(text) || subject.cel !== reader.scope.items.at(-1)?.self.cel
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
    const isWord = isText && isListed && /^[\w-]+$/.test(word)
    return isWord ? { ...value, cel: quote(word), guards: [] } : undefined
  })
  const [first] = terms
  if (first === undefined || terms.some((term) => term === undefined)) return undefined
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
    scope.definitions.set('midnight', dayOfText(input))
    return input
  }
  return findValue(reader, text)
}

/** The midnight of the day that a text begins with. */
function dayOfText(input: Term): Term {
  const cel = `timestamp(${input.cel}.substring(0, 10))`
  return { ...wholeDay({ ...input, cel, isMoment: true }), cel, isMoment: true }
}

const forms: readonly (readonly [string, string])[] = [
  ['YYYY', '[0-9]{4}'],
  ['MM-DD', '(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'],
  ['MM/DD', '(0[1-9]|1[0-2])/(0[1-9]|[12][0-9]|3[01])'],
  ['HH:MM', '([01][0-9]|2[0-3]):[0-5][0-9]'],
  ['SS', '[0-5][0-9]'],
]

/** `YYYY-MM-DD, optionally followed by a space or T and HH:MM or HH:MM:SS` as a regular expression. */
function formatPattern(text: string): string | undefined {
  if (!/\b(YYYY|HH:MM)\b/.test(text)) return undefined
  const [main = '', tail] = text.split(/,? optionally followed by /)
  const written = (form: string) =>
    forms.reduce((sofar, [from, to]) => sofar.replace(from, to), form)
  if (!/^[YMDHS:/ T-]+$/.test(main)) return undefined
  if (tail === undefined) return written(main)
  const parts = /^a (space|blank) or T and ([HMS:]+)(?: or ([HMS:]+))?$/.exec(
    tail.trim().replace(/,$/, ''),
  )
  if (parts === null) return undefined
  const times = [parts[2], parts[3]].flatMap((form) => (form === undefined ? [] : [written(form)]))
  return `${written(main)}([ T](${times.join('|')}))?`
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
  const list = name === undefined ? undefined : findValue(reader, name)
  return list?.shape.kinds.has('list') || list?.shape.isMap ? list : undefined
}

/** `code does not occur in coupons_used`, `it belongs to addresses`. */
function readOccurs(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (does not |do not )?(?:occurs?|appears?|is listed|is contained) (?:in|among) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [value, list] = [subject(reader, parts[1] ?? ''), findValue(reader, parts[3] ?? '')]
  const isList = list?.shape.kinds.has('list') === true || list?.shape.isMap === true
  if (value === undefined || list === undefined || !isList) return undefined
  const { cel, guards } = contained(value, list)
  return { cel: parts[2] === undefined ? cel : `!(${cel})`, guards }
}

const numberWords: Readonly<Record<string, string>> = { one: '1', two: '2', three: '3', no: '0' }

/** `there is more than one address`, `there are no orders`, `at least two addresses exist`. */
function readThere(reader: Reader, text: string): Condition | undefined {
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
function readSpan(reader: Reader, text: string): Condition | undefined {
  const unit = '(.+? (?:minutes?|hours?|days?|nights?|weeks?))'
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
