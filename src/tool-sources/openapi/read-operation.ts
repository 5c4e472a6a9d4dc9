import { canonicalJson } from '../../domain/canonical.ts'
import { isJsonObject, type JsonObject, type JsonSchema } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest-name.ts'
import type { Problem } from '../../domain/problem.ts'
import { valueText } from '../../domain/value-text.ts'
import { expectation } from '../../domain/zod-problems.ts'
import type { PropertyTree } from '../property-tree.ts'
import { type ApiDocument, referenceOf } from './api-document.ts'
import type { Binding, BoundAnswer, BoundParameter, ReadOperation } from './binding.ts'
import { convertSchema } from './convert-schema.ts'
import { type FoundOperation, resolvePlace } from './find-operation.ts'

export interface ReadOptions {
  /** The server that the operation is asked at, without a slash at its end. */
  readonly server: string
  /** Properties that are wanted; none for all. */
  readonly input: PropertyTree
  readonly output: PropertyTree
  /** Headers and query parameters that the service sets itself: credentials, the idempotency key. In lower case. */
  readonly ownHeaders: ReadonlySet<string>
  readonly ownQuery: ReadonlySet<string>
  /** The property of the body that takes the idempotency key. */
  readonly ownField: string | undefined
  /** True for what is only asked for what became of a call: its answers are read as outputs of that. */
  readonly isLookup: boolean
}

/** Headers that say how something is sent, which is decided here. */
const reservedHeaders = new Set(['accept', 'content-type', 'authorization'])

/**
 * Reads one operation: its parameters and body become one input object, the answers of its success the output. All
 * problems are added to `problems`, each with its place in the document.
 */
export function readOperation(
  document: ApiDocument,
  operation: FoundOperation,
  options: ReadOptions,
  problems: Problem[],
): ReadOperation {
  const reader = new OperationReader(document, operation, options, problems)
  return reader.read()
}

interface InputProperty {
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

class OperationReader {
  readonly #document: ApiDocument
  readonly #operation: FoundOperation
  readonly #options: ReadOptions
  readonly #problems: Problem[]
  readonly #inputs = new Map<string, InputProperty>()

  constructor(
    document: ApiDocument,
    operation: FoundOperation,
    options: ReadOptions,
    problems: Problem[],
  ) {
    this.#document = document
    this.#operation = operation
    this.#options = options
    this.#problems = problems
  }

