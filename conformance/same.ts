import { isJsonObject, type Json } from '../src/domain/json.ts'

/** Stands in an expected value for an id that the tool makes up. */
const generated = '$generated'

/**
 * Where a value differs from what is expected, or undefined. Numbers agree within 1e-9, the order of keys says nothing,
 * the order of lists counts.
 */
export function differenceOf(
  actual: Json | undefined,
  expected: Json,
  path = '',
): string | undefined {
  if (expected === generated && typeof actual === 'string') return undefined
  if (typeof actual === 'number' && typeof expected === 'number') {
    return Math.abs(actual - expected) <= 1e-9 ? undefined : differ(path, actual, expected)
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) return differ(path, actual, expected)
    return first(expected, (item, index) => differenceOf(actual[index], item, `${path}/${index}`))
  }
  if (isJsonObject(actual) && isJsonObject(expected)) {
    const left = Object.keys(actual).filter((key) => !Object.hasOwn(expected, key))
    const ofKey = (key: string) => (key === generated ? left.shift() : key)
    const found = first(Object.entries(expected), ([key, member]) => {
      const name = ofKey(key)
      const value = name === undefined ? undefined : actual[name]
      return differenceOf(value, member, `${path}/${key}`)
    })
    if (found !== undefined) return found
    const [extra] = left
    return extra === undefined ? undefined : `${path}/${extra} is not expected`
  }
  return actual === expected ? undefined : differ(path, actual, expected)
}

export function isSame(actual: Json | undefined, expected: Json): boolean {
  return differenceOf(actual, expected) === undefined
}

function first<T>(
  items: readonly T[],
  find: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index)
    if (found !== undefined) return found
  }
  return undefined
}

function differ(path: string, actual: Json | undefined, expected: Json): string {
  const text = (value: Json | undefined) => (JSON.stringify(value) ?? 'nothing').slice(0, 120)
  return `${path === '' ? 'the value' : path} is ${text(actual)}, expected ${text(expected)}`
}
