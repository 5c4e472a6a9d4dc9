import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../json.ts'
import { type Kind, kindWords } from './value.ts'

/** What is known about a value before it exists. `any` is what no schema can tell. */
export type Type =
  | { readonly kind: 'any' }
  | { readonly kind: 'null' | 'boolean' | 'number' | 'timestamp' }
  /** `values`: the only texts that it can be, where a schema says so. */
  | { readonly kind: 'string'; readonly values?: readonly string[] }
  | { readonly kind: 'list'; readonly of: Type }
  | ObjectType
  /** One of these; of none when the value can never exist, as the items of `[]`. */
  | { readonly kind: 'union'; readonly of: readonly Type[] }

export interface ObjectType {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Field>
  /** The type of fields that are not named; absent when there can be none. */
  readonly rest?: Type
}

export interface Field {
  readonly type: Type
  /** True when the field may be absent. */
  readonly optional: boolean
}

export const anyType: Type = { kind: 'any' }
export const nullType: Type = { kind: 'null' }
export const booleanType: Type = { kind: 'boolean' }
export const numberType: Type = { kind: 'number' }
export const stringType: Type = { kind: 'string' }
export const timestampType: Type = { kind: 'timestamp' }

export function listType(of: Type): Type {
  return { kind: 'list', of }
}

/** Fields that may be absent are wrapped in `optional()`. */
export function objectType(fields: { readonly [name: string]: Type | Field }): ObjectType {
  return {
    kind: 'object',
    fields: new Map(
      Object.entries(fields).map(([name, field]) => [
        name,
        'kind' in field ? { type: field, optional: false } : field,
      ]),
    ),
  }
}

export function optional(type: Type): Field {
  return { type, optional: true }
}

/** The members of a union, or the type itself. */
export function membersOf(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.of : [type]
}

export function unionOf(types: readonly Type[]): Type {
  const members = types.flatMap(membersOf)
  if (members.some(({ kind }) => kind === 'any')) return anyType
  const simple = new Map<Kind, Type>()
  const nested: Type[] = []
  for (const member of members) {
    if (member.kind === 'list' || member.kind === 'object') nested.push(member)
    else if (member.kind === 'string') {
      const before = simple.get('string')
      simple.set('string', before?.kind === 'string' ? joinTexts(before, member) : member)
    } else if (member.kind !== 'any' && member.kind !== 'union') simple.set(member.kind, member)
  }
  const all = [...simple.values(), ...nested]
  const [only] = all
  return all.length === 1 && only !== undefined ? only : { kind: 'union', of: all }
}

function joinTexts(
  a: { readonly values?: readonly string[] },
  b: { readonly values?: readonly string[] },
): Type {
  if (a.values === undefined || b.values === undefined) return stringType
  return { kind: 'string', values: [...new Set([...a.values, ...b.values])] }
}

export function isNullable(type: Type): boolean {
  return membersOf(type).some(({ kind }) => kind === 'null')
}

/** The type without null, for a place where null was ruled out. */
export function withoutNull(type: Type): Type {
  return type.kind === 'union' ? unionOf(type.of.filter(({ kind }) => kind !== 'null')) : type
}

/** The type of the JSON that a value becomes when it leaves an expression: timestamps become texts. */
export function jsonTypeOf(type: Type): Type {
  switch (type.kind) {
    case 'timestamp':
      return stringType
    case 'list':
      return listType(jsonTypeOf(type.of))
    case 'union':
      return unionOf(type.of.map(jsonTypeOf))
    case 'object': {
      const fields = new Map(
        [...type.fields].map(([name, { type: inner, optional }]) => [
          name,
          { type: jsonTypeOf(inner), optional },
        ]),
      )
      const { rest } = type
      return { kind: 'object', fields, ...(rest !== undefined && { rest: jsonTypeOf(rest) }) }
    }
    default:
      return type
  }
}

/** What people call the type. */
export function typeWords(type: Type): string {
  switch (type.kind) {
    case 'any':
      return 'anything'
    case 'union':
      return type.of.length === 0 ? 'nothing' : type.of.map(typeWords).join(' or ')
    case 'list':
      return type.of.kind === 'any' || type.of.kind === 'union'
        ? 'a list'
        : `a list (each ${typeWords(type.of)})`
    default:
      return kindWords[type.kind]
  }
}

/**
 * Whether every value of a type is accepted where another one is expected: `yes`, `maybe` (some are) or `no` (none is).
 * What is not known is not held against it: `any`, and a plain text where one of a few texts is expected, are `yes`.
 */
export function fits(actual: Type, expected: Type): 'yes' | 'maybe' | 'no' {
  if (actual.kind === 'any' || expected.kind === 'any') return 'yes'
  if (actual.kind === 'union') {
    const found = new Set(actual.of.map((member) => fits(member, expected)))
    if (found.size === 0) return 'yes'
    const [only] = found
    return found.size === 1 && only !== undefined ? only : 'maybe'
  }
  if (expected.kind === 'union') {
    const found = expected.of.map((member) => fits(actual, member))
    return found.includes('yes') ? 'yes' : found.includes('maybe') ? 'maybe' : 'no'
  }
  if (actual.kind === 'string' && expected.kind === 'string') return fitsTexts(actual, expected)
  if (actual.kind === 'list' && expected.kind === 'list') {
    return fits(actual.of, expected.of)
  }
  if (actual.kind === 'object' && expected.kind === 'object') return fitsObject(actual, expected)
  return actual.kind === expected.kind ? 'yes' : 'no'
}

