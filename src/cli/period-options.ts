import type { Given, Parameter } from './command.ts'

/** The options that bound a period, and what they become. */
export const periodOptions: readonly Parameter[] = [
  { usage: '--from <TIME>', text: 'from this time on: 2026-11-01, or 2026-11-01T08:00:00Z' },
  { usage: '--to <TIME>', text: 'before this time' },
]

/** A date is its midnight in UTC; all else is as it was given, and the operation says what it takes. */
export function periodInput(given: Given): {
  readonly from: string | undefined
  readonly to: string | undefined
} {
  const instant = (name: string): string | undefined => {
    const text = given.find(name)
    return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  }
  return { from: instant('from'), to: instant('to') }
}
