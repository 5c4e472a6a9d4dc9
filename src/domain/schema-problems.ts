import { canonicalJson } from './canonical.ts'
import { isJsonObject, type JsonObject, type JsonSchema } from './json.ts'
import { linearPattern } from './linear-pattern.ts'
import { didYouMean } from './nearest-name.ts'
import { type Problem, pathText } from './problem.ts'
import { orList } from './value-text.ts'
import { expectation } from './zod-problems.ts'

/** How large a schema may be. */
const schemaLimits = {
  bytes: 64 * 1024,
  depth: 40,
  /** Schemas inside each other, counted once for every `$ref` that leads to them: what one validation may cost. */
  subschemas: 2_000,
} as const

const dialect = 'https://json-schema.org/draft/2020-12/schema'

/** Keywords whose value is a schema, a list of schemas, or named schemas. */
const oneSchema = [
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const schemaList = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const schemaMap = ['$defs', 'dependentSchemas', 'patternProperties', 'properties']

const keywords = new Set([
  ...oneSchema,
  ...schemaList,
  ...schemaMap,
  ...['$schema', '$ref', '$comment', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType'],
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['minProperties', 'maxProperties', 'required', 'dependentRequired'],
  ...['source', 'sensitive'],
])

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

const localReference = /^#\/\$defs\/([A-Za-z0-9_.-]+)$/

type Path = readonly (string | number)[]

/**
 * Finds what makes a schema unsafe or surely mistaken, beyond what the meta-schema says: unknown keywords, references
 * out of the document or in a circle, patterns that need more than linear time, and sizes beyond `schemaLimits`.
 *
 * References are `#/$defs/NAME` only: nothing is ever fetched. Circles are refused because one small recursive schema
 * can make a validation take exponential time.
 */
export function findSchemaProblems(schema: JsonSchema): Problem[] {
  const at = (message: string, path: Path = []): Problem => ({ path: pathText(path), message })
  const bytes = Buffer.byteLength(canonicalJson(schema))
  if (bytes > schemaLimits.bytes) {
    return [at(`the schema has ${bytes} bytes of JSON, the limit is ${schemaLimits.bytes}`)]
  }
  const problems: Problem[] = []
  const definitions = isJsonObject(schema.$defs) ? schema.$defs : {}
  const costs = new Map<string, number>()

  /** Checks one schema and everything in it; answers how many schemas it stands for. */
  function walk(node: unknown, path: Path, open: readonly string[]): number {
    if (!isJsonObject(node)) return 1
    if (path.length > schemaLimits.depth) {
      problems.push(
        at(`is nested more than ${schemaLimits.depth} levels deep; make it flatter`, path),
      )
      return 1
    }
    checkKeywords(node, path)
    let cost = 1
    for (const keyword of oneSchema) cost += walk(node[keyword], [...path, keyword], open)
    for (const keyword of schemaList) {
      const list = node[keyword]
      if (!Array.isArray(list)) continue
      for (const [index, item] of list.entries())
        cost += walk(item, [...path, keyword, index], open)
    }
    for (const keyword of schemaMap) {
      const map = node[keyword]
      // Definitions are counted where they are used.
      if (!isJsonObject(map) || keyword === '$defs') continue
      for (const [name, item] of Object.entries(map)) {
        if (keyword === 'patternProperties') checkPattern(name, [...path, keyword, name])
        cost += walk(item, [...path, keyword, name], open)
      }
    }
    return cost + walkReference(node.$ref, [...path, '$ref'], open)
  }

  function walkReference(reference: unknown, path: Path, open: readonly string[]): number {
    if (typeof reference !== 'string') return 0
    const name = localReference.exec(reference)?.[1]
    if (name === undefined) {
      problems.push(at(expectation(reference, "a reference of the form '#/$defs/NAME'"), path))
      return 0
    }
    if (!Object.hasOwn(definitions, name)) {
      const hint = didYouMean(name, Object.keys(definitions))
      problems.push(at(`there is no '${name}' in the schema's $defs.${hint}`, path))
      return 0
    }
    if (open.includes(name)) {
      problems.push(at(`'${name}' refers to itself; write the levels out that are needed`, path))
      return 0
    }
    return definitionCost(name, open)
  }

  function definitionCost(name: string, open: readonly string[]): number {
    const known = costs.get(name)
    if (known !== undefined) return known
    const cost = walk(definitions[name], ['$defs', name], [...open, name])
    costs.set(name, cost)
    return cost
  }

  function checkKeywords(node: JsonObject, path: Path): void {
    for (const [keyword, value] of Object.entries(node)) {
      const place = [...path, keyword]
      if (!keywords.has(keyword)) {
        problems.push(
          at(`is not a keyword that is understood here.${didYouMean(keyword, keywords)}`, place),
        )
      } else if (keyword === 'pattern' && typeof value === 'string') {
        checkPattern(value, place)
      } else if (keyword === '$schema' && value !== dialect) {
        problems.push(at(expectation(value, `${dialect}, or nothing`), place))
      } else if (keyword === '$defs' && path.length > 0) {
        problems.push(at('stands inside the schema; move it to the top', place))
      } else if (keyword === 'source' && value !== 'caller') {
        problems.push(at(expectation(value, 'caller, or nothing'), place))
      } else if (keyword === 'sensitive' && typeof value !== 'boolean') {
        problems.push(at(expectation(value, 'true or false'), place))
      }
    }
    checkTypes(node.type, [...path, 'type'])
    checkRequired(node, path)
  }

  function checkTypes(found: unknown, path: Path): void {
    for (const type of [found].flat()) {
      if (typeof type !== 'string' || types.includes(type)) continue
      const hint = didYouMean(type, types)
      problems.push(at(`${expectation(type, `one of ${orList(types)}`)}.${hint}`, path))
    }
  }

  /** A required name that is none of the properties next to it is a slip: it could be given, and means nothing. */
  function checkRequired(node: JsonObject, path: Path): void {
    const { properties, required } = node
    if (!isJsonObject(properties) || !Array.isArray(required)) return
    if (node.patternProperties !== undefined) return
    for (const [index, name] of required.entries()) {
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue
      const hint = didYouMean(name, Object.keys(properties)) || ' Add it there.'
      problems.push(
        at(`'${name}' is not one of the properties.${hint}`, [...path, 'required', index]),
      )
    }
  }

  function checkPattern(pattern: string, path: Path): void {
    try {
      linearPattern(pattern)
    } catch (error) {
      problems.push(at(`the pattern ${error instanceof Error ? error.message : ''}`, path))
    }
  }

  let cost = walk(schema, [], [])
  for (const name of Object.keys(definitions))
    cost += costs.has(name) ? 0 : definitionCost(name, [])
  if (cost > schemaLimits.subschemas) {
    // References can multiply to numbers that say nothing.
    const found = cost < 1e9 ? cost : 'billions of'
    problems.push(
      at(
        `stands for ${found} schemas with all references followed, the limit is ${schemaLimits.subschemas}`,
      ),
    )
  }
  return problems
}
