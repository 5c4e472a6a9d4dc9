import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { type Execution, findExecution, listSteps, toRecord } from '../db/queries/executions.ts'
import { insertReply } from '../db/queries/replies.ts'
import { isExecutionEnded, type StepRow } from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import { fillInput } from '../domain/fill-input.ts'
import type { Id } from '../domain/ids.ts'
import type { Condition } from '../domain/step.ts'
import { walkSteps } from '../domain/step.ts'
import type { ExecutionState } from '../executor/apply.ts'
import { scopeOf } from '../executor/evaluate.ts'
import type { Plan } from '../executor/plan.ts'
import { replay } from '../executor/replay.ts'
import { approvedSentences, composeReply, endingOf } from '../reply/built-in.ts'
import { claimsOf } from '../reply/claims.ts'
import { numberFacts } from '../reply/facts.ts'
import type { ReplyModel } from '../reply/model.ts'
import type { InputRecord, Reply } from '../reply/reply.ts'
import { type WrittenReply, writeReply } from '../reply/write-reply.ts'
import { planOfExecution } from './execution-plan.ts'
import { recordedValues } from './recorded-values.ts'

/**
 * Answers the customer of an execution that has ended, from its record, and stores the answer with all that speaks for
 * it. A model writes it where there is one; whenever that gives nothing that may be sent, it is composed without. An
 * execution that has an answer keeps it.
 *
 * `inputRecord`: what a model was asked to read in the ticket before the run.
 */
export async function replyToExecution(
  app: AppContext,
  db: TenantDb,
  id: Id<'execution'>,
  inputRecord?: InputRecord,
): Promise<void> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined || !isExecutionEnded(execution.status)) return
  const plan = await planOfExecution(app, db, execution)
  const rows = await listSteps(db.kysely, id)
  const { state } = replay(plan, toRecord(execution, rows))
  const run = { execution, plan, rows, state, scope: scopeOf(plan, state, state.lastEndedAt) }
  const { text, source, facts, verification } = await answer(app, run)
  await insertReply(db.kysely, {
    text,
    source,
    facts,
    verification: { ...verification, ...(inputRecord && { input: inputRecord }) },
    tenantId: db.tenantId,
    executionId: id,
    at: new Date(app.clock.now()),
  })
}

interface EndedRun {
  readonly execution: Execution
  readonly plan: Plan
  readonly rows: readonly StepRow[]
  readonly state: ExecutionState
  /** The record at its end. */
  readonly scope: Scope
}

async function answer({ replyModel, log }: AppContext, run: EndedRun): Promise<Reply> {
  const builtIn = builtInReply(run)
  // What is missing is asked for by the words of the schema, which need no model.
  if (replyModel === undefined || run.execution.reason?.code === 'missing_input') return builtIn
  const { reply, record } = await modelReply(replyModel, run)
  if (reply !== undefined) {
    return { ...reply, source: 'model', verification: { ok: true, findings: [], model: record } }
  }
  const { id } = run.execution
  log.info(
    { executionId: id, model: record.name },
    'the built-in reply took the place of a model’s',
  )
  return { ...builtIn, verification: { ...builtIn.verification, model: record } }
}

function builtInReply({ execution, plan: { definition }, scope }: EndedRun): Reply {
  return composeReply({
    procedure: procedureOf(execution, definition.name),
    status: execution.status,
    outcome: execution.outcome,
    reason: execution.reason,
    replies: definition.replies,
    scope,
    missing: fillInput({
      schema: definition.input,
      input: execution.input,
      text: execution.ticket?.text,
    }).missing,
  })
}

function modelReply(
  model: ReplyModel,
  { execution, plan, rows, state, scope }: EndedRun,
): Promise<WrittenReply> {
  const { definition } = plan
  const { values, sensitive } = recordedValues(plan, state, rows)
  const facts = numberFacts(values, sensitive)
  const ending = endingOf(execution.status, execution.outcome)
  const wording = ending === 'cancelled' ? undefined : definition.replies?.[ending]
  const pinned = [...plan.tools.values()].map(({ contract }) => contract)
  const briefing = {
    procedure: procedureOf(execution, definition.name),
    completionConditions: openTexts(definition.completionConditions),
    escalationRules: openTexts(definition.escalationRules),
    tools: [...walkSteps(definition.steps)].flatMap((step) => ('tool' in step ? [step.tool] : [])),
    ticket: execution.ticket,
    withheld: sensitive,
  }
  return writeReply(model, briefing, {
    ending,
    procedureName: definition.name,
    facts,
    claims: claimsOf(
      pinned.map((contract) => ({
        contract,
        outputs: rows.flatMap(({ tool, status, output }) =>
          tool === contract.name && status === 'completed' ? [output ?? null] : [],
        ),
      })),
    ),
    approved: wording === undefined ? [] : approvedSentences(wording, scope, facts),
    states: pinned.flatMap(({ states }) => states),
  })
}

function procedureOf({ procedureKey, versionNumber }: Execution, name: string) {
  return { key: procedureKey, name, versionNumber }
}

function openTexts(conditions: readonly Condition[] = []): readonly string[] {
  return conditions.flatMap(({ text, confidential }) => (confidential ? [] : [text]))
}
