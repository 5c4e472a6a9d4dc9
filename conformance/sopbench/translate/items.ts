import { Untranslatable } from '../playbook.ts'
import { readAdjective } from './adjectives.ts'
import { type Collection, findCollection } from './collections.ts'
import { compare } from './comparisons.ts'
import { readCondition } from './conditions.ts'
import { namedBy } from './keyed-records.ts'
import { fieldOf, findField } from './nouns.ts'
import { sameWords, withoutArticle, wordsOf } from './phrase.ts'
import type { Walked } from './quantifiers.ts'
import { fieldsOf } from './records.ts'
import type { Item, RuleScope } from './scope.ts'
import { type Condition, isTime, type Term, wholeDay } from './term.ts'
import type { Reader } from './values.ts'

/** What a noun phrase such as `other open bookings with that room_id` goes through, and which of it is meant. */
export interface Items {
  readonly collection: Collection
  /** What must hold of an item that is meant. */
  readonly tests: readonly ((item: Walked) => Condition)[]
}

/** @throws Untranslatable when the phrase names no list. */
export function findItems(reader: Reader, phrase: string): Items {
  const found = searched(reader, withoutArticle(phrase))
  if (found === undefined) throw new Untranslatable(`'${phrase}' names no list`)
  return found
}

function searched(reader: Reader, text: string): Items | undefined {
  const phrase = text.replace(
    /^(?:pieces?|kinds?|entry|entries|items?|elements?|records?) of (?:the )?/,
    '',
  )
  return (
    named(reader.scope, phrase) ??
    withClause(reader, phrase) ??
    withOther(reader, phrase) ??
    withAdjective(reader, phrase) ??
    withPlace(reader, phrase)
  )
}

function named(scope: RuleScope, phrase: string): Items | undefined {
  try {
    return { collection: findCollection(scope, phrase), tests: [] }
  } catch (error) {
    if (error instanceof Untranslatable) return undefined
    throw error
  }
}

/** `claims whose status is «0»`, `orders with that order_id`. */
function withClause(reader: Reader, phrase: string): Items | undefined {
  const clause = clauseOf(phrase)
  const rest = clause === undefined ? undefined : searched(reader, clause.noun)
  if (clause === undefined || rest === undefined) return undefined
  return narrowed(rest, () => readCondition(reader, clause.test))
}

/** The noun of a phrase and what its last relative clause says of each. */
function clauseOf(phrase: string): { noun: string; test: string } | undefined {
  const found =
    /^(.+),? (whose|where|that are|that is|that were|which are|which is|that have|that has|which have|which has|that do not|that does not|(?<!\b(?:with|for|on|of|in|at|from|to|by|has|have|is|are) )that|which|with|having|of which) (.+)$/.exec(
      phrase,
    )
  if (found === null) return undefined
  const [, noun = '', link = '', rest = ''] = found
  if (/^(that|which) (are|is|were)$/.test(link)) return { noun, test: `it is ${rest}` }
  if (/^(with|having)$/.test(link) || /ha(?:ve|s)$/.test(link))
    return { noun, test: `it has ${rest}` }
  if (/ do(?:es)? not$/.test(link)) return { noun, test: `it does not ${rest}` }
  return { noun, test: link === 'that' || link === 'which' ? `it ${rest}` : rest }
}

/** `visits on wanted_date`, `bookings for that room`: of which a field is what the customer named. */
function withPlace(reader: Reader, phrase: string): Items | undefined {
  const parts =
    /^(.+) (?:on|for|at|from|to|in|by|of) (?:the |this |that |the given |the same )?([\w ]+)$/.exec(
      phrase,
    )
  const rest = parts === null ? undefined : searched(reader, parts[1] ?? '')
  if (rest === undefined || findInput(reader.scope, parts?.[2] ?? '') === undefined)
    return undefined
  return narrowed(rest, (item) => {
    const found = sameAsInput(reader, item, parts?.[2] ?? '')
    if (found === undefined) throw new Untranslatable(`what '${parts?.[2]}' is of each`)
    return found
  })
}

