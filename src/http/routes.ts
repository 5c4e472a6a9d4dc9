import type { Operation } from '../operations/define.ts'
import { operations } from '../operations/registry.ts'
import { type Method, places } from './places.ts'

/** Where an operation is reached. Names in braces are fields of its input; the others come from query or body. */
export interface Route {
  readonly method: Method
  /** Below `/v1`: `/procedures/{procedureKey}`. */
  readonly path: string
  /** Names the route in the API document; that of the operation, unless it has two. */
  readonly id: string
  readonly operation: Operation
  readonly pathFields: readonly string[]
}

/** All routes, in the order of the API document. */
export const routes: readonly Route[] = Object.entries(places).flatMap(([name, place]) =>
  [place].flat().map((text, index) => toRoute(name, text, index)),
)

function toRoute(name: string, text: string, index: number): Route {
  const [method = '', path = ''] = text.split(' ')
  const operation: Operation | undefined = new Map(Object.entries(operations)).get(name)
  if (operation === undefined || !isMethod(method)) throw new TypeError(`no route: ${name} ${text}`)
  const pathFields = [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field ?? '')
  return {
    method,
    path,
    operation,
    pathFields,
    id: index === 0 ? name : `${name}By${last(pathFields)}`,
  }
}

function last(fields: readonly string[]): string {
  const field = fields.at(-1) ?? ''
  return field.charAt(0).toUpperCase() + field.slice(1)
}

function isMethod(text: string): text is Method {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(text)
}

/** Routes of this door alone, which stand for no operation. */
export const eventsPath = '/v1/executions/{executionId}/events'

const patterns = [
  ...routes.map(({ method, path }) => ({ method, path: `/v1${path}` })),
  ...[eventsPath, '/healthz', '/readyz', '/openapi.json', '/docs'].map((path) => ({
    method: 'GET' as const,
    path,
  })),
].map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** The methods that a path takes; empty where there is nothing. */
export function methodsAt(path: string): readonly Method[] {
  return [
    ...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
  ]
}
