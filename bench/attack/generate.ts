import { hostileTexts, hostileValues } from './hostile.ts'

type Schema = Readonly<Record<string, unknown>>

/** An operation of an OpenAPI document, as far as requests are made from it. */
export interface Target {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** The statuses that the document tells of. */
  readonly statuses: readonly number[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** All that may be asked, but for streams, which have no end of their own. */
export function targetsOf(document: unknown): readonly Target[] {
  return Object.entries(Object(document).paths).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).flatMap(([method, operation]) => {
      const { parameters, requestBody, responses } = Object(operation)
      if (Object(responses[200]?.content)['text/event-stream'] !== undefined) return []
      const body = requestBody?.content['application/json'].schema
      const statuses = Object.keys(responses).map(Number)
      return [{ method: method.toUpperCase(), path, parameters, body, statuses }]
    }),
  )
}

/** What requests are made of: chance, the named schemas, and what the server has told of itself. */
export class Generator {
  readonly #random: () => number
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #known = new Map<string, string[]>()

  constructor(random: () => number, document: unknown) {
    this.#random = random
    this.#schemas = Object(document).components.schemas
  }

  /** Keeps ids and keys that an answer holds, so that later requests reach what is there. */
  learn(answer: unknown, depth = 0): void {
    if (typeof answer !== 'object' || answer === null || depth > 6) return
    for (const [name, value] of Object.entries(answer)) {
      if (
        typeof value === 'string' &&
        /^[A-Z][A-Z0-9_]+$|^(exec|esc|bkt|sch)_[0-9a-z]{21}$/.test(value)
      ) {
        const field = name === 'id' ? `${value.split('_')[0]}` : name
        const values = this.#known.get(field) ?? []
        if (values.length < 200 && !values.includes(value)) values.push(value)
        this.#known.set(field, values)
      } else this.learn(value, depth + 1)
    }
  }

  request(target: Target): FuzzRequest {
    const headers: Record<string, string> = {}
    const query = new URLSearchParams()
    let path = target.path
    for (const parameter of target.parameters) {
      const { name } = parameter
      if (!parameter.required && this.#chance(0.5)) continue
      const text = textOf(this.#value(parameter.schema, name))
      if (parameter.in === 'path')
        path = path.replace(`{${name}}`, encodeURIComponent(text.toWellFormed()) || '%20')
      else if (parameter.in === 'query') query.append(name, text)
      else headers[name] = text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 4_000)
    }
    if (this.#chance(0.03)) query.append(this.#pick(hostileTexts), this.#pick(hostileTexts))
    const search = query.size > 0 ? `?${query}` : ''
    return {
      method: this.#chance(0.02)
        ? this.#pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
        : target.method,
      path: `${path}${search}`,
      headers,
      body: target.body === undefined ? undefined : this.#body(target.body),
    }
  }

  #body(schema: Schema): string {
    if (this.#chance(0.02))
      return this.#pick(['', '{', '[]', 'null', '"x"', '{"a":1,}', '{"__proto__":{"a":1}}'])
    const value = this.#value(schema, '')
    if (this.#chance(0.03) && typeof value === 'object' && value !== null) {
      return JSON.stringify({ ...value, [this.#pick(hostileTexts)]: this.#pick(hostileValues) })
    }
    return JSON.stringify(value) ?? ''
  }

  #value(schema: Schema, name: string, depth = 0): unknown {
    if (this.#chance(0.06)) return this.#pick(hostileValues)
    const { $ref, anyOf, enum: options, type } = schema
    if (typeof $ref === 'string') {
      return this.#value(this.#schemas[$ref.split('/').at(-1) ?? ''] ?? {}, name, depth + 1)
    }
    if (Array.isArray(anyOf)) return this.#value(this.#pick(anyOf), name, depth + 1)
    if (Array.isArray(options))
      return this.#chance(0.9) ? this.#pick(options) : this.#pick(hostileTexts)
    if (type === 'integer' || type === 'number') return Math.floor(this.#random() * 12)
    if (type === 'boolean') return this.#chance(0.5)
    if (type === 'array') {
      const length = Math.floor(this.#random() * 3)
      return Array.from({ length }, () => this.#value(Object(schema.items), name, depth + 1))
    }
    if (type === 'object' && depth < 6) return this.#object(schema, depth)
    if (type === 'string' || this.#chance(0.3)) return this.#text(schema, name)
    return depth < 4 ? { a: this.#pick(hostileTexts), b: [this.#pick(hostileValues)] } : null
  }

  #object({ properties, required }: Schema, depth: number): unknown {
    const needed = [required].flat()
    return Object.fromEntries(
      Object.entries(Object(properties)).flatMap(([name, schema]) =>
        (needed.includes(name) && this.#chance(0.97)) || this.#chance(0.3)
          ? [[name, this.#value(Object(schema), name, depth + 1)]]
          : [],
      ),
    )
  }

  #text({ format }: Schema, name: string): string {
    const known = this.#known.get(name) ?? this.#known.get(prefixOf(name)) ?? []
    if (known.length > 0 && this.#chance(0.7)) return this.#pick(known)
    if (format === 'date-time') return new Date(Math.floor(this.#random() * 2e12)).toISOString()
    return this.#chance(0.5)
      ? this.#pick(hostileTexts)
      : `text ${Math.floor(this.#random() * 1_000)}`
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)]
    if (picked === undefined && from.length === 0) throw new TypeError('nothing to pick from')
    return picked as T
  }

  #chance(of: number): boolean {
    return this.#random() < of
  }
}

/** `executionId` → `exec`, as ids are known by. */
function prefixOf(name: string): string {
  const prefixes: Readonly<Record<string, string>> = {
    executionId: 'exec',
    escalationId: 'esc',
    backtestId: 'bkt',
    scheduleId: 'sch',
  }
  return prefixes[name] ?? name
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 2_000) : JSON.stringify(value).slice(0, 2_000)
}
