import { type Collection, recordOfKey } from './collections.ts'
import { readCondition } from './conditions.ts'
import { findItems } from './items.ts'
import type { Item } from './scope.ts'
import {
  andOperand,
  type Condition,
  joined,
  operand,
  type Term,
  textShape,
  wholeDay,
} from './term.ts'
import type { Reader } from './values.ts'

/** The variable of a macro and what it stands for. */
export interface Walked extends Item {
  readonly name: string
  readonly of: Collection
}

/** Reads something that is said of each item. */
export function inItem<T>({ scope }: Reader, item: Item, read: () => T): T {
  scope.items.push(item)
  try {
    return read()
  } finally {
    scope.items.pop()
  }
}

function walk({ scope }: Reader, of: Collection): Walked {
  const { list, item, isMap, words, keyWords } = of
  const name = ['x', 'y', 'z'][scope.items.length] ?? `x${scope.items.length}`
  if (isMap) {
    const record: Term = { cel: `${list.cel}[${name}]`, shape: item, guards: [] }
    const self: Term = { cel: name, shape: textShape, guards: [] }
    return { name, of, self, record, keyed: recordOfKey(scope, self, keyWords, list), words }
  }
  const self: Term = { cel: name, shape: item, guards: [] }
  const isRecord = item.kinds.has('object')
  // The items of a list of keys have what the records have that the keys lead to.
  const keyed = isRecord ? undefined : recordOfKey(scope, self, keyWords, list)
  return { name, of, self, record: isRecord ? self : undefined, keyed, words }
}

/** Guards inside a macro that speak of its variable, and those that can be tested before it. */
export function dividedGuards(
  { guards }: Pick<Condition, 'guards'>,
  { name }: { readonly name: string },
): { readonly inside: readonly string[]; readonly before: readonly string[] } {
  const ofItem = new RegExp(`\\b${name}\\b`)
  return {
    inside: [...new Set(guards.filter((guard) => ofItem.test(guard)))],
    before: guards.filter((guard) => !ofItem.test(guard)),
  }
}

interface Collected {
  readonly cel: string
  readonly guards: readonly string[]
  readonly item: Walked
}

/** The items that a noun phrase means, of which something holds; all of them where the test is empty. */
export function collected(reader: Reader, noun: string, test: string): Collected {
  const { collection, tests } = findItems(reader, noun)
  const item = walk(reader, collection)
  const conditions = inItem(reader, item, () => [
    ...tests.map((one) => one(item)),
    ...(test === '' ? [] : [readCondition(reader, test)]),
  ])
  return filtered(collection, item, conditions)
}

function filtered({ list }: Collection, item: Walked, conditions: readonly Condition[]): Collected {
  const parts = conditions.filter(({ cel }) => cel !== 'true')
  if (parts.length === 0) return { cel: list.cel, guards: list.guards, item }
  const condition = joined('&&', parts)
  const { inside, before } = dividedGuards(condition, item)
  const body = [...inside, andOperand(condition.cel)].join(' && ')
  return {
    cel: `${operand(list.cel)}.filter(${item.name}, ${body})`,
    guards: [...list.guards, ...before],
    item,
  }
}

/**
 * A quantifier over the nights of a stay, each of which is the date of its evening: `every night from A to B`. Days must
 * say whether the last one counts.
 */
export function overDates(
  reader: Reader,
  kind: 'all' | 'exists' | 'none',
  { from, until, isInclusive }: { from: Term; until: Term; isInclusive: boolean },
  read: (item: Item) => Condition,
): Condition {
  const [first, last] = [wholeDay(from), wholeDay(until)]
  const days = `daysBetween(${first.cel}, ${last.cel})${isInclusive ? ' + 1' : ''}`
  const name = 'day'
  const date = `string(addDays(${first.cel}, ${name})).substring(0, 10)`
  const self: Term = { cel: date, shape: { ...textShape, format: 'date' }, guards: [] }
  const item = { self, record: undefined, keyed: undefined, words: ['date'] }
  const condition = inItem(reader, item, () => read(item))
  const { inside, before } = dividedGuards(condition, { name })
  const body = [...inside, andOperand(condition.cel)].join(' && ')
  const guards = [...from.guards, ...until.guards, `${days} >= 0`, ...before]
  const macro = kind === 'all' ? 'all' : 'exists'
  return { cel: `${kind === 'none' ? '!' : ''}range(${days}).${macro}(${name}, ${body})`, guards }
}

/**
 * A quantifier over the items that a noun phrase means: `all`, `exists`, or none of them. What is said after it of
 * something else (`every booking is paid and the balance is 0`) is no part of it.
 */
export function quantified(
  reader: Reader,
  kind: 'all' | 'exists' | 'none',
  noun: string,
  read: (item: Walked) => Condition,
): Condition {
  const { collection, tests } = findItems(reader, noun)
  const item = walk(reader, collection)
  const said = inItem(reader, item, () => read(item))
  const outer = said.joined === undefined ? undefined : divided(said.joined, item)
  if (outer !== undefined) {
    const inner = over(reader, kind, collection, item, tests, outer.of)
    return joined(outer.operator, [inner, outer.beside])
  }
  return over(reader, kind, collection, item, tests, said)
}

/** The part of what is said that is about the items, and the part after it that is not. */
function divided(
  { operator, parts: [first, second] }: NonNullable<Condition['joined']>,
  item: Walked,
) {
  const isAbout = ({ cel, guards }: Condition) =>
    [cel, ...guards].some((text) => new RegExp(`\\b${item.name}\\b`).test(text))
  if (first === undefined || second === undefined || !isAbout(first) || isAbout(second)) {
    return undefined
  }
  return { operator, of: first, beside: second }
}

function over(
  reader: Reader,
  kind: 'all' | 'exists' | 'none',
  collection: Collection,
  item: Walked,
  tests: readonly ((item: Walked) => Condition)[],
  said: Condition,
): Condition {
  const narrowing = inItem(reader, item, () => tests.map((test) => test(item)))
  if (kind === 'all') {
    const meant = filtered(collection, item, narrowing)
    const { inside, before } = dividedGuards(said, item)
    const body = [...inside, andOperand(said.cel)].join(' && ')
    const cel = `${operand(meant.cel)}.all(${item.name}, ${body})`
    return { cel, guards: [...meant.guards, ...before] }
  }
  const parts = [...narrowing, said].filter(({ cel }) => cel !== 'true')
  const condition = parts.length === 0 ? said : joined('&&', parts)
  const { inside, before } = dividedGuards(condition, item)
  const list = operand(collection.list.cel)
  const guards = [...collection.list.guards, ...before]
  const body = [...inside, andOperand(condition.cel)].join(' && ')
  if (kind === 'exists') return { cel: `${list}.exists(${item.name}, ${body})`, guards }
  // An item of which it cannot be told counts as one of which it holds: then it is not certain that none is.
  const isUnsure = inside.length > 0 && item.record === undefined
  const safe = `!(${inside.join(' && ')}) || ${andOperand(condition.cel)}`
  return { cel: `!${list}.exists(${item.name}, ${isUnsure ? safe : body})`, guards }
}
