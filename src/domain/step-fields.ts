import { z } from 'zod'
import {
  defaultMaxItems,
  defaultQuorum,
  defaultRetryBackoff,
  defaultRetryDelay,
} from './defaults.ts'
import {
  anyJson,
  approverRole,
  askedRole,
  clockDuration,
  condition,
  duration,
  escalateTo,
  expression,
  integer,
  jsonObject,
  named,
  procedureKey,
  sentence,
  stepKey,
  strictShape,
  template,
  toolName,
  unless,
  unlessEmpty,
} from './definition-fields.ts'
import { definitionLimits } from './definition-limits.ts'
import type { StepKind } from './step.ts'

const dayMs = 86_400_000
// Timers of the platform end at 2^31 ms (24 days); a call that takes longer than a day is a wait, not an attempt.
const attemptTime = clockDuration(1_000, dayMs, 'from 1s to 24h')
const pause = clockDuration(0, dayMs, 'from 0s to 24h')
const rounds = integer(1, definitionLimits.loopItems)

const exhausted = unless(z.enum(['escalated', 'declined', 'continue']), 'escalated')
const onFailure = unless(z.enum(['escalated', 'declined', 'continue']), 'escalated')

const retry = strictShape({
  maxAttempts: integer(1, 20),
  delay: unless(pause, defaultRetryDelay),
  backoff: unless(
    z.custom<number>(
      (value) => typeof value === 'number' && value >= 1 && value <= 10,
      'a number from 1 to 10',
    ),
    defaultRetryBackoff,
  ),
})
  // One attempt is what a step without `retry` makes.
  .transform((value) => (value.maxAttempts === 1 ? undefined : value))
  .optional()

const base = {
  key: stepKey,
  action: sentence,
  when: expression.optional(),
  required: unless(z.boolean(), true),
  expectedOutput: sentence.optional(),
}
const loop = {
  forEach: expression.optional(),
  maxItems: unless(rounds, defaultMaxItems),
}
/** A list of steps, or what holds one: read by parse-step.ts, which knows the tree. */
const tree = z.unknown().optional()

const wait = z.union([strictShape({ for: duration }), strictShape({ until: expression })], {
  error: () =>
    'either for: a duration of at most 366 days, or until: an expression that gives a time',
})

/**
 * The fields of each kind of step, in the order in which they are written. What is parsed is in normal form, apart
 * from the fields marked `tree`.
 */
export const stepShapes = {
  tool: z.object({
    ...base,
    tool: toolName,
    with: unlessEmpty(jsonObject),
    ...loop,
    poll: strictShape({
      every: clockDuration(1_000, dayMs, 'from 1s to 24h'),
      until: expression,
      atMost: rounds,
      otherwise: exhausted,
    }).optional(),
    timeout: attemptTime.optional(),
    retry,
    expect: expression.optional(),
    onError: onFailure,
    escalateTo,
  }),
  compute: z.object({ ...base, compute: named(expression), escalateTo }),
  require: z.object({
    ...base,
    require: z.array(condition).min(1),
    otherwise: tree,
    escalateTo,
  }),
  choose: z.object({ ...base, choose: tree, otherwise: tree, escalateTo }),
  steps: z.object({
    ...base,
    ...loop,
    repeat: strictShape({ until: expression, atMost: rounds, otherwise: exhausted }).optional(),
    steps: tree,
    escalateTo,
  }),
  ask: z.object({
    ...base,
    ask: askedRole,
    message: template,
    answer: jsonObject,
    ...loop,
    deadline: duration.optional(),
    remind: duration.optional(),
    onDeadline: onFailure,
    escalateTo,
  }),
  approval: z.object({
    ...base,
    approval: approverRole,
    show: anyJson,
    quorum: unless(integer(1, 20), defaultQuorum),
    notBy: unlessEmpty(z.array(stepKey)),
    ...loop,
    deadline: duration.optional(),
    onDeadline: onFailure,
    onDenied: onFailure,
    escalateTo,
  }),
  call: z.object({
    ...base,
    call: procedureKey,
    with: unlessEmpty(jsonObject),
    ...loop,
    escalateTo,
  }),
  wait: z.object({ ...base, wait, escalateTo }),
  end: z.object({
    ...base,
    end: z.enum(['resolved', 'declined', 'escalated']),
    text: template.optional(),
    escalateTo,
  }),
} satisfies { readonly [K in StepKind]: z.ZodObject }

/** One branch of a `choose`, with its steps still unread. */
export const choiceShape = strictShape({ text: sentence, when: expression, steps: tree })
