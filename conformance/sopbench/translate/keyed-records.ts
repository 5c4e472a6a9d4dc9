import { fieldOf, nameWords, only } from './nouns.ts'
import { hasAll, sameWords, wordsOf } from './phrase.ts'
import { entryOf } from './picks.ts'
import type { RuleScope } from './scope.ts'
import type { Term } from './term.ts'

/** `the booking` for the one of a map of bookings that the input `booking_id` is the key of. */
export function findSelected(scope: RuleScope, words: readonly string[]): Term | undefined {
  const found = scope.check.inputs.flatMap((input) => {
    if (!sameWords(namedBy(input), words)) return []
    const key = scope.input(input)
    const maps = scope.sources().flatMap((source) => [
      ...(isMapOf(source.output, nameWords(source), words) ? [source.output] : []),
      ...[...source.output.shape.fields.keys()].flatMap((name) => {
        const field = fieldOf(source.output, name)
        return field !== undefined && isMapOf(field, [wordsOf(name)], words) ? [field] : []
      }),
    ])
    const entries = maps.flatMap((map) => entryOf(map, key) ?? [])
    return entries.length > 0 ? entries : bind(scope, input, words)
  })
  return only(found) ?? findByAnsweredId(scope, words)
}

/** `the item` where a tool answers the id of one, as of a title: the record under it. */
function findByAnsweredId(scope: RuleScope, words: readonly string[]): Term | undefined {
  const ids = scope.sources().filter(({ tool, text, output }) => {
    const named = wordsOf(`${tool} ${text.reads}`)
    return output.shape.kinds.has('text') && named.includes('id') && hasAll(named, words)
  })
  const id = only(ids)
  return id === undefined ? undefined : recordOf(scope, id, words)
}

/** `the order` for the one of a list of orders that has the `order_id` of the input: the whole rule is about it. */
function bind(scope: RuleScope, input: string, words: readonly string[]): readonly Term[] {
  const lists = scope.sources().flatMap((source) => {
    const isNamed = (of: Term, names: readonly (readonly string[])[]) =>
      of.shape.item?.fields.has(input) === true && names.some((name) => sameWords(name, words))
    const fields = [...source.output.shape.fields.keys()].flatMap((name) => {
      const field = fieldOf(source.output, name)
      return field !== undefined && isNamed(field, [wordsOf(name)]) ? [field] : []
    })
    return isNamed(source.output, nameWords(source)) ? [source.output, ...fields] : fields
  })
  const list = only(lists)
  const item = list?.shape.item
  if (list === undefined || item === undefined) return []
  const known = scope.bound.find((one) => one.list.cel === list.cel)
  const name = known?.name ?? `own${scope.bound.length === 0 ? '' : scope.bound.length + 1}`
  const key = scope.input(input)
  if (known === undefined) scope.bound.push({ name, list, test: `${name}.${input} == ${key.cel}` })
  return [{ cel: name, shape: item, guards: key.guards }]
}

/** `the class` for the input `class_id`. */
export function findNamed(scope: RuleScope, words: readonly string[]): Term | undefined {
  const names = scope.check.inputs.filter((input) => sameWords(namedBy(input), words))
  return names.length === 1 && names[0] !== undefined ? scope.input(names[0]) : undefined
}

/** `the doctor` of a record with a `doctor_id`, in the map of all doctors. */
export function findReferred(
  scope: RuleScope,
  words: readonly string[],
  records: readonly Term[] = [
    ...scope.items.flatMap(({ record }) => record ?? []),
    ...scope.sources().map(({ output }) => output),
  ],
): Term | undefined {
  const found = records.flatMap((record) => {
    if (record.shape.isMap) return []
    const names = [...record.shape.fields.keys()].filter((name) => sameWords(namedBy(name), words))
    return names.flatMap((name) => {
      const key = fieldOf(record, name)
      if (key === undefined || !key.shape.kinds.has('text')) return []
      const asked = scope
        .sources()
        .filter(({ args, output }) => args.at(-1) === key.cel && !output.shape.isMap)
      return only(asked.map(({ output }) => output)) ?? recordOf(scope, key, words) ?? []
    })
  })
  return only(found)
}

/** The record that a text is the key of, in a map that one of the tools answers or the whole state holds. */
export function recordOf(
  scope: RuleScope,
  key: Term,
  words: readonly string[],
  except?: Term,
): Term | undefined {
  const maps = scope
    .sources()
    .filter((source) => isMapOf(source.output, nameWords(source), words))
    .map(({ output }) => output)
    .filter(({ cel }) => cel !== except?.cel)
  const state = scope.wholeState()
  const name =
    state === undefined
      ? undefined
      : [...state.output.shape.fields.keys()].find((field) => sameWords(wordsOf(field), words))
  const inState = name === undefined ? undefined : fieldOf(state?.output, name)
  const map = only(maps) ?? (inState?.shape.isMap ? inState : undefined)
  return map === undefined ? undefined : entryOf(map, key)
}

function isMapOf(
  { shape }: Term,
  names: readonly (readonly string[])[],
  words: readonly string[],
): boolean {
  return shape.isMap && names.some((name) => sameWords(name, words))
}

/** What an identifying name stands for: `order` of `order_id`, `card` of `card_number`. */
export function namedBy(name: string): readonly string[] {
  const words = wordsOf(name)
  const rest = words.filter((word) => !idWords.has(word))
  return rest.length < words.length || words.length === 1 ? rest : []
}

export const idWords: ReadonlySet<string> = new Set([
  'id',
  'ids',
  'code',
  'number',
  'name',
  'key',
  'no',
])
