import { type Collection, findCollection, recordOfKey } from './collections.ts'
import { readCondition } from './conditions.ts'
import type { Item } from './scope.ts'
import type { Condition, Term } from './term.ts'
import { operand, textShape, wholeDay } from './term.ts'
import type { Reader } from './values.ts'

/** The variable of a macro and what it stands for. */
export interface Walked extends Item {
  readonly name: string
}

/** Reads something that is said of each item. */
export function inItem<T>({ scope }: Reader, item: Walked, read: () => T): T {
  scope.items.push(item)
  try {
    return read()
  } finally {
    scope.items.pop()
  }
}

function walk({ scope }: Reader, { list, item, isMap, words, keyWords }: Collection): Walked {
  const name = ['x', 'y', 'z'][scope.items.length] ?? `x${scope.items.length}`
  if (isMap) {
    const record: Term = { cel: `${list.cel}[${name}]`, shape: item, guards: [] }
    const keyed = recordOfKey(scope, name, keyWords)
    return { name, self: { cel: name, shape: textShape, guards: [] }, record, keyed, words }
  }
  const self: Term = { cel: name, shape: item, guards: [] }
  const isRecord = item.kinds.has('object')
  // The items of a list of keys have what the records have that the keys lead to.
  const keyed = isRecord ? undefined : recordOfKey(scope, name, keyWords)
  return { name, self, record: isRecord ? self : undefined, keyed, words }
}

/** Guards inside a macro that speak of its variable, and those that can be tested before it. */
export function dividedGuards(
  { guards }: Pick<Condition, 'guards'>,
  { name }: Walked,
): { readonly inside: readonly string[]; readonly before: readonly string[] } {
  const ofItem = new RegExp(`\\b${name}\\b`)
  return {
    inside: guards.filter((guard) => ofItem.test(guard)),
    before: guards.filter((guard) => !ofItem.test(guard)),
  }
}

/** The items of a list of which something holds; all of them without a test. */
export function collected(
  reader: Reader,
  noun: string,
  test: string,
): { readonly cel: string; readonly guards: readonly string[]; readonly item: Walked } {
  const collection = findCollection(reader.scope, noun)
  const item = walk(reader, collection)
  const { list } = collection
  if (test === '') return { cel: list.cel, guards: list.guards, item }
  const condition = inItem(reader, item, () => readCondition(reader, test))
  const { inside, before } = dividedGuards(condition, item)
  const body = [...inside, operandOfAnd(condition.cel)].join(' && ')
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
  read: (item: Walked) => Condition,
): Condition {
  const [first, last] = [wholeDay(from), wholeDay(until)]
  const days = `daysBetween(${first.cel}, ${last.cel})${isInclusive ? ' + 1' : ''}`
  const name = 'day'
  const date = `string(addDays(${first.cel}, ${name})).substring(0, 10)`
  const self: Term = { cel: date, shape: { ...textShape, format: 'date' }, guards: [] }
  const item: Walked = { name, self, record: undefined, keyed: undefined, words: ['date'] }
  const condition = inItem(reader, item, () => read(item))
  const { inside, before } = dividedGuards(condition, item)
  const body = [...new Set(inside), operandOfAnd(condition.cel)].join(' && ')
  const guards = [...from.guards, ...until.guards, `${days} >= 0`, ...before]
  const macro = kind === 'all' ? 'all' : 'exists'
  return { cel: `${kind === 'none' ? '!' : ''}range(${days}).${macro}(${name}, ${body})`, guards }
}

/** A quantifier over the items of a list: `all`, `exists`, or none of them. */
export function quantified(
  reader: Reader,
  kind: 'all' | 'exists' | 'none',
  noun: string,
  read: (item: Walked) => Condition,
): Condition {
  const collection = findCollection(reader.scope, noun)
  const item = walk(reader, collection)
  const condition = inItem(reader, item, () => read(item))
  const { inside, before } = dividedGuards(condition, item)
  const list = operand(collection.list.cel)
  const guards = [...collection.list.guards, ...before]
  const body = [...new Set(inside), operandOfAnd(condition.cel)].join(' && ')
  if (kind === 'none') {
    // An item of which it cannot be told counts as one of which it holds: then it is not certain that none is.
    const safe =
      inside.length === 0
        ? condition.cel
        : `${operandOfOr(inside)} || ${operandOfAnd(condition.cel)}`
    return {
      cel: `!${list}.exists(${item.name}, ${item.record === undefined ? safe : body})`,
      guards,
    }
  }
  return { cel: `${list}.${kind}(${item.name}, ${body})`, guards }
}

function operandOfAnd(cel: string): string {
  return /\|\||\?/.test(cel) ? `(${cel})` : cel
}

function operandOfOr(guards: readonly string[]): string {
  return `!(${[...new Set(guards)].join(' && ')})`
}
