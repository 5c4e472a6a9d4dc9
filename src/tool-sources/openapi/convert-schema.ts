import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest-name.ts'
import type { Problem } from '../../domain/problem.ts'
import { valueText } from '../../domain/value-text.ts'
import { expectation } from '../../domain/zod-problems.ts'
import type { PropertyTree } from '../property-tree.ts'
import { type ApiDocument, placeOf, referenceOf } from './api-document.ts'
import {
  isAnnotationOnly,
  isEmpty,
  isKnownKeyword,
  isLinear,
  isList,
  isNullable,
  isNullSchema,
  isObjectNode,
  keptAnnotations,
  orNull,
  typeOf,
  valueKeywords,
  withNull,
} from './schema-keywords.ts'

/** What a schema is read for: what is sent has no `readOnly` property, and what is answered no `writeOnly` one. */
export type Side = 'input' | 'output'

/** A schema in the document: where it stands, and the references that led there. */
export interface Part {
  readonly node: unknown
  readonly place: readonly string[]
  readonly open: readonly string[]
}

type ResolvedPart = Part & { readonly node: JsonObject }

/** More than this is refused by the registry in any case. */
const maxParts = 2_000
const maxDepth = 40

const all: PropertyTree = new Map()

/**
 * Writes a schema of an OpenAPI document (3.0 or 3.1) as the JSON Schema of a tool: references are followed, parts of
 * `allOf` that are objects become one, `nullable` becomes a type, and objects are closed wherever an answer can be cut
 * to them (`prune`). `keep` names the properties that are wanted, at any depth; all others are left out unread.
 *
 * What is left out because it cannot be checked in time linear in a text, or in numbers that a double holds, is left to
 * the service: it only ever lets more pass.
 */
export function convertSchema(
  document: ApiDocument,
  part: Part,
  side: Side,
  keep: PropertyTree,
  problems: Problem[],
): JsonSchema {
  return new Converter(document, side, problems).convert(part, keep, true)
}

class Converter {
  readonly #document: ApiDocument
  readonly #side: Side
  readonly #problems: Problem[]
  #left = maxParts
  #depth = 0

  constructor(document: ApiDocument, side: Side, problems: Problem[]) {
    this.#document = document
    this.#side = side
    this.#problems = problems
  }

  convert(part: Part, keep: PropertyTree, isClosed: boolean): JsonSchema {
    if (this.#depth === maxDepth) {
      const isFirst = this.#left >= 0
      if (isFirst) this.#refuse(part.place, `is more than ${maxDepth} levels deep; ${this.#advice}`)
      // All that is left would say so, too.
      this.#left = -1
      return {}
    }
    this.#depth += 1
    const schema = this.#convert(part, keep, isClosed)
    this.#depth -= 1
    return schema
  }

  #convert(part: Part, keep: PropertyTree, isClosed: boolean): JsonSchema {
    this.#left -= 1
    if (this.#left === -1) {
      this.#refuse(part.place, `stands for more than ${maxParts} schemas; ${this.#advice}`)
    }
    if (this.#left < 0) return {}
    // Named properties come to an end by themselves, whatever led there.
    const parts = this.#flatten(keep.size > 0 ? { ...part, open: [] } : part)
    if (parts.every(({ node }) => isObjectNode(node))) return this.#object(parts, keep, isClosed)
    const real = parts.filter(({ node }) => !isAnnotationOnly(node))
    const [only] = real
    if (only !== undefined && real.length === 1) {
      const around = keptAnnotations(Object.assign({}, ...parts.map(({ node }) => node)))
      return this.#plain({ ...only, node: { ...only.node, ...around } }, keep, isClosed)
    }
    if (keep.size > 0) return this.#cannotChoose(part.place)
    return { allOf: parts.map((each) => this.#plain(each, all, false)) }
  }

  get #advice(): string {
    return `name the properties that are wanted, with '${this.#side}: [...]' of the operation`
  }

  #refuse(place: readonly string[], message: string): void {
    this.#problems.push({ path: referenceOf(place), message })
  }

