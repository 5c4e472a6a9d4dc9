import { findNamed, findReferred, findSelected, recordOf } from './keyed-records.ts'
import { hasAll, isPlural, sameWords, withoutArticle, wordsOf } from './phrase.ts'
import { fieldGuard, type RuleScope, type Source } from './scope.ts'
import { quote, type Term, textShape } from './term.ts'

/** Finds the value that a noun means, without any grammar: a name of an input, a field, an answer. */
export function findNoun(scope: RuleScope, phrase: string): Term | undefined {
  const words = wordsOf(phrase)
  if (words.length === 0 || !isName(phrase)) return undefined
  return (
    scope.definitions.get(phrase.trim()) ??
    findInItems(scope, words) ??
    findLiterally(scope, phrase) ??
    findExactInput(scope, words) ??
    findPath(scope, phrase) ??
    findAnswer(scope, phrase) ??
    findReferred(scope, words) ??
    findInputLike(scope, words) ??
    findPerson(scope, words)
  )
}

/** `the user` where only the name of one is known: the input that names the person. */
function findPerson(scope: RuleScope, words: readonly string[]): Term | undefined {
  if (!words.every((word) => people.has(word))) return undefined
  const names = scope.check.inputs.filter(
    (input) => input === 'username' || wordsOf(input).some((word) => people.has(word)),
  )
  return names.length === 1 && names[0] !== undefined ? scope.input(names[0]) : undefined
}

/** What a tool answers; of a list or map of such records, the one that the customer has named. */
function findAnswer(scope: RuleScope, phrase: string): Term | undefined {
  const words = wordsOf(phrase)
  const answer = findInSources(scope, words)
  const isSeveral = answer?.shape.kinds.has('list') === true || answer?.shape.isMap === true
  if (answer !== undefined && (!isSeveral || isPlural(phrase))) return answer
  return findSelected(scope, words) ?? findNamed(scope, words) ?? answer
}

/** The record that the rule's one person has, whatever the domain calls them. */
export function findOwnedRecord(scope: RuleScope, phrase: string): Term | undefined {
  if (!wordsOf(phrase).every((word) => people.has(word))) return undefined
  const records = scope
    .sources()
    .filter(({ output, args }) => output.shape.kinds.has('object') && args.length === 1)
    .map(({ output }) => output)
    .filter(({ shape }) => !shape.isMap)
  return only(records)
}

/** Signs and quoted texts are never part of a name, so that no part of a sentence is lost in one. */
function isName(phrase: string): boolean {
  return !/[<>=«»:;,()+*]| - | x |\b(?:not|no|every|or|and)\b/.test(phrase)
}

/** An input or field by its very name, before singular and plural are taken for one. */
function findLiterally(scope: RuleScope, phrase: string): Term | undefined {
  const name = withoutArticle(phrase).replaceAll(' ', '_')
  if (scope.check.inputs.includes(name)) return scope.input(name)
  return only(scope.sources().flatMap(({ output }) => fieldOf(output, name) ?? []))
}

/** Fields of what a quantifier goes through, innermost first. */
function findInItems(scope: RuleScope, words: readonly string[]): Term | undefined {
  for (const { self, record, keyed, words: names } of [...scope.items].reverse()) {
    if (sameWords(words, names)) return self
    for (const of of [record, keyed]) {
      const field = of === undefined ? undefined : findField(of, words, names)
      if (field !== undefined) return field
    }
    const isCount = record?.shape.kinds.has('number') === true && record.cel !== self.cel
    if (isCount && /^(quantity|amount|count|number)$/.test(words.join(' '))) return record
  }
  return undefined
}

function findExactInput(scope: RuleScope, words: readonly string[]): Term | undefined {
  const name = scope.check.inputs.find((input) => sameWords(wordsOf(input), words))
  return name === undefined ? undefined : scope.input(name)
}

/** `the code` for the one input `course_code`. */
function findInputLike(scope: RuleScope, words: readonly string[]): Term | undefined {
  const like = scope.check.inputs.filter((input) => hasAll(wordsOf(input), words))
  return like.length === 1 && like[0] !== undefined ? scope.input(like[0]) : undefined
}