function fitsTexts(
  actual: { readonly values?: readonly string[] },
  expected: { readonly values?: readonly string[] },
): 'yes' | 'maybe' | 'no' {
  const { values } = expected
  if (values === undefined || actual.values === undefined) return 'yes'
  const fitting = actual.values.filter((value) => values.includes(value)).length
  return fitting === 0 ? 'no' : fitting === actual.values.length ? 'yes' : 'maybe'
}

function fitsObject(actual: ObjectType, expected: ObjectType): 'yes' | 'maybe' | 'no' {
  let answer: 'yes' | 'maybe' = 'yes'
  for (const [name, field] of expected.fields) {
    const found = actual.fields.get(name)
    if (found === undefined) {
      if (!field.optional && actual.rest === undefined) return 'no'
      continue
    }
    const fit = fits(found.type, field.type)
    if (fit === 'no' && !found.optional) return 'no'
    if (fit !== 'yes' || (found.optional && !field.optional)) answer = 'maybe'
  }
  for (const [name, field] of actual.fields) {
    if (expected.rest !== undefined || expected.fields.has(name)) continue
    if (!field.optional) return 'no'
    answer = 'maybe'
  }
  return answer
}

/** The type of a value that is known. Texts count as any text: a constant may change, its type stays. */
export function typeOfValue(value: Json): Type {
  if (typeof value === 'string') return stringType
  if (typeof value === 'number') return numberType
  if (typeof value === 'boolean') return booleanType
  if (value === null) return nullType
  if (isJsonObject(value)) {
    return objectType(
      Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, typeOfValue(member)]),
      ),
    )
  }
  return listType(unionOf(value.map(typeOfValue)))
}

/** Bounds the work on a schema; what lies beyond is `any`. */
const maxSchemaParts = 5_000
const maxSchemaDepth = 40

interface Conversion {
  readonly whole: Json
  /** References being followed, so that a recursive schema ends in `any`. */
  readonly following: Set<string>
  parts: number
  depth: number
}

/**
 * The type that a JSON Schema 2020-12 describes. Keywords that narrow within a type (lengths, ranges, patterns) do not
 * matter here; what it cannot tell is `any`.
 */
export function typeOfSchema(schema: JsonSchema | boolean): Type {
  return convertSchema(schema, { whole: schema, following: new Set(), parts: 0, depth: 0 })
}

function convertSchema(schema: Json | undefined, state: Conversion): Type {
  state.parts += 1
  if (!isJsonObject(schema) || state.parts > maxSchemaParts || state.depth >= maxSchemaDepth) {
    return anyType
  }
  state.depth += 1
  const type = convertObject(schema, state)
  state.depth -= 1
  return type
}

function convertObject(schema: JsonObject, state: Conversion): Type {
  const inner = (member: Json | undefined): Type => convertSchema(member, state)
  const { $ref: reference } = schema
  if (typeof reference === 'string') {
    if (state.following.has(reference)) return anyType
    state.following.add(reference)
    const type = inner(findReference(state.whole, reference))
    state.following.delete(reference)
    return type
  }
  if (schema.const !== undefined) return literalType(schema.const)
  if (isArray(schema.enum)) return unionOf(schema.enum.map(literalType))
  if (isArray(schema.type)) {
    return unionOf(schema.type.map((type) => inner({ ...schema, type })))
  }
  switch (schema.type ?? (isJsonObject(schema.properties) ? 'object' : undefined)) {
    case 'null':
      return nullType
    case 'boolean':
      return booleanType
    case 'number':
    case 'integer':
      return numberType
    case 'string':
      return stringType
    case 'array':
      return listType(schema.prefixItems === undefined ? inner(schema.items) : anyType)
    case 'object':
      return objectOfSchema(schema, inner)
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (isArray(choices)) return unionOf(choices.map(inner))
  if (isArray(schema.allOf) && schema.allOf.length === 1) return inner(schema.allOf[0])
  return anyType
}

function objectOfSchema(schema: JsonObject, inner: (member: Json | undefined) => Type): Type {
  const required = isArray(schema.required) ? schema.required : []
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const fields = new Map(
    Object.entries(properties).map(([name, member]) => [
      name,
      { type: inner(member), optional: !required.includes(name) },
    ]),
  )
  const extra = schema.patternProperties === undefined ? schema.additionalProperties : true
  return extra === false
    ? { kind: 'object', fields }
    : { kind: 'object', fields, rest: inner(extra) }
}

/** The type of exactly this value, as `const` and `enum` name it. */
export function literalType(value: Json): Type {
  return typeof value === 'string' ? { kind: 'string', values: [value] } : typeOfValue(value)
}

function findReference(whole: Json, reference: string): Json | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  let found: Json | undefined = whole
  for (const part of reference.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
