import { z } from 'zod'
import type { Execution, ExecutionListItem } from '../db/queries/executions.ts'
import type { StoredReply } from '../db/queries/replies.ts'
import type { ConditionVerdict, StepRow, Ticket } from '../domain/execution.ts'
import type { Principal } from '../domain/principal.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'
import type { ReplyFact, ReplyVerification } from '../reply/reply.ts'
import { dueOutput, toDueOutput } from './due-output.ts'
import { anyJson, instant, reason } from './shapes.ts'
import { stepOutput, toStepOutput } from './step-output.ts'
import { stoppedOutput } from './stopped-output.ts'

const findings = z.array(z.string()).readonly()

export const executionListItem = z
  .object({
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
    ...dueOutput,
    endedAt: instant.nullable(),
    erasedAt: instant
      .nullable()
      .describe('When its personal values were erased; null: they are there'),
  })
  .meta({ id: 'ExecutionListItem' })

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

const waitsFor = z
  .object({
    kind: z
      .enum(['worker', 'timer', 'person', 'call', 'resume'])
      .describe(
        '`worker`: nobody has it, and a worker takes it; `timer`: a moment; `person`: what a step asks somebody, `steps` says whom and what; `call`: a run that it has called; `resume`: a person lets it go on',
      ),
    stepKey: z.string().nullable().describe('The step that waits, or goes on then'),
    attempt: z.int().nullable().describe('The attempt of the step that is made then'),
    until: instant.nullable().describe('When a timer wakes it, at the latest'),
  })
  .nullable()
  .describe('Why it does not go on now; null: it is being worked on, or has ended')

const executionOutput = executionListItem
  .extend({
    versionId: z.string(),
    definitionHash: z.string(),
    reason,
    result: anyJson,
    input: anyJson,
    inputSources: z
      .record(z.string(), z.enum(['caller', 'context', 'text', 'model']))
      .nullable()
      .describe(
        'Where each value of `input` came from; `model`: from the ticket, where a model pointed it out. null: there is no input. Of a run that was erased only this is left of it',
      ),
    ticket: z.custom<Ticket | null>().meta({ type: ['object', 'null'] }),
    selection: selectionRecord
      .nullable()
      .describe(
        'Why this procedure; null: the caller named it and nothing was searched for, or it was erased (`erasedAt`)',
      ),
    requester: z.custom<Principal>().meta({ type: 'object' }),
    onBehalfOf: z.string().nullable(),
    durability: z.enum(['effect', 'step']),
    takeOverCount: z.int().describe('How often its worker was lost, or failed with it'),
    workerId: z.string().nullable().describe('Who works on it; null: nobody does'),
    waitsFor,
    cancelRequested: z
      .boolean()
      .describe(
        'It ends before its next step; one whose last step was going has ended as that step left it',
      ),
    pauseRequested: z.boolean().describe('It is held before its next step, if there is one'),
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
  .meta({ id: 'Execution' })

export const replyOutput = z
  .object({
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
  .meta({ id: 'Reply' })

type ReplyOutput = z.infer<typeof replyOutput>

/** One run, whole: the execution, its steps and what was answered. */
export const runOutput = z
  .object({
    execution: executionOutput,
    steps: z.array(stepOutput),
    reply: replyOutput.nullable(),
  })
  .meta({ id: 'Run' })

export type RunOutput = z.infer<typeof runOutput>

/** One run, what people did to it, and how whoever has it is. */
export const runDetailOutput = runOutput.extend({
  worker: z
    .object({
      lastHeardAt: instant.nullable().describe('Its last sign of life; null: long ago'),
      isGone: z
        .boolean()
        .describe('Nobody works on the run: the next worker that is free takes it'),
    })
    .nullable()
    .describe('The process that `workerId` names; null where nobody has the run'),
  heldBy: stoppedOutput.describe('The switch that holds it, until that is lifted; null: none does'),
  acts: z
    .array(
      z.object({
        action: z
          .string()
          .describe(
            'As the audit log has it: `execution.cancel_requested`, `execution.pause_requested`, `execution.resumed`, or `executions.held` after a restore',
          ),
        at: instant,
        actorId: z.string(),
        actorKind: z.enum(['human', 'ai', 'service']),
        origin: z.string().nullable().describe('The door that it came through'),
      }),
    )
    .describe('Who wanted what of it besides its start, in order'),
})

export type RunDetailOutput = z.infer<typeof runDetailOutput>

/** `now`, in epoch milliseconds, tells what is late. */
export function toExecutionListItem(
  item: ExecutionListItem & { readonly erasedAt: Date | null },
  now: number,
): z.infer<typeof executionListItem> {
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
    ...toDueOutput(item, item.endedAt, now),
    endedAt: item.endedAt?.toISOString() ?? null,
    erasedAt: item.erasedAt?.toISOString() ?? null,
  }
}

export function toRunOutput(
  execution: Execution,
  rows: readonly StepRow[],
  actions: ReadonlyMap<string, string>,
  reply: StoredReply | undefined,
  erasedAt: Date | null,
  now: number,
): RunOutput {
  const began = execution.startedAt ?? execution.createdAt
  return {
    execution: {
      ...toExecutionListItem({ ...execution, erasedAt }, now),
      versionId: execution.versionId,
      definitionHash: execution.definitionHash,
      reason: execution.reason,
      result: withoutMarks(execution.result),
      input: withoutMarks(execution.input),
      inputSources: execution.inputSources,
      ticket: execution.ticket,
      selection: execution.selection,
      requester: execution.requester,
      onBehalfOf: execution.onBehalfOf,
      durability: execution.durability,
      takeOverCount: execution.takeOverCount,
      workerId: execution.workerId,
      waitsFor: toWaitsFor(execution, rows),
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

function toWaitsFor(
  { status, workerId, wakeAt }: Execution,
  rows: readonly StepRow[],
): RunOutput['execution']['waitsFor'] {
  const last = rows.at(-1)
  const isRunning = last?.status === 'running'
  const next = {
    stepKey: isRunning ? last.stepKey : null,
    // An attempt without a result is still going, or was cut off: its number is used.
    attempt: isRunning && last.tool !== null ? last.attempt + 1 : null,
    until: wakeAt?.toISOString() ?? null,
  }
  if (status === 'waiting') {
    const open = rows.filter((row) => row.status === 'waiting')
    const asks = open.find(({ kind }) => kind === 'ask' || kind === 'approval' || kind === 'tool')
    if (asks !== undefined) return { ...next, kind: 'person', stepKey: asks.stepKey }
    const calls = open.find(({ kind }) => kind === 'call')
    if (calls !== undefined) return { ...next, kind: 'call', stepKey: calls.stepKey }
    return { kind: 'timer', ...next }
  }
  if (status === 'paused') return { kind: 'resume', ...next }
  const isFree = (status === 'pending' || status === 'running') && workerId === null
  return isFree ? { kind: 'worker', ...next } : null
}

// This service alone writes the JSON columns of a reply, from values of the types that they are read as.
function toReplyOutput({ facts, verification, ...reply }: StoredReply): ReplyOutput {
  return {
    ...reply,
    facts: facts as unknown as readonly ReplyFact[],
    verification: verification as unknown as ReplyVerification,
  }
}
