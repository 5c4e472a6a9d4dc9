import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { canonicalJson, findValueProblems, hashOf } from './canonical.ts'
import { ServiceError } from './errors.ts'
import { remainder } from './expression/decimal.ts'
import { isJsonObject, type Json, type JsonSchema } from './json.ts'
import { linearPattern } from './linear-pattern.ts'
import { type Problem, pathText } from './problem.ts'
import { findSchemaProblems } from './schema-problems.ts'
import { pointerPath, validationProblems } from './validation-problems.ts'
import { expectation } from './zod-problems.ts'

/** Tells what is wrong with values, measured by one schema. */
export interface SchemaValidator {
  /**
   * All that is wrong with a value, at most 50 problems; empty when it fits. `basePath` is put before each path.
   * What is found under a property that is `sensitive` is never shown.
   */
  readonly problems: (value: Json, basePath?: readonly (string | number)[]) => readonly Problem[]
}

/** Formats that are checked. Each takes time linear in the text. */
const formats = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uuid',
] as const

// Instance paths that were validated under `sensitive: true`. Validation is synchronous, so that one list serves.
let sensitivePaths: string[] = []

/** What became of a schema: a validator, or all that is wrong with it. */
type Compiled = { readonly validator: SchemaValidator } | { readonly problems: readonly Problem[] }

// By the hash of the canonical form, the least recently used first.
const byHash = new Map<string, Compiled>()
const maxCompiled = 1_000
// The same object is asked for again and again; hashing it once is enough.
const byObject = new WeakMap<JsonSchema, Compiled>()

// The compiler never forgets what it has compiled, so it is made anew from time to time; the old one is released with
// the last validator that came from it.
let ajv = createAjv()
let compilationsLeft = maxCompiled

/**
 * Compiles a JSON Schema (2020-12). Compiled schemas are kept, so calling it again is cheap.
 *
 * @throws ServiceError `SCHEMA_INVALID` with all that `schemaProblems` finds.
 */
export function compileSchema(schema: JsonSchema): SchemaValidator {
  const known = byObject.get(schema)
  const compiled = known ?? compileOnce(schema)
  if ('problems' in compiled) {
    throw new ServiceError('SCHEMA_INVALID', { problems: compiled.problems })
  }
  if (known === undefined) byObject.set(schema, compiled)
  return compiled.validator
}

/**
 * All that is wrong with a schema itself; empty when it can be compiled. Never throws, fetches nothing, and takes
 * bounded time whatever it is given. `basePath` is put before each path.
 *
 * Beyond 2020-12 there are two annotations: `source: caller` and `sensitive: true`.
 */
export function schemaProblems(
  schema: unknown,
  basePath: readonly (string | number)[] = [],
): readonly Problem[] {
  const compiled = compileOnce(schema)
  if ('validator' in compiled) return []
  const base = pathText(basePath)
  return compiled.problems.map(({ path, message }) => ({ path: joinPaths(base, path), message }))
}

/** Compiles a schema, or takes what came of it before. */
function compileOnce(schema: unknown): Compiled {
  const valueProblems = findValueProblems(schema)
  if (valueProblems.length > 0) return { problems: valueProblems }
  if (!isJsonObject(schema)) {
    const message = expectation(schema, 'a JSON Schema, which is an object')
    return { problems: [{ path: '', message }] }
  }
  const problems = findSchemaProblems(schema)
  // A problem of the whole is about its size: only a schema of bounded size goes on to the compiler.
  if (problems.some(({ path }) => path === '')) return { problems }
  const paths = new Set(problems.map(({ path }) => path))
  problems.push(...metaProblems(schema).filter(({ path }) => !paths.has(path)))
  if (problems.length > 0) return { problems }
  const hash = hashOf(schema)
  const compiled = byHash.get(hash) ?? compile(schema)
  byHash.delete(hash)
  byHash.set(hash, compiled)
  for (const oldest of byHash.keys()) {
    if (byHash.size <= maxCompiled) break
    byHash.delete(oldest)
  }
  return compiled
}

function compile(schema: JsonSchema): Compiled {
  compilationsLeft -= 1
  if (compilationsLeft < 0) {
    ajv = createAjv()
    compilationsLeft = maxCompiled
  }
  try {
    return { validator: createValidator(ajv.compile(schema)) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // The compiler names the place as a JSON Pointer behind a hash sign, between quotes.
    const pointer = /"#(\/[^"]*)?"/.exec(reason)?.[1] ?? ''
    const path = pathText(pointerPath(pointer, schema))
    return { problems: [{ path, message: `is no usable JSON Schema: ${reason}` }] }
  }
}

function metaProblems(schema: JsonSchema): readonly Problem[] {
  const { $schema: _dialect, ...rest } = schema
  if (ajv.validateSchema(rest) === true) return []
  return validationProblems(ajv.errors ?? [], schema, [], [])
}

function joinPaths(base: string, path: string): string {
  return base === '' || path === '' || path.startsWith('[') ? base + path : `${base}.${path}`
}

function createValidator(validate: ValidateFunction): SchemaValidator {
  return {
    problems: (value, basePath = []) => {
      sensitivePaths = []
      if (validate(value)) return []
      return validationProblems(validate.errors ?? [], value, basePath, sensitivePaths)
    },
  }
}

function createAjv(): Ajv2020 {
  const instance = new Ajv2020({
    strict: true,
    strictTuples: false,
    // `anyOf: [{ required: [a] }, { required: [b] }]` is the plain way to ask for one of two; schema-problems.ts finds
    // the slips that this option is for.
    strictRequired: false,
    allowUnionTypes: true,
    // `constructor` is an ordinary name in data, and absent unless it is there.
    ownProperties: true,
    allErrors: true,
    verbose: true,
    code: {
      regExp: Object.assign((pattern: string) => linearPattern(pattern), { code: 'linearPattern' }),
    },
  })
  addFormatsModule.default(instance, [...formats])
  instance.addKeyword({ keyword: 'source', schemaType: 'string' })
  instance.addKeyword({
    keyword: 'sensitive',
    schemaType: 'boolean',
    errors: false,
    validate: (
      sensitive: boolean,
      _data: unknown,
      _schema: unknown,
      at?: { instancePath: string },
    ) => {
      if (sensitive && at !== undefined) sensitivePaths.push(at.instancePath)
      return true
    },
  })
  // By division of doubles, 34777.73 is no multiple of 0.01.
  instance.removeKeyword('multipleOf')
  instance.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (step: number, value: number) => remainder(value, step) === 0,
  })
  // The compiler's own `uniqueItems` compares each pair of items.
  instance.removeKeyword('uniqueItems')
  instance.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (unique: boolean, items: readonly unknown[]) =>
      !unique || new Set(items.map(canonicalJson)).size === items.length,
    error: { message: 'must not hold the same item twice' },
  })
  return instance
}