  #cannotChoose(place: readonly string[]): JsonSchema {
    const message = `has no properties of its own, so that '${this.#side}' cannot choose among them`
    this.#refuse(place, message)
    return {}
  }

  /** Follows references until something else stands there. */
  #resolve(part: Part): ResolvedPart {
    const { node, place, open } = part
    const nothing: ResolvedPart = { place, open, node: {} }
    if (typeof node === 'boolean') return node ? nothing : { place, open, node: { not: {} } }
    if (!isJsonObject(node)) {
      this.#refuse(place, expectation(node, 'a schema'))
      return nothing
    }
    if (node.$ref === undefined) return { place, open, node }
    const { $ref: reference, ...beside } = node
    const target = typeof reference === 'string' ? placeOf(reference) : undefined
    const known = target && this.#document.at(target)
    if (typeof reference !== 'string' || target === undefined || known === undefined) {
      const hint =
        target === undefined ? 'only #/ of the same document is followed' : 'is not there'
      this.#refuse(place, `the reference ${valueText(reference)}: ${hint}`)
      return nothing
    }
    if (open.includes(reference)) {
      this.#refuse(place, `${reference} contains itself; ${this.#advice}`)
      return nothing
    }
    if (!isAnnotationOnly(beside)) {
      return { place, open, node: { allOf: [{ $ref: reference }, beside] } }
    }
    const inner = { node: known, place: target, open: [...open, reference] }
    const found = this.#resolve(inner)
    return { ...found, node: { ...found.node, ...keptAnnotations(beside) } }
  }

  /** The parts that `allOf` puts together, each without its own `allOf`. */
  #flatten(part: Part): readonly ResolvedPart[] {
    const resolved = this.#resolve(part)
    const { allOf, ...node } = resolved.node
    if (!isList(allOf)) return [resolved]
    const inner = allOf.flatMap((item, index) => {
      const place = [...resolved.place, 'allOf', String(index)]
      return this.#flatten({ ...resolved, node: item, place })
    })
    return isEmpty(node) ? inner : [{ ...resolved, node }, ...inner]
  }

  /** The parts of an object, made one. */
  #object(parts: readonly ResolvedPart[], keep: PropertyTree, isClosed: boolean): JsonSchema {
    const nodes = parts.map(({ node }) => node)
    const [first = { node: {}, place: [], open: [] }] = parts
    const described = nodes.find(({ description }) => typeof description === 'string')
    const description = described && { description: described.description ?? '' }
    if (nodes.every((node) => isAnnotationOnly(node))) return description ?? {}
    const { properties, required } = this.#properties(parts, keep, isClosed)
    const more = nodes.map(({ additionalProperties }) => additionalProperties)
    const isSaidOpen = more.some((found) => found === true || isJsonObject(found))
    // An object of no declared property is a map, unless it says otherwise.
    const isDeclared = nodes.some((node) => node.properties !== undefined) || properties.length > 0
    const isClosing =
      keep.size > 0 || (!isSaidOpen && (more.includes(false) || (isClosed && isDeclared)))
    const extra = more.find((found) => isJsonObject(found) && !isEmpty(found))
    const place = [...first.place, 'additionalProperties']
    return {
      type: nodes.some(isNullable) ? ['object', 'null'] : 'object',
      ...description,
      ...((properties.length > 0 || isClosing) && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
      ...(isClosing
        ? { additionalProperties: false }
        : extra !== undefined && {
            additionalProperties: this.convert({ ...first, node: extra, place }, all, false),
          }),
    }
  }

  #properties(
    parts: readonly ResolvedPart[],
    keep: PropertyTree,
    isClosed: boolean,
  ): {
    readonly properties: readonly (readonly [string, JsonSchema])[]
    readonly required: readonly string[]
  } {
    const members = new Map<string, readonly Part[]>()
    const names = new Set<string>()
    for (const { node, place, open } of parts) {
      const { properties, required } = node
      for (const [name, member] of Object.entries(isJsonObject(properties) ? properties : {})) {
        const own = { node: member, place: [...place, 'properties', name], open }
        members.set(name, [...(members.get(name) ?? []), own])
      }
      for (const name of isList(required) ? required : []) {
        if (typeof name === 'string') names.add(name)
      }
    }
    for (const name of keep.keys()) {
      if (members.has(name)) continue
      const hint = didYouMean(name, members.keys())
      const message = `has no property '${name}', which '${this.#side}' of the operation names.${hint}`
      this.#refuse(parts[0]?.place ?? [], message)
    }
    const properties = [...members].flatMap(([name, found]): [string, JsonSchema][] => {
      const below = keep.get(name)
      const [first] = found
      if (first === undefined || (keep.size > 0 && below === undefined)) return []
      if (found.some(({ node }) => isOtherSide(node, this.#side))) {
        names.delete(name)
        return []
      }
      const both = { ...first, node: { allOf: found.map(({ node }) => node) } }
      return [[name, this.convert(found.length === 1 ? first : both, below ?? all, isClosed)]]
    })
    // What is required and not described may be anything.
    const others = [...names].filter((name) => keep.size === 0 && !members.has(name))
    for (const name of others) properties.push([name, {}])
    const present = new Set(properties.map(([name]) => name))
    return { properties, required: [...names].filter((name) => present.has(name)) }
  }

  /** A schema that is no plain object. */
  #plain(part: ResolvedPart, keep: PropertyTree, isClosed: boolean): JsonSchema {
    const { node, place } = part
    for (const key of Object.keys(node)) {
      if (isKnownKeyword(key)) continue
      this.#refuse([...place, key], 'is not a keyword that is understood here')
    }
    const choice = isList(node.anyOf) ? 'anyOf' : 'oneOf'
    const branches = node[choice]
    if (isList(branches)) return this.#choice(part, choice, branches, keep, isClosed)
    const type = typeOf(node)
    if (keep.size > 0 && ![type].flat().includes('array')) return this.#cannotChoose(place)
    const schema = { ...this.#ofType(type, node), ...this.#inner(part, keep, isClosed) }
    const isUntyped = isNullable(node) && type === undefined && schema.enum === undefined
    return isUntyped ? orNull(schema) : schema
  }

  #ofType(type: Json | undefined, node: JsonObject): JsonSchema {
    return {
      ...(type !== undefined && { type: isNullable(node) ? withNull(type) : type }),
      ...valueKeywords(node),
    }
  }

  /** One of several schemas. One of a schema and null is that schema, or null. */
  #choice(
    part: ResolvedPart,
    choice: 'anyOf' | 'oneOf',
    branches: readonly Json[],
    keep: PropertyTree,
    isClosed: boolean,
  ): JsonSchema {
    const { node, place } = part
    const real = branches.filter((branch) => !isNullSchema(branch))
    const isNull = isNullable(node) || real.length < branches.length
    const [only] = real
    if (only !== undefined && real.length === 1 && isAnnotationOnly(node, choice)) {
      const at = [...place, choice, String(branches.indexOf(only))]
      const schema = this.convert({ ...part, node: only, place: at }, keep, isClosed)
      return isNull ? orNull(schema) : schema
    }
    if (keep.size > 0) return this.#cannotChoose(place)
    const schema = {
      ...this.#ofType(node.type, node),
      ...this.#inner(part, all, false),
      [choice]: this.#list(part, choice, real),
    }
    return isNull ? orNull(schema) : schema
  }

  #list(part: ResolvedPart, key: string, items: readonly Json[]): readonly JsonSchema[] {
    return items.map((item, index) => {
      const place = [...part.place, key, String(index)]
      return this.convert({ ...part, node: item, place }, all, false)
    })
  }

  /** What a schema says of the parts of a value. */
  #inner(part: ResolvedPart, keep: PropertyTree, isClosed: boolean): JsonSchema {
    const { node, place, open } = part
    const at = (key: string, below: PropertyTree = all, isInnerClosed = false): JsonSchema =>
      node[key] === undefined
        ? {}
        : {
            [key]: this.convert(
              { node: node[key], place: [...place, key], open },
              below,
              isInnerClosed,
            ),
          }
    const { properties, required, additionalProperties, prefixItems, patternProperties } = node
    const ofObject = {
      ...(properties !== undefined && { properties }),
      ...(required !== undefined && { required }),
      ...(additionalProperties !== undefined && { additionalProperties }),
    }
    const { type: _type, ...object } = isEmpty(ofObject)
      ? {}
      : this.#object([{ ...part, node: { type: 'object', ...ofObject } }], all, false)
    const patterns = isJsonObject(patternProperties) ? Object.entries(patternProperties) : []
    return {
      ...at('items', keep, isClosed),
      ...at('contains'),
      ...at('not'),
      ...at('if'),
      ...at('then'),
      ...at('else'),
      ...at('propertyNames'),
      ...(isList(prefixItems) && { prefixItems: this.#list(part, 'prefixItems', prefixItems) }),
      ...object,
      ...(patterns.length > 0 && {
        patternProperties: Object.fromEntries(
          patterns
            .filter(([pattern]) => isLinear(pattern))
            .map(([pattern, member]) => {
              const where = [...place, 'patternProperties', pattern]
              return [pattern, this.convert({ node: member, place: where, open }, all, false)]
            }),
        ),
      }),
    }
  }
}

function isOtherSide(node: unknown, side: Side): boolean {
  const { readOnly, writeOnly } = Object(node)
  return side === 'input' ? readOnly === true : writeOnly === true
}