/** `driver_license.address`, `tests.drive.status`, `registration_period[0]`. */
function findPath(scope: RuleScope, phrase: string): Term | undefined {
  const index = /^(.+)\[(\d+)\]$/.exec(phrase.trim())
  if (index !== null) {
    const list = findNoun(scope, index[1] ?? '')
    if (list?.shape.item === undefined) return undefined
    const cel = `${list.cel}[${index[2]}]`
    const guards = [...list.guards, `${list.cel}.size() > ${index[2]}`]
    return { cel, shape: list.shape.item, guards }
  }
  if (!/^\w+(\.\w+)+$/.test(phrase.trim())) return undefined
  const [head = '', ...links] = phrase.trim().split('.')
  const starts = [...entitiesNamed(scope, head), ...keyedBy(scope, head, links[0] ?? '')]
  for (const start of starts) {
    const path = start.isKeyed ? links.slice(1) : links
    const found = path.reduce<Term | undefined>(fieldOf, start.record)
    if (found !== undefined) return found
  }
  return undefined
}

interface Start {
  readonly record: Term
  readonly isKeyed: boolean
}

function entitiesNamed(scope: RuleScope, name: string): readonly Start[] {
  const items = scope.items.flatMap(({ record, keyed, words }) =>
    sameWords(words, wordsOf(name))
      ? [record, keyed].flatMap((of) => (of === undefined ? [] : [{ record: of, isKeyed: false }]))
      : [],
  )
  const sources = scope.sources().flatMap((source) => {
    if (!isNamed(source, wordsOf(name))) return []
    return [{ record: source.output, isKeyed: false }]
  })
  return [...items, ...sources]
}

/** A tool that reads `tests[test_type]`, asked for the `drive` of `tests.drive`. */
function keyedBy(scope: RuleScope, head: string, key: string): readonly Start[] {
  return scope.check.via.flatMap((tool) => {
    const reads = new RegExp(`\\b${head}\\[(\\w+)\\]`).exec(scope.tools.tools[tool]?.reads ?? '')
    const source = reads === null ? undefined : scope.findSource(tool, { [reads[1] ?? '']: key })
    return source === undefined ? [] : [{ record: source.output, isKeyed: true }]
  })
}

/** A field by its exact name. */
export function fieldOf(record: Term | undefined, name: string): Term | undefined {
  const field = record?.shape.isMap ? undefined : record?.shape.fields.get(name)
  if (record === undefined || field === undefined) return undefined
  const cel = `${record.cel}.${name}`
  return { cel, shape: field.shape, guards: [...record.guards, ...fieldGuard(cel, field)] }
}

/**
 * The field of a record that the words mean: its name, or its name and that of the record; a field of a record inside
 * when the words are its name.
 */
export function findField(
  record: Term,
  words: readonly string[],
  names: readonly string[] = [],
): Term | undefined {
  if (record.shape.isMap) return undefined
  const fields = [...record.shape.fields.keys()]
  const rest = words.filter((word) => !names.includes(word))
  const name =
    fields.find((field) => sameWords(wordsOf(field), words)) ??
    fields.find((field) => rest.length < words.length && sameWords(wordsOf(field), rest))
  if (name !== undefined) return fieldOf(record, name)
  const inner = fields.flatMap((field) => {
    const term = fieldOf(record, field)
    const isRecord = term?.shape.kinds.has('object') === true && !term.shape.isMap
    return isRecord ? (findField(term, words, wordsOf(field)) ?? []) : []
  })
  return only(inner)
}

function findInSources(scope: RuleScope, words: readonly string[]): Term | undefined {
  const sources = scope.sources()
  const fields = sources.flatMap(
    (source) => findField(source.output, words, nameWords(source).flat()) ?? [],
  )
  const exact = fields.filter(({ cel }) => sameWords(wordsOf(cel.split('.').at(-1) ?? ''), words))
  return (
    only(sources.filter((source) => isCalled(source, words))) ??
    only(exact) ??
    only(fields) ??
    only(sources.filter((source) => isCalled(source, words, hasAll))) ??
    only(sources.flatMap(({ output }) => fieldsLike(output, words)))
  )

  function isCalled(source: Source, wanted: readonly string[], match = sameWords): boolean {
    return nameWords(source).some((name) => match(name, wanted))
  }
}

