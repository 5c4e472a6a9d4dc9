import { Untranslatable } from '../playbook.ts'
import { compare } from './comparisons.ts'
import { readCondition, readJoinedOf } from './conditions.ts'
import { findItems, sameAsInput } from './items.ts'
import { contained } from './lists.ts'
import { fieldOf, findField, findFieldOf, people } from './nouns.ts'
import { withoutArticle, wordsOf } from './phrase.ts'
import { countOperators } from './quantified-phrases.ts'
import { collected, quantified } from './quantifiers.ts'
import { type Condition, negated as negatedCondition, type Term } from './term.ts'
import { findValue, type Reader } from './values.ts'

/** `that card has credit_balance 0`, `it has C in F`, `it has a code that starts with GEN`. */
export function readHas(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (has no|have no|has|have|does not have(?: any| an?)?|do not have(?: any| an?)?) (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const { scope } = reader
  const [, owner = '', verb = '', rest = ''] = parts
  const isNot = / not? ?/.test(verb)
  const held = readHolds(reader, owner, isNot, rest)
  if (held !== undefined) return held
  if (!isNot) {
    const both = readJoinedOf(rest, (part) => {
      const found = readHas(reader, `${owner} has ${part.replace(/^(?:has|is) /, '')}`)
      if (found === undefined) throw new Untranslatable(`'${part}' is nothing that one has`)
      return found
    })
    if (both !== undefined) return both
  }
  const negated = (condition: Condition): Condition => negatedCondition(condition, isNot)
  const item = owner === 'it' ? scope.items.at(-1) : undefined
  const inside = /^(.+) in (\w[\w. ]*)$/.exec(rest)
  if (inside !== null) {
    const found = ownedField(reader, owner, inside[2] ?? '')
    const value = findValue(reader, inside[1] ?? '')
    if (found !== undefined && value !== undefined) {
      return negated(contained(reader, value, found))
    }
  }
  const same = /^(?:this|that|the given|the same) (\w[\w ]*)$/.exec(rest)
  if (same !== null) {
    const own = item === undefined ? undefined : sameAsInput(reader, item, same[1] ?? '')
    if (own !== undefined) return negated(own)
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

/** `the guest has no unpaid booking`, `has fewer than 3 open orders`, `has an order with that order_id`. */
function readHolds(
  reader: Reader,
  owner: string,
  isNot: boolean,
  rest: string,
): Condition | undefined {
  const counted =
    /^(at least|at most|exactly|fewer than|less than|more than|no more than|no fewer than|only) (\S+) (.+)$/.exec(
      rest,
    )
  const [, words = '', count = '', many = ''] = counted ?? []
  const noun = counted === null ? rest.replace(/^(?:an?|any|some|one|no|the) /, '') : many
  const isPerson = wordsOf(owner).every((word) => people.has(word))
  const phrases =
    owner === 'it' || isPerson ? [noun] : [`${noun} of ${withoutArticle(owner)}`, noun]
  const phrase = phrases.find((one) => isItems(reader, one))
  if (phrase === undefined) return undefined
  if (counted === null && !isNot && !/^(?:an?|any|some|one) /.test(rest)) return undefined
  if (counted !== null) {
    const number = findValue(reader, count)
    if (number === undefined) return undefined
    const { cel, guards } = collected(reader, phrase, '')
    const operator = countOperators[words.replace('only', 'exactly')] ?? ''
    const condition = {
      cel: `size(${cel}) ${operator} ${number.cel}`,
      guards: [...guards, ...number.guards],
    }
    return negatedCondition(condition, isNot)
  }
  const { collection, tests } = findItems(reader, phrase)
  if (tests.length === 0) {
    const { cel, guards } = collection.list
    return { cel: `size(${cel}) ${isNot ? '==' : '>'} 0`, guards }
  }
  return quantified(reader, isNot ? 'none' : 'exists', phrase, () => ({ cel: 'true', guards: [] }))
}

function isItems(reader: Reader, phrase: string): boolean {
  try {
    findItems(reader, phrase)
    return true
  } catch (error) {
    if (error instanceof Untranslatable) return false
    throw error
  }
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
