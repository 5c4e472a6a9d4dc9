import { Untranslatable } from '../playbook.ts'
import { type Shape, valueShapeOf } from '../shape.ts'
import { idWords, namedBy, recordOf } from './keyed-records.ts'
import { fieldOf, findFieldOf, findNoun, nameWords, only } from './nouns.ts'
import { hasAll, sameWords, wordsOf } from './phrase.ts'
import type { RuleScope } from './scope.ts'
import type { Term } from './term.ts'
import { findRequested } from './values.ts'

/** A list or map to go through, and what its items are. */
export interface Collection {
  readonly list: Term
  readonly item: Shape
  readonly isMap: boolean
  readonly words: readonly string[]
  /** What the items are keys of, where it is known. */
  readonly keyWords: readonly string[]
}

export function findCollection(scope: RuleScope, phrase: string): Collection {
  const words = wordsOf(phrase)
  const [, field, owner] = /^(.+?) (?:of|in|from) (.+)$/.exec(phrase.trim()) ?? []
  const found =
    (field === undefined || owner === undefined
      ? undefined
      : listed(findFieldOf(scope, field, owner))) ??
    listed(findRequested(scope, phrase)) ??
    listed(findNoun(scope, phrase)) ??
    findOfKind(scope, field ?? phrase, owner) ??
    findListAnswer(scope, words) ??
    findListLike(scope, words) ??
    findInState(scope, words) ??
    findHolder(scope, phrase, field, owner)
  const shape = found?.shape
  if (found === undefined || !(shape?.kinds.has('list') || shape?.isMap)) {
    throw new Untranslatable(`'${phrase}' names no list`)
  }
  const item = shape.isMap ? valueShapeOf(shape) : (shape.item ?? shape)
  const name = found.cel.endsWith('.output') ? '' : (found.cel.split('.').at(-1) ?? '')
  const keyed = scope.learned.mapKeys.get(name) ?? sourceKeys(scope, found)
  const ofKey = keyed === undefined ? [] : wordsOf(keyed).filter((word) => !idWords.has(word))
  const allWords = wordsOf(field ?? phrase)
  const telling = allWords.filter((word) => !idWords.has(word))
  const itemWords = (telling.length > 0 ? telling : allWords).slice(-1)
  return {
    list: found,
    item,
    isMap: shape.isMap,
    words: itemWords,
    keyWords: ofKey.length > 0 ? ofKey : itemWords,
  }
}

/** What the keys of a tool's answer are, by the map that it reads. */
function sourceKeys(scope: RuleScope, { cel }: Term): string | undefined {
  const source = scope.sources().find(({ output }) => output.cel === cel)
  const name = source?.text.reads
    .replaceAll(/\[[^\]]*\]/g, '')
    .split('.')
    .at(-1)
  return scope.learned.mapKeys.get(name ?? '')
}

/** `waitlisted classes`: the list `waitlisted`, where classes are a kind of record. */
function findOfKind(scope: RuleScope, phrase: string, owner: string | undefined): Term | undefined {
  const [, name = '', noun = ''] = /^(\w+) ([a-z]+)$/.exec(phrase) ?? []
  const [kind = ''] = wordsOf(noun)
  const isKind = [...scope.learned.mapKeys].some(
    ([map, key]) => wordsOf(map).includes(kind) || namedBy(key).includes(kind),
  )
  if (!isKind) return undefined
  const found = owner === undefined ? undefined : findFieldOf(scope, name, owner)
  return listed(found) ?? listed(findNoun(scope, name))
}

/** The one list or map among the answers that goes by the name. */
function findListAnswer(scope: RuleScope, words: readonly string[]): Term | undefined {
  const named = scope
    .sources()
    .filter((source) => nameWords(source).some((name) => sameWords(name, words)))
  return only(named.flatMap(({ output }) => listed(output) ?? []))
}

/** A value, if it is a list or a map. */
function listed(term: Term | undefined): Term | undefined {
  return term?.shape.kinds.has('list') || term?.shape.isMap ? term : undefined
}

/** `product of the cart`: the cart itself, whose items are called products. */
function findHolder(
  scope: RuleScope,
  phrase: string,
  field: string | undefined,
  owner: string | undefined,
): Term | undefined {
  const holder = owner === undefined ? undefined : findNoun(scope, owner)
  const isKind =
    / in | from /.test(phrase) ||
    /^(?:entry|item|element|member|value|key|one|part)s?$/.test(field ?? '') ||
    findInState(scope, wordsOf(field ?? '')) !== undefined
  const isList = holder?.shape.kinds.has('list') === true || holder?.shape.isMap === true
  return isKind && isList ? holder : undefined
}

/** The one list among the answers whose name has the words. */
function findListLike(scope: RuleScope, words: readonly string[]): Term | undefined {
  const records = [
    ...scope.items.flatMap(({ record }) => record ?? []),
    ...scope.sources().map(({ output }) => output),
  ]
  const lists = records.flatMap((record) =>
    [...record.shape.fields.keys()].flatMap((name) => {
      const term = fieldOf(record, name)
      const isList = term?.shape.kinds.has('list') === true || term?.shape.isMap === true
      return isList && hasAll(wordsOf(name), words) ? [term] : []
    }),
  )
  return only(lists)
}

/** All records of a kind, in the whole state. */
function findInState(scope: RuleScope, words: readonly string[]): Term | undefined {
  const state = scope.wholeState()
  if (state === undefined) return undefined
  const name = [...state.output.shape.fields.keys()].find((field) =>
    sameWords(wordsOf(field), words),
  )
  return name === undefined ? undefined : fieldOf(state.output, name)
}

/** The record that a text is the key of: `CS101` of an enrolled course in the map of courses. */
export function recordOfKey(
  scope: RuleScope,
  key: Term,
  words: readonly string[],
  except?: Term,
): Term | undefined {
  return words.length === 0 ? undefined : recordOf(scope, key, words.slice(-1), except)
}
