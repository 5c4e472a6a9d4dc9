import type { z } from 'zod'
import { didYouMean, nearestName } from './nearest-name.ts'
import { type Problem, pathText } from './problem.ts'
import { orList, valueText } from './value-text.ts'

type Issue = z.core.$ZodRawIssue

/**
 * Says what is wrong with a value that a caller gave, where the schema has no words of its own: what was found, and what was
 * expected. Given to `safeParse` as `error`. What stands in a value is not repeated, but for one of a few words: it may be secret.
 */
export function requestWording(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return expected(issue.input, typeWords[issue.expected] ?? `a ${issue.expected}`)
    case 'invalid_value': {
      const words = issue.values.map(String)
      const near = typeof issue.input === 'string' ? nearestName(issue.input, words) : undefined
      const hint = near === undefined ? '' : `. Did you mean '${near}'?`
      const what = words.length === 1 ? words.join('') : `one of ${orList(words)}`
      if (issue.input === undefined) return `is missing: expected ${what}`
      return `found ${valueText(issue.input)}, expected ${what}${hint}`
    }
    case 'too_small':
      return bound(issue.input, issue.origin, 'at least', Number(issue.minimum))
    case 'too_big':
      return bound(issue.input, issue.origin, 'at most', Number(issue.maximum))
    case 'invalid_format':
      return issue.format === 'datetime'
        ? 'is no time in UTC: expected one such as 2026-05-03T10:00:00Z'
        : 'does not have the form that is expected'
    case 'invalid_union':
      return 'has none of the forms that are taken'
    case 'unrecognized_keys':
      // The names that are known, for `requestProblems` to compare each of the others with.
      return Object.keys(Object(Object(issue.inst)?._zod?.def?.shape)).join(', ')
    default:
      return undefined
  }
}

/** The problems of a value that was parsed by `schema` with `requestWording`, each under the path of what it is about. */
export function requestProblems(schema: z.ZodType, { issues }: z.ZodError): readonly Problem[] {
  return issues.flatMap((issue): Problem | Problem[] => {
    if (issue.code === 'unrecognized_keys') {
      const known = issue.message.split(', ')
      return issue.keys.map((key) => ({
        path: pathText([...issue.path, key]),
        message: `is not a known field.${didYouMean(key, known) || ' Remove it.'}`,
      }))
    }
    const orNull = issue.code === 'invalid_type' && takesNull(schema, issue.path) ? ' or null' : ''
    return { path: pathText(issue.path), message: `${issue.message}${orNull}` }
  })
}

function takesNull(schema: z.ZodType, [name, ...rest]: readonly PropertyKey[]): boolean {
  if (name === undefined || rest.length > 0) return false
  return Object(Object(schema).shape)[name]?.safeParse(null).success === true
}

function expected(found: unknown, what: string): string {
  return found === undefined
    ? `is missing: expected ${what}`
    : `is ${kindText(found)}, expected ${what}`
}

function kindText(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : 'no number'
  return typeWords[typeof value] ?? `a ${typeof value}`
}

function bound(found: unknown, origin: string, word: string, limit: number): string {
  if (typeof found === 'string') {
    return `has ${found.length} characters, expected ${word} ${limit}`
  }
  if (Array.isArray(found)) return `has ${found.length} entries, expected ${word} ${limit}`
  return typeof found === 'number'
    ? `is ${found}, expected ${word} ${limit}`
    : `is the wrong ${origin}, expected ${word} ${limit}`
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}
