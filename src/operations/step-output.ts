import { z } from 'zod'
import type { Said, StepRow } from '../domain/execution.ts'
import { failureKinds } from '../domain/failure.ts'
import type { JsonSchema } from '../domain/json.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'
import { anyJson, instant } from './shapes.ts'

/** One step of a run, as it is answered. */
export const stepOutput = z
  .object({
    sequence: z.int().describe('The order in which steps were started, from 1'),
    key: z.string(),
    kind: z.string(),
    status: z.enum([
      'running',
      'waiting',
      'completed',
      'failed',
      'skipped',
      'expired',
      'denied',
      'pending',
    ]),
    action: z.string(),
    tool: z.string().nullable(),
    input: anyJson,
    output: anyJson,
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        kind: z
          .enum(failureKinds)
          .optional()
          .describe('What sort of failure, of a tool that failed'),
      })
      .nullable(),
    attempts: z.int().describe('Attempts begun'),
    failedAttempts: z
      .array(
        z.object({
          attempt: z.int().describe('From 1'),
          result: z.enum(['refused', 'failed', 'error', 'timeout', 'interrupted', 'invalid']),
          code: z.string(),
          message: z.string(),
          endedAt: instant,
        }),
      )
      .readonly()
      .describe('The attempts that did not complete the step, in their order'),
    iteration: z.string().describe('Its round in the loops around it: 4, or 4.0; empty outside'),
    exchange: z
      .array(z.custom<SaidOutput>().meta({ type: 'object' }))
      .readonly()
      .describe('What was said while it waited: kind, at (RFC 3339), by, and what else there is'),
    answer: z
      .custom<JsonSchema>()
      .meta({ type: ['object', 'boolean'] })
      .optional()
      .describe('Of an ask that waits, the JSON Schema that its answer must fit'),
    notYou: z
      .string()
      .optional()
      .describe('Of a step that waits, why its word is not yours to give; absent: it is'),
    startedAt: instant,
    endedAt: instant.nullable(),
  })
  .meta({ id: 'Step' })

/** What was said, as it is answered: as it is recorded, with its instant as text. */
export type SaidOutput = SaidAtText<Said>

type SaidAtText<S> = S extends Said ? Omit<S, 'at'> & { readonly at: string } : never

export function toExchangeOutput(exchange: readonly Said[] = []): readonly SaidOutput[] {
  return exchange.map((said) => ({ ...said, at: new Date(said.at).toISOString() }))
}

export function toStepOutput(row: StepRow, action: string): z.infer<typeof stepOutput> {
  return {
    sequence: row.ordinal,
    key: row.stepKey,
    kind: row.kind,
    status: row.status,
    action,
    tool: row.tool,
    input: withoutMarks(row.input),
    output: withoutMarks(row.output),
    error: row.error,
    attempts: row.attempt,
    failedAttempts: (row.attempts ?? []).map((record) => ({
      ...record,
      endedAt: new Date(record.endedAt).toISOString(),
    })),
    iteration: row.iteration,
    exchange: toExchangeOutput(row.exchange),
    startedAt: new Date(row.startedAt).toISOString(),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
  }
}
