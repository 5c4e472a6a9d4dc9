import type { JsonObject, JsonSchema } from './json.ts'
import { isJsonObject } from './json.ts'
import type { Problem } from './problem.ts'

const scopes = ['customer', 'procedure', 'tenant'] as const
const periods = ['hour', 'day', 'week', 'month'] as const

/** How much a tool may be used in a time. See docs/tools.md. */
export interface ToolLimit {
  /** Each customer, each procedure, or the tenant as a whole has a count of its own. */
  readonly per: (typeof scopes)[number]
  /** A fixed window in UTC. A day begins at midnight, a week on Monday, a month on the first. */
  readonly every: (typeof periods)[number]
  /** The number of the input that is added up, by its path, such as `amount` or `payment.amount`. Absent: calls. */
  readonly sum?: string
  /** The most that a window may hold: calls, or what the number adds up to, in its own unit. */
  readonly atMost: number
}

/** What one intent takes of one limit. Two of them that differ in nothing but `amount` and `atMost` share a counter. */
export interface LimitUse {
  readonly tool: string
  /** `calls`, or `sum:` and the path of the number. */
  readonly measure: string
  readonly scope: ToolLimit['per']
  /** The customer's id or the procedure's key; empty for the tenant. */
  readonly subject: string
  readonly period: ToolLimit['every']
  /** Epoch milliseconds at which the window begins. */
  readonly startsAt: number
  readonly amount: number
  readonly atMost: number
}

/** A limit that has no room for a use, and how much of it was used. */
export interface ReachedLimit {
  readonly use: LimitUse
  /** A decimal, exact. */
  readonly used: string
}

/** Who is counted, besides the tenant. */
export interface LimitSubjects {
  readonly customer: string
  readonly procedure: string
}

/**
 * What one call with this input takes of each limit of its tool, counted at an instant (epoch milliseconds). The input
 * has been validated, so the numbers that are added up are there.
 */
export function usesOf(
  { name, limits }: { readonly name: string; readonly limits: readonly ToolLimit[] },
  input: JsonObject,
  subjects: LimitSubjects,
  at: number,
): readonly LimitUse[] {
  return limits.map(({ per, every, sum, atMost }) => ({
    tool: name,
    measure: sum === undefined ? 'calls' : `sum:${sum}`,
    scope: per,
    subject: per === 'tenant' ? '' : subjects[per],
    period: every,
    startsAt: windowStart(every, at),
    amount: sum === undefined ? 1 : numberAt(input, sum),
    atMost,
  }))
}

/** Why a call is not made, for a support agent. */
export function limitMessage({ use, used }: ReachedLimit): string {
  const { tool, measure, scope, subject, period, startsAt, amount, atMost } = use
  const isCalls = measure === 'calls'
  const what = isCalls ? 'calls' : `of ${measure.slice('sum:'.length)} in all`
  const whose = scope === 'tenant' ? '' : ` for ${scope} ${subject}`
  const since = new Date(startsAt).toISOString().slice(0, period === 'hour' ? 16 : 10)
  return (
    `'${tool}' may have ${atMost} ${what} per ${scope} and ${period}: ` +
    `${used} ${used === '1' && isCalls ? 'is' : 'are'} used${whose} since ${since.replace('T', ' ')} UTC, ` +
    `and this call needs ${amount} more.`
  )
}

/** The begin of the fixed window in UTC that an instant lies in. */
export function windowStart(every: ToolLimit['every'], at: number): number {
  const date = new Date(at)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  switch (every) {
    case 'hour':
      return Date.UTC(year, month, day, date.getUTCHours())
    case 'day':
      return Date.UTC(year, month, day)
    case 'week':
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7))
    case 'month':
      return Date.UTC(year, month)
    default:
      return every satisfies never
  }
}

/** In the order of their counters, so that the order of a declaration is no change. */
export function sortedLimits(limits: readonly ToolLimit[]): readonly ToolLimit[] {
  const byCounter = (a: ToolLimit, b: ToolLimit) => (counterOf(a) < counterOf(b) ? -1 : 1)
  return limits
    .map(({ per, every, sum, atMost }) => ({
      per,
      every,
      ...(sum !== undefined && { sum }),
      atMost,
    }))
    .sort(byCounter)
}

function counterOf({ per, every, sum = '' }: ToolLimit): string {
  return `${per} ${every} ${sum}`
}

/** Every problem of declared limits, against the input schema that the numbers are taken from. */
export function limitProblems(limits: readonly ToolLimit[], input: JsonSchema): readonly Problem[] {
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const [index, limit] of limits.entries()) {
    const refuse = (field: string, message: string) =>
      problems.push({ path: `limits[${index}]${field === '' ? '' : `.${field}`}`, message })
    const { per, every, sum, atMost } = limit
    if (!scopes.includes(per)) refuse('per', oneOf(per, scopes))
    if (!periods.includes(every)) refuse('every', oneOf(every, periods))
    if (!Number.isFinite(atMost) || atMost < 0) {
      refuse('atMost', `found ${String(atMost)}; expected a number from 0 on`)
    } else if (sum === undefined && !Number.isSafeInteger(atMost)) {
      refuse('atMost', `found ${atMost} calls; expected a whole number`)
    }
    if (sum !== undefined) {
      const problem = sumProblem(sum, input)
      if (problem !== undefined) refuse('sum', problem)
    }
    for (const name of Object.keys(limit)) {
      if (!['per', 'every', 'sum', 'atMost'].includes(name)) {
        refuse(name, 'is no field of a limit; expected per, every, atMost and perhaps sum')
      }
    }
    const counter = counterOf(limit)
    if (seen.has(counter)) refuse('', 'counts the same as a limit before it; keep the lower one')
    seen.add(counter)
  }
  return problems
}

function oneOf(found: unknown, expected: readonly string[]): string {
  return `found ${JSON.stringify(found) ?? 'nothing'}; expected one of ${expected.join(', ')}`
}

/** A number that is always there and never below zero: else a call could count for nothing, or make room. */
function sumProblem(path: string, input: JsonSchema): string | undefined {
  let schema: JsonSchema = input
  for (const name of path.split('.')) {
    const { properties, required } = schema
    const below = isJsonObject(properties) ? properties[name] : undefined
    if (!isJsonObject(below)) return `found '${path}', which the input schema does not have`
    if (!Array.isArray(required) || !required.includes(name)) {
      return `found '${path}', which the input may leave out; a call without it would count for nothing`
    }
    schema = below
  }
  const { type, minimum, exclusiveMinimum } = schema
  const least = Math.max(...[minimum, exclusiveMinimum].filter((n) => typeof n === 'number'))
  if (type !== 'number' && type !== 'integer') return `found '${path}', which is no number`
  return least >= 0
    ? undefined
    : `found '${path}', which may be below zero and would make room; give it a minimum from 0 on`
}

function numberAt(input: JsonObject, path: string): number {
  let value: unknown = input
  for (const name of path.split('.')) value = Object(value)[name]
  if (typeof value !== 'number') throw new TypeError(`the input has no number at ${path}`)
  return value
}
