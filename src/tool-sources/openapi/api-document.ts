import { isJsonObject } from '../../domain/json.ts'

/** A document of which only what is asked for is read. */
export interface ApiDocument {
  /** What stands at a place, or undefined. */
  readonly at: (place: readonly string[]) => unknown
  /** The names of the members of an object, or none. */
  readonly keys: (place: readonly string[]) => readonly string[]
}

/** A document that was read whole. */
export function documentOf(root: unknown): ApiDocument {
  const at = (place: readonly string[]) => memberAt(root, place)
  return { at, keys: (place) => keysOf(at(place)) }
}

export function memberAt(root: unknown, place: readonly string[]): unknown {
  let value = root
  for (const part of place) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = Reflect.get(value, part)
  }
  return value
}

export function keysOf(value: unknown): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : []
}

/** The place that a reference names: `#/components/schemas/Refund`; undefined when it leads out of the document. */
export function placeOf(reference: string): readonly string[] | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined
  try {
    const parts = decodeURIComponent(reference.slice(1)).split('/').slice(1)
    return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    // A percent sign that begins no escape.
    return undefined
  }
}

/** A place as a reference has it. */
export function referenceOf(place: readonly string[]): string {
  return ['#', ...place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}
