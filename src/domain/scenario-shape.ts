import { z } from 'zod'
import {
  anyJson,
  clockDuration,
  jsonObject,
  procedureKey,
  sentence,
  strictShape,
  unless,
  unlessEmpty,
  words,
} from './definition-fields.ts'
import { maxDurationDays } from './duration.ts'
import { isReasonCode, type ReasonCode } from './escalation.ts'
import { findInstant } from './expression.ts'
import { roles } from './principal.ts'
import { ends, placePattern, words as saidWords, toolFailures } from './scenario.ts'

/** The fields of scenarios, in the order in which they are written; what is parsed is in normal form. */

const after = clockDuration(
  0,
  maxDurationDays * 86_400_000,
  `of at most ${maxDurationDays} days, not in workdays`,
).optional()

const instant = z.custom<string>(
  (value) => typeof value === 'string' && findInstant(value) !== undefined,
  'a time such as 2026-01-05T09:00:00Z',
)

const speaker = {
  by: words(200).optional(),
  roles: z.array(z.enum(roles)).optional(),
  groups: z.array(words(100)).optional(),
}
const message = sentence.optional()

/** The shape of an observation by the field that marks it. */
export const observationShapes = {
  output: strictShape({ output: anyJson, after }),
  fails: strictShape({ fails: z.enum(toolFailures), message, after }),
  answer: strictShape({ answer: anyJson, ...speaker, after }),
  says: strictShape({ says: z.enum(saidWords), message, ...speaker, after }),
  outcome: strictShape({ outcome: z.enum(ends), output: anyJson.optional(), message, after }),
} as const

const place = z.custom<string>(
  (value) => typeof value === 'string' && placePattern.test(value),
  'the key of a step, in a round of its loop such as notify[0]',
)

const reasonCode = z.custom<ReasonCode>(
  (value) => typeof value === 'string' && isReasonCode(value),
  'the code of a reason, such as rule_matched (docs/executor.md)',
)

const expectationShape = strictShape({
  end: z.enum(ends),
  reason: reasonCode.optional(),
  text: sentence.optional(),
  path: z.array(place).optional(),
  result: anyJson.optional(),
  sent: unlessEmpty(jsonObject),
})

const ticket = strictShape({
  text: z.custom<string>(
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 1_000_000,
    'a text of 1 to 1,000,000 characters',
  ),
  id: words(200).optional(),
  requester: words(200).optional(),
  channel: words(200).optional(),
  language: words(35).optional(),
  createdAt: instant.optional(),
  tags: z.array(words(200)).max(100, 'at most 100 tags').optional(),
})

/** A scenario without `steps` and `tools`, which parse-scenarios.ts reads. */
export const scenarioShape = strictShape({
  name: words(200),
  text: sentence.optional(),
  input: unlessEmpty(jsonObject),
  ticket: ticket.optional(),
  context: unlessEmpty(jsonObject),
  customerId: words(200).optional(),
  requester: words(200).optional(),
  onBehalfOf: words(200).optional(),
  startedAt: instant.optional(),
  mode: unless(z.enum(['automatic', 'guided']), 'automatic'),
  steps: z.unknown().optional(),
  tools: z.unknown().optional(),
  expect: expectationShape,
})

/** A file of scenarios, whose list parse-scenarios.ts reads. */
export const scenarioFileShape = strictShape({
  procedure: procedureKey,
  scenarios: z.custom((value) => value !== undefined, 'a list of scenarios'),
})
