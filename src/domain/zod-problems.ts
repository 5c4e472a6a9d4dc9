import type { z } from 'zod'
import { didYouMean, nearestName } from './nearest-name.ts'
import { type Problem, pathText } from './problem.ts'
import { orList, valueText } from './value-text.ts'

/**
 * Turns what zod found wrong with `input` into problems: each says what was found and what was expected.
 *
 * A schema's own message is read as the words of what it expects (`a key such as check_refund`). The message of an
 * unknown key lists the known names, comma-separated, when the schema was made by `strictShape`.
 */
export function zodProblems(
  error: z.ZodError,
  input: unknown,
  basePath: readonly PropertyKey[] = [],
): Problem[] {
  return error.issues.flatMap((issue) => {
    const found = valueAt(input, issue.path)
    const at = (message: string, ...rest: PropertyKey[]): Problem => ({
      path: pathText([...basePath, ...issue.path, ...rest]),
      message,
    })
    switch (issue.code) {
      case 'unrecognized_keys': {
        const known = issue.message.split(', ')
        return issue.keys.map((key) => at(unknownFieldText(key, known), key))
      }
      case 'invalid_type':
        return [at(expectation(found, typeWords[issue.expected] ?? `a ${issue.expected}`))]
      case 'invalid_value': {
        const words = issue.values.map(String)
        const near = typeof found === 'string' ? nearestName(found, words) : undefined
        const hint = near === undefined ? '' : `. Did you mean '${near}'?`
        return [
          at(
            expectation(found, words.length === 1 ? words.join('') : `one of ${orList(words)}`) +
              hint,
          ),
        ]
      }
      case 'too_small':
        return [
          at(expectation(found, issue.origin === 'array' ? 'at least one entry' : issue.message)),
        ]
      case 'custom':
        // Such an issue is about the name, not about what stands under it.
        if (issue.params?.isName === true)
          return [at(`found '${String(issue.path.at(-1))}', expected ${issue.message}`)]
        return [at(expectation(found, issue.message))]
      default:
        return [at(expectation(found, issue.message))]
    }
  })
}

/** The message for a field that nobody reads, with the name that was probably meant. */
export function unknownFieldText(field: string, known: Iterable<string>): string {
  return `is not a known field.${didYouMean(field, known) || ' Remove it, or put it under metadata.'}`
}

/** The message for a value that is not what was expected, or is not there at all. */
export function expectation(found: unknown, expected: string): string {
  return found === undefined
    ? `is missing: expected ${expected}`
    : `found ${valueText(found)}, expected ${expected}`
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = Reflect.get(value, part)
  }
  return value
}
