import { z } from 'zod'
import { canonicalValue } from './canonical.ts'
import { isJsonObject, type JsonSchema } from './json.ts'
import { type Problem, pathText } from './problem.ts'

type Path = readonly (string | number)[]

/** What became of a zod schema: the JSON Schema that says exactly the same, or why there is none. */
export type ToolSchema = { readonly schema: JsonSchema } | { readonly problems: readonly Problem[] }

/**
 * Writes a zod schema as canonical JSON Schema (2020-12). Objects are closed unless they say otherwise
 * (`z.looseObject`, `catchall`), so that nothing passes that the contract does not name.
 *
 * Whatever JSON Schema cannot say is a problem with its path (`refine`, `transform`, `default`, `z.date()` …), because
 * the contract alone decides what fits, and a rule that is not in it would be silently dropped. Of the text formats
 * only those with a name in JSON Schema pass; patterns are written with `regex()`.
 */
export function toolSchema(type: z.ZodType, basePath: Path): ToolSchema {
  const problems: Problem[] = []
  findInexpressible(type, basePath, problems, [])
  if (problems.length > 0) return { problems }
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, {
    target: 'draft-2020-12',
    // Nothing is transformed, so both directions say the same; this one closes objects.
    io: 'output',
    override: ({ zodSchema, jsonSchema }) => {
      // The pattern that zod writes for a named format changes from release to release, and with it the hash.
      if (zodSchema._zod.def.type === 'string' && jsonSchema.format !== undefined)
        delete jsonSchema.pattern
    },
  })
  const value = canonicalValue(schema)
  return { schema: isJsonObject(value) ? value : {} }
}

/** Kinds of zod schema that JSON Schema says in full, apart from their checks. */
const expressibleTypes = new Set([
  ...['any', 'array', 'boolean', 'enum', 'literal', 'never', 'null', 'nullable', 'number'],
  ...['object', 'optional', 'readonly', 'record', 'string', 'tuple', 'union', 'unknown'],
])

const expressibleChecks = new Set([
  ...['greater_than', 'less_than', 'multiple_of', 'number_format', 'string_format'],
  ...['length_equals', 'max_length', 'min_length'],
])

/** Text formats that JSON Schema names, and `regex`, which becomes a pattern. */
const expressibleFormats = new Set([
  ...['date', 'datetime', 'email', 'ipv4', 'ipv6', 'regex', 'url', 'uuid'],
])

function findInexpressible(
  type: z.core.$ZodType,
  path: Path,
  problems: Problem[],
  open: readonly z.core.$ZodType[],
): void {
  const refuse = (message: string) => problems.push({ path: pathText(path), message })
  const def = (type as z.core.$ZodTypes)._zod.def
  if (open.includes(type)) {
    refuse('refers to itself; write the levels out that are needed')
    return
  }
  if (!expressibleTypes.has(def.type)) {
    refuse(`z.${def.type}() cannot be said in JSON Schema; check it in run, and throw ToolRefused`)
    return
  }
  if ('coerce' in def && def.coerce === true) {
    refuse('coerces what it is given, which JSON Schema cannot say; ask for the type itself')
  }
  for (const check of def.checks ?? []) checkExpressible(check, refuse)
  if ('check' in def && 'format' in def) checkFormat(def.format, refuse)
  for (const [part, child] of children(def))
    findInexpressible(child, [...path, ...part], problems, [...open, type])
}

function checkExpressible(check: z.core.$ZodCheck<never>, refuse: (message: string) => void): void {
  const def = check._zod.def
  if (!expressibleChecks.has(def.check)) {
    const name = def.check === 'custom' ? 'refine()' : `the check ${def.check}`
    refuse(`${name} cannot be said in JSON Schema; check it in run, and throw ToolRefused`)
  }
  if ('format' in def) checkFormat(def.format, refuse)
}

function checkFormat(format: unknown, refuse: (message: string) => void): void {
  const numberFormats = ['safeint', 'int32', 'uint32', 'float32', 'float64']
  if (typeof format !== 'string' || numberFormats.includes(format)) return
  if (!expressibleFormats.has(format))
    refuse(`the format ${format} has no name in JSON Schema; write it with regex()`)
}

/** The schemas inside one, with their place in a value. */
function children(
  def: z.core.$ZodTypes['_zod']['def'],
): readonly (readonly [Path, z.core.$ZodType])[] {
  switch (def.type) {
    case 'object': {
      const properties = Object.entries(def.shape).map(
        ([name, child]): readonly [Path, z.core.$ZodType] => [[name], child],
      )
      return def.catchall === undefined ? properties : [...properties, [['*'], def.catchall]]
    }
    case 'array':
      return [[['*'], def.element]]
    case 'tuple': {
      const items = def.items.map((child, index): readonly [Path, z.core.$ZodType] => [
        [index],
        child,
      ])
      return def.rest === null ? items : [...items, [['*'], def.rest]]
    }
    case 'record':
      return [
        [['*'], def.keyType],
        [['*'], def.valueType],
      ]
    case 'union':
      return def.options.map((option) => [[], option])
    case 'nullable':
    case 'optional':
    case 'readonly':
      return [[[], def.innerType]]
    default:
      return []
  }
}
