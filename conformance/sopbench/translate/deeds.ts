import { namedBy } from './keyed-records.ts'
import { contained } from './lists.ts'
import { fieldOf, nameWords, people } from './nouns.ts'
import { sameWords, withoutArticle, wordsOf } from './phrase.ts'
import { isRecord, recordNamed } from './records.ts'
import type { Source } from './scope.ts'
import { type Condition, negated, type Term } from './term.ts'
import { findValue, type Reader } from './values.ts'

/**
 * What somebody did with something: `the user has not reviewed the product`, `the doctor accepts the plan`. It is read
 * from the one list or map that has the name of the deed: `reviews`, `accepts`.
 */
export function readDeed(reader: Reader, text: string): Condition | undefined {
  return readDone(reader, text) ?? readDoes(reader, text)
}

const irregular: { readonly [participle: string]: string } = {
  bought: 'purchas',
  taken: 'tak',
  written: 'writ',
  chosen: 'choic',
}

function readDone(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (?:has|have|is|had) (not |never )?(?:already |ever |previously )?(\w+) (?:before )?(the|this|that|these|an?) (.+?)(?: before| already| yet)?$/.exec(
      text,
    )
  const [, who = '', not, participle = '', , what = ''] = parts ?? []
  const stem = irregular[participle] ?? /^(\w{3,}?)(?:p|t|l)?ed$/.exec(participle)?.[1]
  if (stem === undefined) return undefined
  const { scope } = reader
  const object = scope.check.inputs.find((name) => isCalled(name, what))
  if (object === undefined) return undefined
  const actor = scope.check.inputs.find(
    (name) => name !== object && (isCalled(name, who) || isPerson(name, who)),
  )
  const found = scope
    .sources()
    .flatMap((source) =>
      listsNamed(source, stem).flatMap(
        (list) => done(reader, source, list, { object, actor }) ?? [],
      ),
    )
  const [condition] = found
  if (condition === undefined || found.length > 1) return undefined
  return negated(condition, not !== undefined)
}

function isCalled(input: string, words: string): boolean {
  const wanted = wordsOf(withoutArticle(words))
  return sameWords(wordsOf(input), wanted) || sameWords(namedBy(input), wanted)
}

function isPerson(input: string, words: string): boolean {
  const isOne = wordsOf(words).every((word) => people.has(word))
  return isOne && (input === 'username' || wordsOf(input).some((word) => people.has(word)))
}

/** The answer itself or a field of it, when it is a list or a map whose name begins as the deed does. */
function listsNamed(source: Source, stem: string): readonly Term[] {
  const isList = ({ shape }: Term) => shape.kinds.has('list') || shape.isMap
  const fits = (words: readonly string[]) => words.some((word) => word.startsWith(stem))
  const fields = [...source.output.shape.fields.keys()].flatMap((name) => {
    const field = source.output.shape.isMap ? undefined : fieldOf(source.output, name)
    return field !== undefined && fits(wordsOf(name)) ? [field] : []
  })
  const own = isList(source.output) && nameWords(source).some(fits) ? [source.output] : []
  return [...own, ...fields].filter(isList)
}

/** Whether the list has the object where it is the actor's, or the actor where it is the object's. */
function done(
  reader: Reader,
  { args }: Source,
  list: Term,
  { object, actor }: { readonly object: string; readonly actor: string | undefined },
): Condition | undefined {
  const { scope } = reader
  const isOf = (input: string) => args.includes(scope.input(input).cel)
  const sought = isOf(object) ? actor : object
  if (sought === undefined || isOf(sought)) return undefined
  const value = scope.input(sought)
  const { item, isMap } = list.shape
  if (isMap || item === undefined || !item.kinds.has('object'))
    return contained(reader, value, list)
  const names = [...item.fields.keys()]
  const field =
    names.find((name) => name === sought) ??
    names.find((name) => sameWords(namedBy(name), namedBy(sought)) && namedBy(name).length > 0)
  if (field === undefined) return undefined
  return {
    cel: `${list.cel}.exists(entry, entry.${field} == ${value.cel})`,
    guards: [...list.guards, ...value.guards],
  }
}

/** `the doctor accepts the plan`: a list of the record by the name of what it does, that has the value. */
function readDoes(reader: Reader, text: string): Condition | undefined {
  for (const { index, 0: found, 1: not, 2: verb = '' } of text.matchAll(
    / (does not |do not )?(\w+)(?= )/g,
  )) {
    const record = recordNamed(reader, text.slice(0, index))
    if (record === undefined || !isRecord(record)) continue
    const list = fieldOf(record, verb) ?? fieldOf(record, `${verb}s`)
    const isList = list?.shape.kinds.has('list') === true || list?.shape.isMap === true
    const value = isList ? findValue(reader, text.slice(index + found.length + 1)) : undefined
    if (list === undefined || value === undefined) return undefined
    return negated(contained(reader, value, list), not !== undefined)
  }
  return undefined
}
