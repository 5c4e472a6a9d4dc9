import { z } from 'zod'
import type { Execution, ExecutionListItem } from '../db/queries/executions.ts'
import type { StoredReply } from '../db/queries/replies.ts'
import type { ConditionVerdict, StepRow, Ticket } from '../domain/execution.ts'
import type { Json } from '../domain/json.ts'
import type { Principal } from '../domain/principal.ts'
import { instant, reason } from './shapes.ts'

const anyJson = z.custom<Json>()

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

const executionOutput = executionListItem.extend({
  versionId: z.string(),
  definitionHash: z.string(),
  reason,
  result: anyJson,
  input: anyJson,
  ticket: z.custom<Ticket | null>(),
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
  facts: anyJson,
  verification: anyJson,
})

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
      ticket: execution.ticket,
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
    reply: reply ?? null,
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
