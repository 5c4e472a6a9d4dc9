import { canonicalJson } from '../domain/canonical.ts'
import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import { standsInText } from '../domain/text-value.ts'
import { memberSchema } from './demonstration.ts'

/** Something that a step can read: a parameter, or what an earlier step has answered. */
export interface Source {
  readonly reference: string
  readonly isParameter: boolean
  /** By run; undefined where it is not known. */
  readonly values: readonly (Json | undefined)[]
}

/** Where the value of an argument comes from. */
export type Origin =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'source'; readonly source: Source }
  | { readonly kind: 'text'; readonly parts: readonly (string | Source)[] }

/** One value that a tool was given, in each run; undefined where the run does not call it. */
export interface GivenValue {
  readonly values: readonly (Json | undefined)[]
  readonly isSensitive: boolean
  /** Whether the same value is given elsewhere in the same run. */
  readonly recurs: boolean
}

/** The paths of what inputs hold: members of objects, while a list is one value. Those that every input has. */
export function pathsOf(inputs: readonly Json[]): readonly (readonly string[])[] {
  const counts = new Map<string, { readonly path: readonly string[]; count: number }>()
  const walk = (value: Json, path: readonly string[]): void => {
    const isInner = isJsonObject(value) && (path.length === 0 || Object.keys(value).length > 0)
    if (isInner && path.length < 8) {
      for (const [name, member] of Object.entries(value)) {
        if (name !== '__proto__') walk(member, [...path, name])
      }
    } else if (path.length > 0) {
      const known = counts.get(JSON.stringify(path)) ?? { path, count: 0 }
      counts.set(JSON.stringify(path), { path, count: known.count + 1 })
    }
  }
  for (const input of inputs) walk(input, [])
  return [...counts.values()].flatMap(({ path, count }) => (count === inputs.length ? [path] : []))
}

