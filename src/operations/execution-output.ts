import { z } from 'zod'
import type { Execution, ExecutionListItem } from '../db/queries/executions.ts'
import type { StoredReply } from '../db/queries/replies.ts'
import type { ConditionVerdict, StepRow, Ticket } from '../domain/execution.ts'
import type { Json } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import type { ReplyFact, ReplyVerification } from '../reply/reply.ts'
import { instant, reason } from './shapes.ts'

const anyJson = z.custom<Json>()
const findings = z.array(z.string()).readonly()

export const executionListItem = z.object({
  id: z.string(),
  procedureKey: z.string(),
  versionNumber: z.int(),
  status: z.enum([
    'pending',
    'running',
    'waiting',
    'paused',
    'completed',
    'escalated',
    'cancelled',
  ]),
  outcome: z.enum(['resolved', 'declined']).nullable(),
  reasonCode: z.string().nullable(),
  customerId: z.string().nullable(),
  ticketId: z.string().nullable(),
  createdAt: instant,
  endedAt: instant.nullable(),
})

const selectionRecord = z
  .object({
    chosenBy: z
      .enum(['search', 'person'])
      .describe('`person`: the caller named the procedure, whatever the search answered'),
    decision: z.enum(['selected', 'ambiguous', 'no_match']),
    model: z.string().describe('The embedding model of the similarities'),
    fellBack: z
      .boolean()
      .describe('The model in use did not answer in time, and this is the offline one'),
    minSimilarity: z.number(),
    margin: z.number(),
    candidates: z
      .array(
        z.object({
          procedureKey: z.string(),
          versionNumber: z.int(),
          similarity: z.number(),
          literal: z.boolean(),
          trackScore: z.number(),
        }),
      )
      .readonly(),
  })
  .describe('How the search for the ticket went when the run was started')

const executionOutput = executionListItem.extend({
  versionId: z.string(),
  definitionHash: z.string(),
  reason,
  result: anyJson,
  input: anyJson,
  inputSources: z
    .record(z.string(), z.enum(['caller', 'context', 'text', 'model']))
    .nullable()
    .describe(
      'Where each value of `input` came from; `model`: from the ticket, where a model pointed it out. null: there is no input',
    ),
  ticket: z.custom<Ticket | null>(),
  selection: selectionRecord
    .nullable()
    .describe('Why this procedure; null: the caller named it, and nothing was searched for'),
  requester: z.custom<Principal>(),
  onBehalfOf: z.string().nullable(),
  durability: z.enum(['effect', 'step']),
  takeOverCount: z.int(),
  cancelRequested: z.boolean().describe('It ends before its next step'),
  pauseRequested: z.boolean().describe('It is held before its next step'),
  wakeAt: instant.nullable().describe('When a waiting execution goes on by itself'),
  conditions: z.array(
    z.object({
      kind: z.enum(['precondition', 'rule', 'completion']),
      text: z.string(),
      verdict: z.enum(['held', 'unmet', 'clear', 'matched', 'failed', 'not_reached', 'prose']),
    }),
  ),
  durationMs: z.number().nullable().describe('From its start to its end'),
})

export const stepOutput = z.object({
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
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  attempts: z.int(),
  startedAt: instant,
  endedAt: instant.nullable(),
})

export const replyOutput = z.object({
  text: z.string(),
  source: z.enum(['built_in', 'model']),
  facts: z
    .array(
      z.object({
        path: z.string().describe('As a template writes it'),
        value: anyJson,
        stepKey: z.string().nullable().describe('null for what came in with the run'),
      }),
    )
    .readonly()
    .describe('The values of the record that stand in the text, in its order'),
  verification: z
    .object({
      ok: z.boolean().describe('False when the approved wording could not be used'),
      findings,
      model: z
        .object({
          name: z.string(),
          attempts: z
            .array(z.object({ result: z.enum(['sent', 'refused', 'failed']), findings }))
            .readonly(),
        })
        .optional()
        .describe('The drafts that a model was asked for'),
      input: z
        .object({
          model: z.string(),
          asked: z.array(z.string()).readonly(),
          taken: z.array(z.string()).readonly(),
          findings,
        })
        .optional()
        .describe('What a model was asked to read in the ticket before the run'),
    })
    .describe('What was found about the reply before it was sent'),
})

type ReplyOutput = z.infer<typeof replyOutput>

/** One run, whole: the execution, its steps and what was answered. */
export const runOutput = z.object({
  execution: executionOutput,
  steps: z.array(stepOutput),
  reply: replyOutput.nullable(),
})

export type RunOutput = z.infer<typeof runOutput>

export function toExecutionListItem(item: ExecutionListItem): z.infer<typeof executionListItem> {
  return {
    id: item.id,
    procedureKey: item.procedureKey,
    versionNumber: item.versionNumber,
    status: item.status,
    outcome: item.outcome,
    reasonCode: item.reasonCode,
    customerId: item.customerId,
    ticketId: item.ticketId,
    createdAt: item.createdAt.toISOString(),
    endedAt: item.endedAt?.toISOString() ?? null,
  }
}

export function toRunOutput(
  execution: Execution,
  rows: readonly StepRow[],
  actions: ReadonlyMap<string, string>,
  reply: StoredReply | undefined,
): RunOutput {
  const began = execution.startedAt ?? execution.createdAt
  return {
    execution: {
      ...toExecutionListItem(execution),
      versionId: execution.versionId,
      definitionHash: execution.definitionHash,
      reason: execution.reason,
      result: execution.result,
      input: execution.input,
      inputSources: execution.inputSources,
      ticket: execution.ticket,
      selection: execution.selection,
      requester: execution.requester,
      onBehalfOf: execution.onBehalfOf,
      durability: execution.durability,
      takeOverCount: execution.takeOverCount,
      cancelRequested: execution.cancelRequested,
      pauseRequested: execution.pauseRequested,
      wakeAt: execution.wakeAt?.toISOString() ?? null,
      conditions: execution.conditions.map((verdict: ConditionVerdict) => ({ ...verdict })),
      durationMs: execution.endedAt === null ? null : execution.endedAt.getTime() - began.getTime(),
    },
    steps: rows.map((row) => toStepOutput(row, actions.get(row.stepKey) ?? row.stepKey)),
    reply: reply === undefined ? null : toReplyOutput(reply),
  }
}

// This service alone writes the JSON columns of a reply, from values of the types that they are read as.
function toReplyOutput({ facts, verification, ...reply }: StoredReply): ReplyOutput {
  return {
    ...reply,
    facts: facts as unknown as readonly ReplyFact[],
    verification: verification as unknown as ReplyVerification,
  }
}

function toStepOutput(row: StepRow, action: string): z.infer<typeof stepOutput> {
  return {
    sequence: row.ordinal,
    key: row.stepKey,
    kind: row.kind,
    status: row.status,
    action,
    tool: row.tool,
    input: row.input,
    output: row.output,
    error: row.error,
    attempts: row.attempt,
    startedAt: new Date(row.startedAt).toISOString(),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
  }
}
