import { Untranslatable } from '../playbook.ts'
import { compare } from './comparisons.ts'
import { readCondition, readJoinedOf } from './conditions.ts'
import { findItems, sameAsInput } from './items.ts'
import { findField, findFieldOf } from './nouns.ts'
import { wordsOf } from './phrase.ts'
import {
  collected,
  dividedGuards,
  inItem,
  overDates,
  quantified,
  type Walked,
} from './quantifiers.ts'
import { type Condition, operand, type Term } from './term.ts'
import { findValue, type Reader, readValue } from './values.ts'

const everyPattern =
  /^(?:for )?(every|each|all|any|no|none of the|at least one|some)(?: of the)? (.+)$/

export function readQuantified(reader: Reader, text: string): Condition | undefined {
  const counted =
    /^(at least|at most|exactly|more than|fewer than|less than|no more than|no fewer than) (\S+) (.+?)$/.exec(
      text,
    )
  if (
    counted !== null &&
    /^\d+$|^policy\.\w+$|^(one|two|three|four|five|ten)$/.test(counted[2] ?? '') &&
    (counted[2] !== 'one' || counted[1] !== 'at least')
  ) {
    return readCounted(reader, counted[1] ?? '', counted[2] ?? '', counted[3] ?? '')
  }
  const every = everyPattern.exec(text)
  if (every === null) return readOfEach(reader, text)
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
    return overDates(reader, kind, { from, until, isInclusive }, () => readOfDate(reader, said))
  }
  const colon = /^([^:]+): (.+)$/.exec(rest)
  if (colon !== null) {
    const noun = colon[1] ?? ''
    return quantified(reader, kind, noun, (item) => readOfItem(reader, item, `${colon[2]}`))
  }
  const nested = readNested(reader, kind, rest)
  if (nested !== undefined) return nested
  // The noun ends where the verb begins; a longer noun is tried when a shorter one names no list.
  for (const verb of rest.matchAll(
    /,? (?:at all )?(?=(?:is|are|has|have|was|were|does|do|can|costs?|occurs?|contains?|equals?|appears?|belongs?|exists?)\b)/g,
  )) {
    const noun = rest.slice(0, verb.index).replace(/ at all$/, '')
    const said = rest.slice(verb.index + verb[0].length)
    if (!namesList(reader, noun)) continue
    const alike = kind === 'all' ? readAlike(reader, noun, said) : undefined
    return alike ?? quantified(reader, kind, noun, (item) => readOfItem(reader, item, said))
  }
  return undefined
}

/** `party of each booking is at most 2`: what is said of a field of every item. */
function readOfEach(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(?:the )?([\w ]+?) of (?:each|every)(?: of the)? ([\w ]+?) (?=(?:is|are|has|does|equals|exceeds|<|>|=)[ =])(.+)$/.exec(
      text,
    )
  if (parts === null || !namesList(reader, parts[2] ?? '')) return undefined
  return quantified(reader, 'all', parts[2] ?? '', () =>
    readCondition(reader, `${parts[1]} ${parts[3]}`),
  )
}

/** `no ticket of any traveller has that seat`: lists of each of several records. */
function readNested(
  reader: Reader,
  kind: 'all' | 'exists' | 'none',
  rest: string,
): Condition | undefined {
  const parts =
    /^(.+?) of (?:any|all|every|each|some)(?: of the)? ((?:other )?\w+) (?=(?:is|are|has|have|was|were|does)\b)(.+)$/.exec(
      rest,
    )
  if (parts === null) return undefined
  const [, noun = '', owner = '', said = ''] = parts
  const inner = kind === 'none' ? 'exists' : kind
  return quantified(reader, kind, owner, () =>
    quantified(reader, inner, noun, (item) => readOfItem(reader, item, said)),
  )
}

/** `all items have the same seller`: as each other, where no other record has one. */
function readAlike(reader: Reader, noun: string, said: string): Condition | undefined {
  const field = /^(?:have|are of|are from|come from|share) the same ([\w ]+)$/.exec(said)?.[1]
  if (field === undefined || findValue(reader, field) !== undefined) return undefined
  const { cel, guards, item } = collected(reader, noun, '')
  const each = inItem(reader, item, () => readValue(reader, field))
  const { inside, before } = dividedGuards(each, item)
  const list = operand(cel)
  const known = inside.length === 0 ? [] : [`${list}.all(${item.name}, ${inside.join(' && ')})`]
  return {
    cel: `size(distinct(${list}.map(${item.name}, ${each.cel}))) <= 1`,
    guards: [...guards, ...before, ...known],
  }
}

function namesList(reader: Reader, noun: string): boolean {
  try {
    findItems(reader, noun)
    return true
  } catch (error) {
    if (error instanceof Untranslatable) return false
    throw error
  }
}

export const countOperators: Readonly<Record<string, string>> = {
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
  const number = { one: '1', two: '2', three: '3', four: '4', five: '5', ten: '10' }[count] ?? count
  for (const verb of rest.matchAll(/ (?=(?:is|are|has|have|was|were|contains?|exists?)\b)/g)) {
    const noun = rest.slice(0, verb.index)
    if (!namesList(reader, noun)) continue
    const said = rest.slice(verb.index + 1)
    const isMere = /^(?:is|are) (?:there|given)$|^exists?$/.test(said)
    const { cel, guards } = collected(reader, noun, isMere ? '' : `it ${said}`)
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
  const own =
    /^(?:is|are|was|were|has|have) (?:\w+(?:ed|en) |made |done |sent )?(?:(?:for |on |at |with |from |to |by )?(?:the|this|that|the given|the same)|for|on|at|from|by) ([\w ]+)$/.exec(
      said.trim(),
    )
  const equal = own === null ? undefined : sameAsInput(reader, item, own[1] ?? '')
  if (equal !== undefined) return equal
  return readCondition(
    reader,
    /^(is|are|has|have|was|were|does|do)\b/.test(said.trim()) ? `it ${said}` : said,
  )
}

/** Something said of a date that a quantifier goes through. */
function readOfDate(reader: Reader, said: string): Condition {
  const isBare = /^(is|are|in|not in|free|among)\b/.test(said.trim())
  return readCondition(reader, isBare ? `it ${said.replace(/^(?!is|are)/, 'is ')}` : said)
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