export function valueAt(input: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = input
  for (const name of path) {
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

/**
 * Where a value comes from, in every run: a parameter that is known, what a step has answered, a text with such values in
 * it, or always the same. Undefined where it is a parameter of its own: it differs and nothing explains it, or the words of
 * the situation have it.
 */
export function originOf(
  given: GivenValue,
  sources: readonly Source[],
  situations: readonly string[],
): Origin | undefined {
  const runs = given.values.flatMap((value, run) => (value === undefined ? [] : [run]))
  const first = given.values[runs[0] ?? 0]
  if (first === undefined) return undefined
  const isSame = (source: Source): boolean =>
    runs.every((run) => isEqual(source.values[run], given.values[run]))
  const varies = runs.some((run) => !isEqual(given.values[run], first))
  const tells = varies || isTelling(first)
  const parameter = tells ? sources.find((one) => one.isParameter && isSame(one)) : undefined
  if (parameter !== undefined) return { kind: 'source', source: parameter }
  if (given.isSensitive || first === '(sensitive)') return undefined
  const isSaid = tells && runs.every((run) => isSaidIn(given.values[run], situations[run] ?? ''))
  if (!varies && isSaid) return undefined
  if (!varies && runs.length > 1 && !holdsMarks(first)) return { kind: 'literal', value: first }
  const output = tells ? sources.find((one) => !one.isParameter && isSame(one)) : undefined
  if (output !== undefined) return { kind: 'source', source: output }
  if (!varies && tells && given.recurs) return undefined
  const parts = textOf(
    runs.map((run) => given.values[run]),
    sources,
    runs,
  )
  if (parts !== undefined) return { kind: 'text', parts }
  return varies || holdsMarks(first) ? undefined : { kind: 'literal', value: first }
}

/** What an origin comes to in a run; undefined where something that it reads is not known. */
export function broughtBy(origin: Origin, run: number): Json | undefined {
  if (origin.kind === 'literal') return origin.value
  if (origin.kind === 'source') return origin.source.values[run]
  const parts = origin.parts.map((part) =>
    typeof part === 'string' ? part : textIn(part.values[run]),
  )
  return parts.includes(undefined) ? undefined : parts.join('')
}

export function templateOf(origin: Origin): Json {
  if (origin.kind === 'literal') return origin.value
  if (origin.kind === 'source') return `{{${origin.source.reference}}}`
  return origin.parts
    .map((part) => (typeof part === 'string' ? part : `{{${part.reference}}}`))
    .join('')
}

export function isSensitiveAt(schema: JsonSchema | undefined, path: readonly string[]): boolean {
  return path.some((_, at) => memberSchema(schema, path.slice(0, at + 1))?.sensitive === true)
}

export function isEqual(left: Json | undefined, right: Json | undefined): boolean {
  return left !== undefined && right !== undefined && canonicalJson(left) === canonicalJson(right)
}

/** Whether a value is more than a switch or a small number, so that it is no chance where it comes again. */
function isTelling(value: Json): boolean {
  if (typeof value === 'number') return Math.abs(value) >= 10
  return typeof value === 'string' && (value.length >= 4 || /\d{2}/.test(value))
}

function isSaidIn(value: Json | undefined, situation: string): boolean {
  const text = textIn(value)
  return text !== undefined && standsInText(text, situation)
}

/** What cannot stand in a definition: marks of a template, and a name that it refuses. */
function holdsMarks(value: Json): boolean {
  const text = canonicalJson(value)
  return text.includes('{{') || text.includes('"__proto__":')
}

function textIn(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** A text of each run as the same words with values of sources between them. */
function textOf(
  values: readonly (Json | undefined)[],
  sources: readonly Source[],
  runs: readonly number[],
): readonly (string | Source)[] | undefined {
  const texts = values.filter((one): one is string => typeof one === 'string')
  const [first = ''] = texts
  if (texts.length < values.length || texts.some((one) => one.includes('{{'))) return undefined
  const { words, places } = cutBy(first, sources, runs[0] ?? 0)
  if (places.length === 0) return undefined
  let candidates = places
  for (const [at, text] of texts.entries()) {
    const between = betweenWords(text, words)
    if (between === undefined) return undefined
    candidates = candidates.map((some, place) =>
      some.filter((one) => textIn(one.values[runs[at] ?? 0]) === between[place]),
    )
  }
  const chosen = candidates.map(([one]) => one)
  if (chosen.includes(undefined)) return undefined
  return words.flatMap((word, at) => [word, chosen[at] ?? ''].filter((part) => part !== ''))
}

/** Cuts a text at the values that stand in it, the longest first. */
function cutBy(
  text: string,
  sources: readonly Source[],
  run: number,
): { readonly words: readonly string[]; readonly places: readonly (readonly Source[])[] } {
  const bySaid = new Map<string, readonly Source[]>()
  for (const source of sources) {
    const text = textIn(source.values[run]) ?? ''
    bySaid.set(text, [...(bySaid.get(text) ?? []), source])
  }
  const said = [...bySaid.keys()]
    .filter((one) => one.length >= 2)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  const words: string[] = []
  const places: (readonly Source[])[] = []
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const found = said.find((one) => text.startsWith(one, at) && isApart(text, at, one.length))
    if (found === undefined) continue
    words.push(text.slice(from, at))
    places.push(bySaid.get(found) ?? [])
    from = at + found.length
    at = from - 1
  }
  return { words: [...words, text.slice(from)], places }
}

function isApart(text: string, at: number, length: number): boolean {
  const inWord = /[\p{L}\p{N}]/u
  return !inWord.test(text[at - 1] ?? '') && !inWord.test(text[at + length] ?? '')
}

/** What stands between words that come one after the other, the first at the beginning and the last at the end. */
function betweenWords(text: string, words: readonly string[]): readonly string[] | undefined {
  const [first = '', ...others] = words
  if (!text.startsWith(first)) return undefined
  const between: string[] = []
  let from = first.length
  for (const [index, word] of others.entries()) {
    const isLast = index === others.length - 1
    const at = isLast ? text.length - word.length : text.indexOf(word, from)
    if (at < from || (isLast && !text.endsWith(word))) return undefined
    between.push(text.slice(from, at))
    from = at + word.length
  }
  return between
}