/** `other bookings`: not the one that the rule is about. */
function withOther(reader: Reader, phrase: string): Items | undefined {
  const noun = /^(?:other|further|another) (.+)$/.exec(phrase)?.[1]
  const rest = noun === undefined ? undefined : searched(reader, noun)
  if (rest === undefined) return undefined
  const { scope } = reader
  return narrowed(rest, (item) => {
    const { keyWords, words, isMap } = rest.collection
    const input = scope.check.inputs.find((name) => {
      const isKey = [keyWords, words].some(
        (of) => sameWords(of, wordsOf(name)) || sameWords(of, namedBy(name)),
      )
      return isKey && (isMap || fieldOf(item.record, name) !== undefined)
    })
    // Where nothing that the customer named is one of them, each of them is another one.
    if (input === undefined) return { cel: 'true', guards: [] }
    const own = isMap ? item.self : fieldOf(item.record, input)
    if (own === undefined) throw new Untranslatable(`which '${noun}' the others are`)
    return compare(reader, own, '!=', scope.input(input))
  })
}

/** `open bookings`. */
function withAdjective(reader: Reader, phrase: string): Items | undefined {
  for (const pattern of [/^([a-z-]+) (.+)$/i, /^([a-z-]+ [a-z-]+) (.+)$/i]) {
    const [, adjective = '', noun = ''] = pattern.exec(phrase) ?? []
    const isNoun = noun !== '' && !/^(?:of|in|on|for|with|from|at|to|by)\b| of$/.test(noun)
    const rest = isNoun ? searched(reader, noun) : undefined
    if (rest === undefined) continue
    return narrowed(rest, (item) => {
      const found = item.record === undefined ? undefined : readAdjective(item.record, adjective)
      if (found === undefined) throw new Untranslatable(`what '${adjective}' is of '${noun}'`)
      return found
    })
  }
  return undefined
}

function narrowed({ collection, tests }: Items, test: (item: Walked) => Condition): Items {
  return { collection, tests: [...tests, test] }
}

/** `that order_id`, `the room`: a field of the item that the customer named as well. */
export function sameAsInput(reader: Reader, item: Item, phrase: string): Condition | undefined {
  const input = findInput(reader.scope, phrase)
  if (input === undefined) return undefined
  const value = reader.scope.input(input)
  if (value.shape.kinds.has('list')) return undefined
  const own = ownOf(item, input, value)
  if (own === undefined) return undefined
  if (isTime(own) && isTime(value)) {
    const [a, b] = [wholeDay(own), wholeDay(value)]
    return { cel: `${a.cel} == ${b.cel}`, guards: [...own.guards, ...value.guards] }
  }
  return compare(reader, own, '==', value)
}

function findInput({ check }: RuleScope, phrase: string): string | undefined {
  const words = wordsOf(withoutArticle(phrase))
  return (
    check.inputs.find((name) => sameWords(wordsOf(name), words)) ??
    check.inputs.find((name) => sameWords(namedBy(name), words))
  )
}

/** What of an item stands against an input: the field of its name, the key of the map, the one time. */
function ownOf(
  { record, self, words: names, of }: Item,
  input: string,
  value: Term,
): Term | undefined {
  const field =
    record === undefined ? undefined : (fieldOf(record, input) ?? findField(record, wordsOf(input)))
  if (field !== undefined) return field
  const isKey = [of?.keyWords ?? [], names].some(
    (words) => sameWords(words, wordsOf(input)) || sameWords(words, namedBy(input)),
  )
  if (isKey && (of?.isMap || record === undefined)) return self
  const like =
    record === undefined
      ? []
      : fieldsOf(record).filter(
          ({ name, term }) =>
            (isTime(value) && isTime(term)) ||
            (namedBy(input).length > 0 && sameWords(namedBy(name), namedBy(input))),
        )
  return like.length === 1 ? like[0]?.term : undefined
}
