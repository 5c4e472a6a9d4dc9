import type { Json } from '../domain/json.ts'

/** Shorter patterns stand by chance in too many texts. */
const minPatternLength = 4

/**
 * The text in which literal patterns are looked for: the issue and every string value in the context, one a line,
 * folded as `literalMatches` folds patterns. Made once per search, however many procedures there are.
 */
export function literalText(issue: string, context: Json = null): string {
  return fold([issue, ...stringValues(context)].join('\n'))
}

/**
 * The patterns that stand literally in a text, ignoring case: whole, as they are written, at least four characters
 * long, though not necessarily at word boundaries.
 */
export function literalMatches(patterns: readonly string[], text: string): readonly string[] {
  return patterns.filter((pattern) => {
    const wanted = fold(pattern.trim())
    return [...wanted].length >= minPatternLength && text.includes(wanted)
  })
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function stringValues(root: Json): readonly string[] {
  const values: string[] = []
  const open: Json[] = [root]
  // A loop, because recursion on a caller's nesting could exhaust the stack.
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') values.push(value)
    else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) open.push(member)
    }
  }
  return values
}