  read(): ReadOperation {
    const { method, path, place } = this.#operation
    const parameters = this.#readParameters()
    const body = this.#readBody()
    const { input, ownField } = this.#options
    for (const name of input.keys()) {
      if (this.#inputs.has(name) || name === ownField || this.#problems.length > 0) continue
      const hint = didYouMean(name, this.#inputs.keys())
      this.#refuse(place, `takes no '${name}', which 'input' of the operation names.${hint}`)
    }
    const { answers, output } = this.#readAnswers()
    const binding: Binding = {
      method: method as Binding['method'],
      url: this.#options.server + path,
      parameters,
      ...(body && { body }),
      answers,
    }
    const summary = this.#document.at([...place, 'summary'])
    const description = this.#document.at([...place, 'description'])
    const texts = [summary, description].filter((text) => typeof text === 'string')
    const required = [...this.#inputs].filter(([, { isRequired }]) => isRequired)
    return {
      binding,
      description: texts.join('\n\n').slice(0, 4_000),
      input: {
        type: 'object',
        properties: Object.fromEntries(
          [...this.#inputs].map(([name, { schema }]) => [name, schema]),
        ),
        ...(required.length > 0 && { required: required.map(([name]) => name) }),
        additionalProperties: false,
      },
      output,
    }
  }

  #refuse(place: readonly string[], message: string): void {
    this.#problems.push({ path: referenceOf(place), message })
  }

  #resolve(place: readonly string[]): { place: readonly string[]; value: unknown } | undefined {
    const found = resolvePlace(this.#document, place)
    if (!('problem' in found)) return found
    this.#refuse(place, found.problem)
    return undefined
  }

  #schema(place: readonly string[], side: 'input' | 'output', keep: PropertyTree): JsonSchema {
    const part = { node: this.#document.at(place), place, open: [] }
    return convertSchema(this.#document, part, side, keep, this.#problems)
  }

  /** The parameters of the path and of the operation; one of the operation goes before one of the path. */
  #readParameters(): readonly BoundParameter[] {
    const { place } = this.#operation
    const found = new Map<string, { place: readonly string[]; value: JsonObject }>()
    for (const list of [
      [...place.slice(0, -1), 'parameters'],
      [...place, 'parameters'],
    ]) {
      const declared = this.#document.at(list)
      for (const index of Array.isArray(declared) ? declared.keys() : []) {
        const at = [...list, String(index)]
        const resolved = this.#resolve(at)
        if (resolved === undefined) continue
        const { value } = resolved
        if (!isJsonObject(value)) {
          this.#refuse(at, expectation(value, 'a parameter, which is an object'))
          continue
        }
        found.set(`${valueText(value.in)} ${valueText(value.name)}`, { ...resolved, value })
      }
    }
    return [...found.values()].flatMap(({ place, value }) => this.#readParameter(place, value))
  }

  #readParameter(place: readonly string[], value: JsonObject): readonly BoundParameter[] {
    const { name, in: where, required, style, explode } = value
    const { ownHeaders, ownQuery, input } = this.#options
    if (typeof name !== 'string' || name === '') {
      this.#refuse([...place, 'name'], expectation(name, 'the name of the parameter'))
      return []
    }
    const isHeader = where === 'header'
    const lower = name.toLowerCase()
    if (isHeader && (reservedHeaders.has(lower) || ownHeaders.has(lower))) return []
    if (where === 'query' && ownQuery.has(name)) return []
    const isRequired = where === 'path' || required === true
    if (input.size > 0 && !input.has(name)) {
      if (isRequired) this.#refuse(place, `'${name}' is required; name it in 'input', too`)
      return []
    }
    if (where === 'cookie' && !isRequired) return []
    if (where !== 'path' && where !== 'query' && !isHeader) {
      this.#refuse([...place, 'in'], expectation(where, 'path, query or header'))
      return []
    }
    if (value.schema === undefined) {
      this.#refuse(place, `'${name}' has no schema; parameters with 'content' are not sent`)
      return []
    }
    const standard = where === 'query' ? 'form' : 'simple'
    if (style !== undefined && style !== standard) {
      this.#refuse([...place, 'style'], expectation(style, `${standard}, or nothing`))
    }
    const schema = this.#schema([...place, 'schema'], 'input', new Map())
    if (!isPlain(schema)) {
      this.#refuse([...place, 'schema'], `'${name}' is neither a plain value nor a list of them`)
    }
    const described = typeof value.description === 'string' && schema.description === undefined
    const own = described ? { ...schema, description: value.description ?? '' } : schema
    this.#addInput(place, name, own, isRequired)
    return [{ name, in: where, explode: where === 'query' && explode !== false }]
  }

  #addInput(place: readonly string[], name: string, schema: JsonSchema, isRequired: boolean): void {
    if (this.#inputs.has(name)) {
      this.#refuse(place, `there are two parameters called '${name}', and a tool has one input`)
    }
    this.#inputs.set(name, { schema, isRequired })
  }

  #readBody(): Binding['body'] {
    const { place } = this.#operation
    const at = [...place, 'requestBody']
    const { ownField } = this.#options
    if (this.#document.at(at) === undefined) {
      if (ownField !== undefined) {
        this.#refuse(place, `has no body whose field '${ownField}' could take the idempotency key`)
      }
      return undefined
    }
    const resolved = this.#resolve(at)
    if (resolved === undefined) return undefined
    const types = this.#document.keys([...resolved.place, 'content'])
    const mediaType = types.find(isJsonType)
    if (mediaType === undefined) {
      const content = [...resolved.place, 'content']
      this.#refuse(content, expectation(types.join(', ') || undefined, 'application/json'))
      return undefined
    }
    const { input } = this.#options
    const where = [...resolved.place, 'content', mediaType, 'schema']
    const parameters = new Set(this.#inputs.keys())
    const wanted = new Map([...input].filter(([name]) => !parameters.has(name)))
    const isUnwanted = input.size > 0 && wanted.size === 0
    if (isUnwanted && Object(resolved.value).required !== true) return undefined
    const keep =
      ownField === undefined || wanted.size === 0 ? wanted : wanted.set(ownField, new Map())
    const schema = this.#schema(where, 'input', keep)
    const { properties, required = [], additionalProperties } = schema
    const isSpread =
      schema.type === 'object' &&
      isJsonObject(properties) &&
      additionalProperties === false &&
      !Object.keys(properties).some((name) => parameters.has(name))
    const names = Array.isArray(required) ? required : []
    const isNeeded = Object(resolved.value).required === true || names.length > 0
    if (!isSpread || !isJsonObject(properties)) {
      if (ownField !== undefined) {
        this.#refuse(where, `is no object of its own properties, so that none can be '${ownField}'`)
      }
      this.#addInput(where, 'body', schema, isNeeded)
      return { mediaType, fields: 'whole' }
    }
    if (ownField !== undefined && !Object.hasOwn(properties, ownField)) {
      this.#refuse(where, `has no property '${ownField}' that could take the idempotency key`)
    }
    const fields = Object.keys(properties)
    for (const [name, member] of Object.entries(properties)) {
      if (name === ownField) continue
      this.#addInput(where, name, isJsonObject(member) ? member : {}, names.includes(name))
    }
    return { mediaType, fields }
  }

  #readAnswers(): { readonly answers: readonly BoundAnswer[]; readonly output: JsonSchema } {
    const { place } = this.#operation
    const at = [...place, 'responses']
    const statuses = this.#document.keys(at).filter((status) => /^2(\d\d|XX)$/i.test(status))
    if (statuses.length === 0) {
      this.#refuse(at, 'says nothing of success: a status such as 200, or 2XX')
    }
    const answers: BoundAnswer[] = []
    for (const status of statuses) {
      const resolved = this.#resolve([...at, status])
      if (resolved === undefined) continue
      const content = [...resolved.place, 'content']
      answers.push({ status: status.toUpperCase(), ...this.#readContent(content) })
    }
    // An answer without content is an object of nothing, which comes last: whatever is cut to it fits.
    const sorted = answers.toSorted(
      (a, b) => Number(a.content === 'none') - Number(b.content === 'none'),
    )
    const schemas = new Map(sorted.map(({ schema }) => [canonicalJson(schema), schema]))
    const [first = {}, ...others] = schemas.values()
    return { answers, output: others.length === 0 ? first : { anyOf: [first, ...others] } }
  }

  #readContent(place: readonly string[]): Omit<BoundAnswer, 'status'> {
    const types = this.#document.keys(place)
    const json = types.find(isJsonType)
    if (json !== undefined) {
      const where = [...place, json, 'schema']
      if (this.#document.at(where) === undefined) {
        this.#refuse([...place, json], 'has no schema, so that nothing of the answer is known')
        return { content: 'json', schema: {} }
      }
      const { output, isLookup } = this.#options
      return { content: 'json', schema: isLookup ? {} : this.#schema(where, 'output', output) }
    }
    if (types.some((type) => /^text\/plain\b/i.test(type))) {
      return { content: 'text', schema: { type: 'string' } }
    }
    if (types.length > 0 && !types.includes('*/*')) {
      this.#refuse(place, expectation(types.join(', '), 'application/json or text/plain'))
    }
    return {
      content: 'none',
      schema: { type: 'object', properties: {}, additionalProperties: false },
    }
  }
}

function isJsonType(type: string): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)
}

/** Whether a value of the schema can be written as the text of a parameter. */
function isPlain({ type, items, anyOf, oneOf, allOf }: JsonSchema): boolean {
  if (anyOf !== undefined || oneOf !== undefined || allOf !== undefined) return false
  const types = [type].flat()
  if (types.includes('array')) {
    return types.length === 1 && isJsonObject(items) && items.type !== 'array' && isPlain(items)
  }
  return types.every(
    (one) => typeof one === 'string' && ['string', 'number', 'integer', 'boolean'].includes(one),
  )
}
