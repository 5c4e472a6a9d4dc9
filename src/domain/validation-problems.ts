import type { ErrorObject } from 'ajv'
import { isJsonObject, type Json } from './json.ts'
import { didYouMean } from './nearest-name.ts'
import { type Problem, pathText } from './problem.ts'
import { orList, valueText } from './value-text.ts'

const maxProblems = 50

type Path = readonly (string | number)[]

/**
 * Turns what the validator found into problems for people: what was found, what was expected. Errors of the branches
 * of an `anyOf` or `oneOf` are told once, as the forms that were possible.
 *
 * `sensitivePaths` are the places (JSON Pointers) whose values must not be shown.
 */
export function validationProblems(
  errors: readonly ErrorObject[],
  root: Json,
  basePath: Path,
  sensitivePaths: readonly string[],
): Problem[] {
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const error of withoutBranches(errors)) {
    const hidden = sensitivePaths.some((path) => isUnder(error.instancePath, path))
    const { path, message } = describe(error, hidden)
    const place = pathText([...basePath, ...pointerPath(error.instancePath, root), ...path])
    if (seen.has(`${place}\n${message}`)) continue
    seen.add(`${place}\n${message}`)
    if (problems.length === maxProblems) {
      problems.push({ path: pathText(basePath), message: 'and there are more problems than these' })
      break
    }
    problems.push({ path: place, message })
  }
  return problems
}

/** Leaves out the errors that an `anyOf` or `oneOf` sums up, and `if`, whose branch tells what is wrong. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  // A long list can fail in every item: what is told is bounded, so what is looked at may be.
  const first = errors.slice(0, 20 * maxProblems)
  const unions = [...first.entries()].filter(
    ([, { keyword }]) => keyword === 'anyOf' || keyword === 'oneOf',
  )
  return first.filter((error, index) => {
    if (error.keyword === 'if') return false
    return !unions.some(([unionIndex, union]) => {
      if (index >= unionIndex || !isUnder(error.instancePath, union.instancePath)) return false
      // A branch that is a reference reports under the definition's own path.
      return (
        error.schemaPath.startsWith(`${union.schemaPath}/`) ||
        error.schemaPath.startsWith('#/$defs/')
      )
    })
  })
}

function isUnder(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`)
}

interface Description {
  /** Below the place that the error names. */
  readonly path: Path
  readonly message: string
}

function describe(error: ErrorObject, hidden: boolean): Description {
  const { keyword, params, parentSchema } = error
  const properties: unknown = parentSchema?.properties
  switch (keyword) {
    case 'required':
    case 'dependentRequired': {
      const name = String(params.missingProperty)
      const schema = isJsonObject(properties) ? properties[name] : undefined
      return { path: [name], message: `is missing: expected ${schemaWords(schema)}` }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty)
      const known = isJsonObject(properties) ? Object.keys(properties) : []
      const hint =
        didYouMean(name, known) || (known.length > 0 ? ` Known: ${known.join(', ')}.` : '')
      return { path: [name], message: `is not known here.${hint}` }
    }
    default: {
      const found = hidden ? 'found a value that is not shown' : `found ${valueText(error.data)}`
      return { path: [], message: `${found}, expected ${expectedBy(error)}` }
    }
  }
}

function expectedBy(error: ErrorObject): string {
  const { keyword, params, schema, parentSchema } = error
  const limit = String(params.limit)
  switch (keyword) {
    case 'type':
      return schemaWords({ type: params.type })
    case 'enum':
    case 'const':
    case 'anyOf':
    case 'oneOf':
      if (keyword === 'oneOf' && Array.isArray(params.passingSchemas))
        return 'a value that fits exactly one of the forms, not two'
      return schemaWords({ [keyword]: schema })
    case 'format':
      return `a text in the format ${String(schema)}`
    case 'pattern':
      return `a text that matches ${String(schema)}`
    case 'minLength':
      return `at least ${plural(limit, 'character')}`
    case 'maxLength':
      return `at most ${plural(limit, 'character')}`
    case 'minItems':
      return `at least ${plural(limit, 'item')}`
    case 'maxItems':
      return `at most ${plural(limit, 'item')}`
    case 'minimum':
      return `at least ${limit}`
    case 'maximum':
      return `at most ${limit}`
    case 'exclusiveMinimum':
      return `more than ${limit}`
    case 'exclusiveMaximum':
      return `less than ${limit}`
    case 'multipleOf':
      return `a multiple of ${String(schema)}`
    case 'false schema':
      return 'nothing here'
    default:
      return `a value that ${error.message ?? `fits ${keyword} of ${valueText(parentSchema)}`}`
  }
}

function plural(count: string, noun: string): string {
  return `${count} ${noun}${count === '1' ? '' : 's'}`
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object',
}

/** What a schema asks for, in a few words, with its description where it has one. */
function schemaWords(schema: unknown): string {
  if (!isJsonObject(schema)) return 'a value'
  const described = typeof schema.description === 'string' ? ` (${schema.description})` : ''
  return bareWords(schema) + described
}

function bareWords(schema: { readonly [keyword: string]: unknown }): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map(valueText).join(', ')}`
  if ('const' in schema) return valueText(schema.const)
  for (const forms of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(forms)) return orList([...new Set(forms.map(schemaWords))])
  }
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  return types.length === 0 ? 'a value' : orList(types.map((type) => typeWords[type] ?? type))
}

/** Reads a JSON Pointer along the value it points into: places in lists become numbers. */
export function pointerPath(pointer: string, root: Json): Path {
  let value: unknown = root
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const isList = Array.isArray(value)
      value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
      return isList ? Number(name) : name
    })
}
