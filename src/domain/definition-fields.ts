import { z } from 'zod'
import { maxDurationDays, parseDuration, parseDurationMs } from './duration.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { roles } from './principal.ts'

/**
 * The fields that definitions are made of. Each schema's message says what it expects, to be read after `expected`
 * (zod-problems.ts). A field that equals its default is parsed to undefined, and `compact` then leaves it out.
 */

/** An object of exactly these fields. Its message for unknown keys carries the known names. */
export function strictShape<S extends z.ZodRawShape>(fields: S) {
  const known = Object.keys(fields).join(', ')
  return z
    .strictObject(fields, {
      error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined),
    })
    .transform(compact)
}

/** A value without its undefined members: those that were not given or equal their default. */
export type Compact<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export function compact<T extends object>(value: T): Compact<T> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries) as Compact<T>
}

/** A text that `accepts` holds of. `expected` reads like `a step key such as check_refund`. */
function text(expected: string, accepts: (text: string) => boolean): z.ZodType<string> {
  return z.custom<string>((value) => typeof value === 'string' && accepts(value), expected)
}

export function integer(min: number, max: number): z.ZodType<number> {
  const accepts = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
  return z.custom<number>(accepts, `a whole number from ${min} to ${max}`)
}

/** A word or sentence for people that is not blank. */
export function words(maxLength: number): z.ZodType<string> {
  const accepts = (value: string) => value.trim() !== '' && value.length <= maxLength
  return text(`a text of 1 to ${maxLength} characters`, accepts)
}

const stepKeyPattern = /^[a-z][a-z0-9_]{0,63}$/
const procedureKeyPattern = /^[A-Z][A-Z0-9_]{1,63}$/
const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const groupPattern = /^group:[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const stepKey = text(
  'a key of 1 to 64 lower-case letters, digits and _, such as check_refund',
  (value) => stepKeyPattern.test(value),
)
export const procedureKey = text(
  'the key of a procedure: 2 to 64 capital letters, digits and _, such as FAILED_PAYMENT_PLAYBOOK',
  (value) => procedureKeyPattern.test(value),
)
export const toolName = text(
  'the name of a tool: 1 to 64 lower-case letters, digits and _, such as check_refund',
  (value) => stepKeyPattern.test(value),
)

const audience = `one of ${roles.join(', ')}, or a group such as group:refund-desk`
const isRoleOrGroup = (value: string) =>
  roles.some((role) => role === value) || groupPattern.test(value)
/** Who may approve. */
export const approverRole = text(audience, isRoleOrGroup)
/** Who may be asked. */
export const askedRole = text(
  `customer, ${audience}`,
  (value) => value === 'customer' || isRoleOrGroup(value),
)

export const sentence = words(2_000)
// What these texts mean is found by the modules that parse them; here they only have to be there.
export const expression = text(
  "an expression as a text (in quotes where YAML would read something else: '5', 'true')",
  (value) => value.trim() !== '',
)
export const template = text('a text, with {{path}} where a value goes', (value) => value !== '')

/** Any duration, working days included, of at least a second. */
export const duration = text(
  `a duration of at most ${maxDurationDays} days, such as 30s, 10m, 6h, 5d or 10 workdays`,
  (value) => isPositive(value),
)

function isPositive(value: string): boolean {
  const found = parseDuration(value)
  return found !== undefined && ('ms' in found ? found.ms : found.workdays) > 0
}

/** A duration of a clock, without working days, between two bounds in milliseconds. */
export function clockDuration(minMs: number, maxMs: number, expected: string): z.ZodType<string> {
  return text(`a duration ${expected}, such as 30s or 10m`, (value) => {
    const ms = parseDurationMs(value)
    return ms !== undefined && ms >= minMs && ms <= maxMs
  })
}

export const anyJson = z.custom<Json>((value) => value !== undefined, 'any value')
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'an object')

/** Names, each with one value. Names can be written after a dot in an expression. */
export function named<T>(value: z.ZodType<T>): z.ZodType<{ readonly [name: string]: T }> {
  return z
    .custom<{ readonly [name: string]: T }>(isJsonObject, 'an object of names and values')
    .superRefine((entries, context) => {
      if (!isJsonObject(entries)) return
      for (const [name, member] of Object.entries(entries)) {
        if (!namePattern.test(name)) {
          const message = 'a name to be a letter, then letters, digits and _ (64 at most)'
          context.addIssue({ code: 'custom', message, path: [name], params: { isName: true } })
          continue
        }
        for (const issue of value.safeParse(member).error?.issues ?? [])
          context.addIssue({ code: 'custom', message: issue.message, path: [name, ...issue.path] })
      }
    })
}

/** A field that is left out when it equals `standard`. */
export function unless<T, const D extends T>(schema: z.ZodType<T>, standard: D) {
  return schema
    .transform((value) => (value === standard ? undefined : (value as Exclude<T, D>)))
    .optional()
}

/** A list or object that is left out when it is empty. */
export function unlessEmpty<T extends object>(schema: z.ZodType<T>) {
  return schema
    .transform((value) => (Object.keys(value).length === 0 ? undefined : value))
    .optional()
}

export const escalateTo = unlessEmpty(
  strictShape({
    queue: words(100).optional(),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
    assignee: words(200).optional(),
  }),
)

const conditionFields = {
  text: sentence,
  when: expression.optional(),
  say: template.optional(),
  confidential: unless(z.boolean(), false),
}
export const condition = strictShape(conditionFields)
export const precondition = strictShape({
  ...conditionFields,
  otherwise: unless(z.enum(['escalated', 'declined']), 'escalated'),
})
export const escalationRule = strictShape({ ...conditionFields, escalateTo })
