import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { type Execution, findExecution, listSteps } from '../db/queries/executions.ts'
import { insertReply } from '../db/queries/replies.ts'
import { isExecutionEnded } from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import { fillInput } from '../domain/fill-input.ts'
import type { Id } from '../domain/ids.ts'
import { sensitiveInText } from '../domain/sensitive-text.ts'
import type { Condition } from '../domain/step.ts'
import { walkSteps } from '../domain/step.ts'
import { scopeOf } from '../executor/evaluate.ts'
import type { Plan } from '../executor/plan.ts'
import { replay } from '../executor/replay.ts'
import { approvedReply, composeReply, endingOf, type ReplyRequest } from '../reply/built-in.ts'
import { claimsOf } from '../reply/claims.ts'
import { numberFacts } from '../reply/facts.ts'
import type { ReplyModel } from '../reply/model.ts'
import type { InputRecord, Reply } from '../reply/reply.ts'
import { type WrittenReply, writeReply } from '../reply/write-reply.ts'
import type { ReplyCause } from '../telemetry/meter.ts'
import { inSpan } from '../telemetry/span.ts'
import { planOfExecution } from './execution-plan.ts'
import { type RunRecord, recordedValues } from './recorded-values.ts'
import { modelOf } from './reply-model.ts'
import { openRun, sensitivityOf } from './sensitive-run.ts'

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
  await inSpan(
    app,
    'reply',
    () => ({
      attributes: { 'stepwarden.tenant.id': db.tenantId, 'stepwarden.execution.id': id },
    }),
    (spanned) => replyOnce(spanned, db, id, inputRecord),
  )
}

async function replyOnce(
  app: AppContext,
  db: TenantDb,
  id: Id<'execution'>,
  inputRecord?: InputRecord,
): Promise<void> {
  const execution = await findExecution(db.kysely, id)
  if (execution === undefined || !isExecutionEnded(execution.status)) return
  const plan = await planOfExecution(app, db, execution)
  const rows = await listSteps(db.kysely, id)
  const sensitivity = await sensitivityOf(app, db, plan, execution.further.pins)
  const opened = await openRun(db.kysely, sensitivity, execution, rows)
  const { state } = replay(plan, opened.record)
  const scope = scopeOf(plan, state, state.lastEndedAt)
  const record = recordedValues(plan, state, opened, scope)
  const { input, ticket } = opened.record.start
  const whole = { ...execution, input, ticket }
  const request = requestOf(whole, plan, scope, record)
  const run = { execution: whole, plan, record, request }
  const { text, source, facts, verification } = await answer(app, run)
  const cause = causeOf(app, run, source, verification)
  app.meter?.replied(source, cause)
  app.span?.set({ 'stepwarden.reply.source': source, 'stepwarden.reply.cause': cause })
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
  readonly record: RunRecord
  readonly request: ReplyRequest
}

/** Why a reply is the one that it is, for those who count. */
function causeOf(
  { replyModel }: AppContext,
  { execution }: EndedRun,
  source: Reply['source'],
  { model }: Reply['verification'],
): ReplyCause {
  if (source === 'model') return 'written'
  if (replyModel === undefined) return 'no_model'
  if (execution.reason?.code === 'missing_input') return 'missing_input'
  return model?.attempts.at(-1)?.result === 'refused' ? 'draft_refused' : 'model_failed'
}

async function answer(app: AppContext, run: EndedRun): Promise<Reply> {
  const { log } = app
  const replyModel = modelOf(app, run.execution.id)
  const builtIn = composeReply(run.request)
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

function requestOf(
  execution: Execution,
  { definition }: Plan,
  scope: Scope,
  { unsayable }: RunRecord,
): ReplyRequest {
  return {
    procedure: procedureOf(execution, definition.name),
    status: execution.status,
    outcome: execution.outcome,
    reason: execution.reason,
    replies: definition.replies,
    scope,
    unsayable,
    missing: fillInput({
      schema: definition.input,
      input: execution.input,
      text: execution.ticket?.text,
    }).missing,
  }
}

function modelReply(
  model: ReplyModel,
  { execution, plan, record, request }: EndedRun,
): Promise<WrittenReply> {
  const { definition } = plan
  const ending = endingOf(execution.status, execution.outcome)
  const contracts = [...plan.tools.values()].map(({ contract }) => contract)
  const briefing = {
    procedure: request.procedure,
    completionConditions: openTexts(definition.completionConditions),
    escalationRules: openTexts(definition.escalationRules),
    tools: [...walkSteps(definition.steps)].flatMap((step) => ('tool' in step ? [step.tool] : [])),
    wording: (ending === 'cancelled' ? undefined : definition.replies?.[ending]) ?? null,
    ticket: execution.ticket,
    withheld: [
      ...record.sensitive,
      ...sensitiveInText(definition.input ?? {}, execution.ticket?.text ?? ''),
    ],
  }
  return writeReply(model, briefing, {
    ending,
    facts: numberFacts(record.values, record.unsayable),
    claims: claimsOf(contracts, record.calls),
    approved: approvedReply(request),
  })
}

function procedureOf({ procedureKey, versionNumber }: Execution, name: string) {
  return { key: procedureKey, name, versionNumber }
}

function openTexts(conditions: readonly Condition[] = []): readonly string[] {
  return conditions.flatMap(({ text, confidential }) => (confidential ? [] : [text]))
}
