import { foldText } from './folded-text.ts'
import type { JsonSchema } from './json.ts'
import { sensitivePatterns } from './scalars.ts'
import { findSpellings } from './token-pattern.ts'

/** What comes after that in a text reaches no model. */
export const maxShownLength = 20_000

const patterns = new WeakMap<JsonSchema, readonly string[]>()

/**
 * The parts of a text that fit what a schema marks as sensitive, however they are spelled, whether a value was taken from
 * there or not: of two card numbers neither is taken, and neither is anybody's business. Looks at the first 20,000
 * characters.
 */
export function sensitiveInText(schema: JsonSchema, text: string): readonly string[] {
  const known = patterns.get(schema) ?? sensitivePatterns(schema)
  patterns.set(schema, known)
  if (known.length === 0) return []
  const shown = text.slice(0, maxShownLength)
  const folded = foldText(shown)
  return [...new Set(known.flatMap((pattern) => findSpellings(pattern, folded, shown)))]
}