/** Fields whose names have the words among others: `credit_balance` for `balance`. */
function fieldsLike(record: Term, words: readonly string[]): readonly Term[] {
  if (record.shape.isMap) return []
  const names = [...record.shape.fields.keys()].filter((name) => hasAll(wordsOf(name), words))
  return names.flatMap((name) => fieldOf(record, name) ?? [])
}

/** One thing, or the answer of the one tool; several are no answer. */
export function only(found: readonly (Term | Source)[]): Term | undefined {
  const terms = found.map((one) => ('output' in one ? nullable(one.output) : one))
  const different = new Map(terms.map((term) => [term.cel, term]))
  return different.size === 1 ? [...different.values()][0] : undefined
}

/** The answer of a tool may be null, and is then none. */
function nullable(term: Term): Term {
  if (!term.shape.kinds.has('null')) return term
  return { ...term, guards: [...term.guards, `has(${term.cel})`] }
}

const verbs = new Set([
  ...['internal', 'get', 'check', 'convert', 'calculate', 'show', 'find', 'list', 'fetch', 'to'],
  ...['info', 'information', 'detail', 'status', 'num', 'number', 'is', 'has', 'record', 'exist'],
  ...[
    'history',
    'true',
    'when',
    'key',
    'list',
    'map',
    'or',
    'null',
    'whole',
    'over',
    'and',
    'user',
  ],
])

/** The names that a tool's answer goes by: what it reads, its own name, what its result is called. */
export function nameWords({ text, tool }: Source): readonly (readonly string[])[] {
  const reads = text.reads.split(/,|\band\b/).map(
    (part) =>
      part
        .replaceAll(/\[[^\]]*\]/g, '')
        .split('.')
        .at(-1) ?? '',
  )
  const names = [...reads, tool, ...(text.result.length < 60 ? [text.result] : [])]
  const plain = names.map((name) => wordsOf(name).filter((word) => !verbs.has(word)))
  return [...reads.map(wordsOf), ...plain].filter((words) => words.length > 0)
}

function isNamed(source: Source, words: readonly string[]): boolean {
  return nameWords(source).some((name) => sameWords(name, words) || hasAll(name, words))
}

/** The person that a rule is about, whatever the domain calls customers. */
export const people = new Set([
  ...['customer', 'user', 'account', 'guest', 'student', 'member', 'buyer', 'patient', 'person'],
  ...[
    'client',
    'passenger',
    'traveller',
    'subscriber',
    'holder',
    'policyholder',
    'driver',
    'applicant',
  ],
  ...[
    'renter',
    'tenant',
    'owner',
    'requester',
    'reader',
    'employee',
    'owner',
    'sender',
    'cardholder',
  ],
])

/** `credits of the course`, `min_gpa of new_major`: a field of the record that the second noun names. */
export function findFieldOf(scope: RuleScope, field: string, owner: string): Term | undefined {
  if (!isName(field) || !isName(owner)) return undefined
  const [fieldWords, ownerWords] = [wordsOf(field), wordsOf(owner)]
  for (const item of [...scope.items].reverse()) {
    if (!hasAll(item.words, ownerWords)) continue
    for (const of of [item.keyed, item.record]) {
      const found = of === undefined ? undefined : findField(of, fieldWords)
      if (found !== undefined) return found
    }
  }
  const key = findNoun(scope, owner)
  const sources = scope.sources().filter((source) => {
    if (key !== undefined && source.args.includes(key.cel)) return true
    if (isNamed(source, ownerWords)) return true
    return ownerWords.every((word) => people.has(word)) && source.args.length === 1
  })
  const asked = sources.filter((source) => key !== undefined && source.args.includes(key.cel))
  const preferred = asked.length > 0 ? asked : sources
  const found = preferred.flatMap(
    (source) =>
      findField(source.output, fieldWords) ??
      (nameWords(source).some((name) => sameWords(name, fieldWords))
        ? nullable(source.output)
        : []),
  )
  const own = only(found) ?? (key === undefined ? undefined : findField(key, fieldWords))
  if (own !== undefined || key === undefined) return own
  const record = key.shape.kinds.has('text') ? recordOf(scope, key, ownerWords) : undefined
  return record === undefined
    ? findReferred(scope, fieldWords, [key])
    : findField(record, fieldWords)
}

export function textTerm(text: string): Term {
  return { cel: quote(text), shape: textShape, guards: [] }
}
