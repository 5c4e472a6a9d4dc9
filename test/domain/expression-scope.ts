import { type Expression, parseExpression, type Scope } from '../../src/domain/expression.ts'
import type { Json } from '../../src/domain/json.ts'

const testNow = Date.parse('2026-11-27T15:30:00.000Z')

/** A scope with nothing in it but what a test names. */
export function scopeWith(parts: Partial<Scope> = {}): Scope {
  return { input: {}, ticket: {}, policy: {}, steps: {}, execution: {}, now: testNow, ...parts }
}

export function parsed(source: string): Expression {
  const result = parseExpression(source)
  if ('expression' in result) return result.expression
  throw new Error(`${source}: ${result.problems.map(({ message }) => message).join('; ')}`)
}

export function evaluate(source: string, parts: Partial<Scope> = {}): Json {
  return parsed(source).evaluate(scopeWith(parts))
}

/** The messages of the problems of a source; empty when it has none. */
export function problemsOf(source: string): string {
  const result = parseExpression(source)
  return 'problems' in result ? result.problems.map(({ message }) => message).join('\n') : ''
}
