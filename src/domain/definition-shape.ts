import { z } from 'zod'
import { defaultCategory, defaultTimeLimit } from './defaults.ts'
import {
  anyJson,
  clockDuration,
  condition,
  duration,
  escalateTo,
  escalationRule,
  expression,
  jsonObject,
  named,
  precondition,
  procedureKey,
  sentence,
  strictShape,
  template,
  unless,
  unlessEmpty,
  words,
} from './definition-fields.ts'
import { maxDurationDays, parseDurationMs } from './duration.ts'
import type { JsonObject } from './json.ts'

const phrases = unlessEmpty(z.array(words(500)))

/** `{ type: object }` alone says what is said by leaving `input` out. */
function isAnyObject(schema: JsonObject): boolean {
  return schema.type === 'object' && Object.keys(schema).length === 1
}

const timeLimit = clockDuration(
  1_000,
  maxDurationDays * 86_400_000,
  `of at least 1s and at most ${maxDurationDays} days, not in workdays`,
)

/**
 * The fields of a definition, in the order in which they are written. What is parsed is in normal form, apart from
 * `steps`, which parse-step.ts reads.
 */
export const definitionShape = strictShape({
  key: procedureKey,
  name: words(200),
  description: words(4_000),
  category: unless(words(100), defaultCategory),
  issuePatterns: phrases,
  examples: unlessEmpty(strictShape({ match: phrases, noMatch: phrases })),
  internal: unless(z.boolean(), false),
  input: jsonObject.transform((schema) => (isAnyObject(schema) ? undefined : schema)).optional(),
  policy: unlessEmpty(named(anyJson)),
  preconditions: unlessEmpty(z.array(precondition)),
  steps: z.unknown().optional(),
  completionConditions: unlessEmpty(z.array(condition)),
  escalationRules: unlessEmpty(z.array(escalationRule)),
  escalateTo,
  successCriteria: sentence.optional(),
  timeLimit: timeLimit
    .transform((text) =>
      parseDurationMs(text) === parseDurationMs(defaultTimeLimit) ? undefined : text,
    )
    .optional(),
  due: strictShape({
    after: duration,
    from: expression.optional(),
    warn: duration.optional(),
  }).optional(),
  output: unlessEmpty(named(expression)),
  replies: unlessEmpty(
    strictShape({
      resolved: template.optional(),
      declined: template.optional(),
      escalated: template.optional(),
    }),
  ),
  metadata: unlessEmpty(jsonObject),
})
