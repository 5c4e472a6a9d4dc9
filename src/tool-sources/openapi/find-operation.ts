import { didYouMean } from '../../domain/nearest-name.ts'
import { type ApiDocument, placeOf, referenceOf } from './api-document.ts'

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head'] as const

/** One operation: its method in capitals, its path as the document has it, and where it stands. */
export interface FoundOperation {
  readonly method: string
  readonly path: string
  readonly place: readonly string[]
}

/** Finds operations by their `operationId`, or by method and path: `GET /orders/{id}`. */
export interface OperationIndex {
  /** The operation, or what is wrong with its name. */
  readonly find: (name: string) => FoundOperation | string
}

export function indexOperations(document: ApiDocument): OperationIndex {
  let byId: ReadonlyMap<string, FoundOperation | string> | undefined
  return {
    find(name) {
      const [, word = '', path = ''] = /^([A-Za-z]+) (\/\S*)$/.exec(name) ?? []
      const method = methods.find((known) => known === word.toLowerCase())
      if (method !== undefined) {
        const place = placeInPath(document, path)
        if (document.at([...place, method]) !== undefined) {
          return { method: method.toUpperCase(), path, place: [...place, method] }
        }
        const near = didYouMean(path, document.keys(['paths']))
        return `the document has no '${method.toUpperCase()} ${path}'.${near}`
      }
      byId ??= readIds(document)
      const known = byId.get(name)
      if (known !== undefined) return known
      return `the document has no operation '${name}'.${didYouMean(name, byId.keys())} It may also be named as 'GET /path'.`
    },
  }
}

function readIds(document: ApiDocument): ReadonlyMap<string, FoundOperation | string> {
  const byId = new Map<string, FoundOperation | string>()
  for (const path of document.keys(['paths'])) {
    const ofPath = placeInPath(document, path)
    const present = new Set(document.keys(ofPath))
    for (const method of methods) {
      if (!present.has(method)) continue
      const place = [...ofPath, method]
      const id = document.at([...place, 'operationId'])
      if (typeof id !== 'string') continue
      const isTwice = byId.has(id)
      byId.set(
        id,
        isTwice
          ? `the document has two operations '${id}'; name the one that is meant as '${method.toUpperCase()} ${path}'`
          : { method: method.toUpperCase(), path, place },
      )
    }
  }
  return byId
}

/** Where the operations of a path stand: a path may be a reference itself. */
function placeInPath(document: ApiDocument, path: string): readonly string[] {
  const place = ['paths', path]
  if (!document.keys(place).includes('$ref')) return place
  const reference = document.at([...place, '$ref'])
  return (typeof reference === 'string' ? placeOf(reference) : undefined) ?? place
}

/** What stands at a place of the document, or where a reference there leads to. */
export function resolvePlace(
  document: ApiDocument,
  place: readonly string[],
): { readonly place: readonly string[]; readonly value: unknown } | { readonly problem: string } {
  let at = place
  for (let hops = 0; hops < 20; hops += 1) {
    const value = document.at(at)
    const reference: unknown = Object(value).$ref
    if (typeof reference !== 'string') return { place: at, value }
    const next = placeOf(reference)
    if (next === undefined || document.at(next) === undefined) {
      const hint = next === undefined ? 'only #/ of the same document is followed' : 'is not there'
      return { problem: `the reference '${reference}': ${hint}` }
    }
    at = next
  }
  return { problem: `the references from ${referenceOf(place)} lead in a circle` }
}
