import { ServiceError } from '../domain/errors.ts'
import type { Problem } from '../domain/problem.ts'
import { headerOfField, takesQuery } from './places.ts'
import type { Route } from './routes.ts'
import { inputSchema, type ObjectSchema, type PropertySchema } from './schemas.ts'

/** The parts of a request that an operation's input is made of. */
export interface RequestParts {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** `undefined`: the request has none. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type ReadInput = (parts: RequestParts) => Readonly<Record<string, unknown>>

/**
 * Makes the reader of a route's requests: what the raw input of its operation is. It judges no value, but for what only this
 * door knows: where each field has to come from.
 *
 * @throws (the reader) ServiceError `REQUEST_INVALID` for a field from the wrong place, `PRECONDITION_MISSING` without the
 *   `If-Match` that an edit needs.
 */
export function inputReader({ method, operation, pathFields }: Route): ReadInput {
  const schema = inputSchema(operation)
  const inQuery = takesQuery(method)
  const headers = [...headerOfField].filter(([field]) => field in schema.properties)
  return ({ params, query, body, headers: given }) => {
    const problems: Problem[] = []
    const rest = inQuery ? readQuery(schema, query) : readBody(body)
    if (inQuery && body !== undefined && body !== null) {
      problems.push({ path: '', message: `${method} takes no body; give the fields in the query` })
    }
    if (!inQuery) {
      for (const name of Object.keys(query)) {
        problems.push({ path: name, message: 'stands in the query; give it in the body' })
      }
    }
    for (const field of pathFields) {
      if (Object.hasOwn(rest, field)) {
        problems.push({ path: field, message: 'is part of the path, and may not be given again' })
      }
    }
    const fromHeaders: Record<string, unknown> = {}
    for (const [field, name] of headers) {
      const text = given[name.toLowerCase()]
      if (text === undefined) {
        if (field === 'revision') throw new ServiceError('PRECONDITION_MISSING', { header: name })
        continue
      }
      if (Object.hasOwn(rest, field)) {
        problems.push({ path: field, message: `is the header ${name}, and may not be given again` })
      }
      const value = field === 'revision' ? revisionOf(String(text)) : String(text)
      if (value === undefined) {
        const message = `is '${text}', expected the ETag of the draft, such as "3"`
        problems.push({ path: name, message })
      }
      fromHeaders[field] = value
    }
    if (problems.length > 0) {
      throw new ServiceError('REQUEST_INVALID', { operation: operation.name, problems })
    }
    const path = Object.fromEntries(
      pathFields.map((field) => [field, fromText(schema.properties[field], params[field])]),
    )
    return { ...rest, ...fromHeaders, ...path }
  }
}

/** The revision that an ETag of a draft stands for. */
function revisionOf(etag: string): number | undefined {
  const [, digits] = /^"(\d{1,9})"$/.exec(etag.trim()) ?? []
  return digits === undefined ? undefined : Number(digits)
}

function readQuery(
  { properties }: ObjectSchema,
  query: RequestParts['query'],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      Object.hasOwn(properties, name) ? fromText(properties[name], value) : value,
    ]),
  )
}

/** A text as the type that is meant. One that has no such form stays, for the operation to refuse. */
function fromText(schema: PropertySchema | undefined, value: unknown): unknown {
  if (schema?.type === 'array') return [value].flat()
  if (typeof value !== 'string') return value
  if (schema?.type === 'integer' || schema?.type === 'number') {
    return /^-?\d{1,15}(\.\d{1,10})?$/.test(value) ? Number(value) : value
  }
  if (schema?.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true'
  return value
}

function readBody(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined || body === null) return {}
  if (typeof body === 'object' && !Array.isArray(body)) return { ...body }
  const found = Array.isArray(body) ? 'a list' : `a ${typeof body}`
  const problems = [{ path: '', message: `the body is ${found}, expected a JSON object` }]
  throw new ServiceError('HTTP_INVALID', { problems })
}
