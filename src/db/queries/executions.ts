import { type Selectable, sql } from 'kysely'
import { storedValue } from '../../domain/canonical.ts'
import { type Reason, readReason } from '../../domain/escalation.ts'
import type {
  AttemptRecord,
  CalledFrom,
  ConditionVerdict,
  Durability,
  ExecutionEnd,
  ExecutionRecord,
  ExecutionStart,
  ExecutionStatus,
  Outcome,
  Said,
  StepError,
  StepRow,
  Ticket,
} from '../../domain/execution.ts'
import { isExecutionEnded, semanticsVersion } from '../../domain/execution.ts'
import type { Calendar } from '../../domain/expression.ts'
import type { InputSource } from '../../domain/fill-input.ts'
import type { Id } from '../../domain/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { SelectionRecord } from '../../domain/selection.ts'
import type { StepKind } from '../../domain/step.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ExecutionsTable, StepExecutionsTable } from '../rows/executions.ts'

/** An execution as lists show it. */
export interface ExecutionListItem {
  readonly id: Id<'execution'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly status: ExecutionStatus
  readonly outcome: Outcome | null
  readonly reasonCode: string | null
  readonly customerId: string | null
  readonly ticketId: string | null
  readonly createdAt: Date
  /** When the case is to be done; null where its playbook does not say. */
  readonly dueAt: Date | null
  readonly dueWarnAt: Date | null
  readonly endedAt: Date | null
}

/** Where each value of an input came from, by the name of its property. */
export type InputSources = Readonly<Record<string, InputSource>>

/** One execution without its steps. */
export interface Execution extends ExecutionListItem {
  readonly procedureId: Id<'procedure'>
  readonly versionId: Id<'version'>
  readonly definitionHash: string
  readonly durability: Durability
  readonly semanticsVersion: number
  readonly toolContracts: Readonly<Record<string, string>>
  readonly requester: Principal
  readonly onBehalfOf: string | null
  readonly input: JsonObject
  /** Null for a run that was given no input. */
  readonly inputSources: InputSources | null
  readonly ticket: Ticket | null
  /** Null for a run that was started without a search. */
  readonly selection: SelectionRecord | null
  readonly requestHash: string | null
  readonly reason: Reason | null
  readonly result: Json | null
  readonly conditions: readonly ConditionVerdict[]
  readonly revision: number
  readonly fence: number
  readonly takeOverCount: number
  /** Who works on it; null while nobody does. */
  readonly workerId: string | null
  readonly cancelRequested: boolean
  readonly pauseRequested: boolean
  readonly wakeAt: Date | null
  readonly startedAt: Date | null
  /** What is fixed at its start besides input and ticket. */
  readonly further: Pick<ExecutionStart, 'mode' | 'calendar' | 'pins' | 'calledFrom' | 'pauses'>
}

export async function findExecution(db: Db, id: Id<'execution'>): Promise<Execution | undefined> {
  const row = await db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toExecution(row)
}

/** A run that another one has called, as that one sees it. */
export interface Called {
  readonly id: Id<'execution'>
  readonly parentOrdinal: number
  readonly status: ExecutionStatus
  readonly outcome: Outcome | null
  readonly result: Json
  readonly reason: Reason | null
  readonly endedAt: Date | null
}

/** The runs that a run has called, in the order of its steps. */
export async function listCalled(db: Db, parentId: Id<'execution'>): Promise<readonly Called[]> {
  const rows = await db
    .selectFrom('executions')
    .select(['id', 'parent_ordinal', 'status', 'outcome', 'result', 'reason', 'ended_at'])
    .where('parent_id', '=', parentId)
    .orderBy('parent_ordinal')
    .execute()
  return rows.map((row) => ({
    id: row.id as Id<'execution'>,
    parentOrdinal: row.parent_ordinal ?? 0,
    status: row.status,
    outcome: row.outcome,
    result: storedValue(row.result),
    reason: toReason(row.reason),
    endedAt: row.ended_at,
  }))
}

/** Like `findExecution`; until the transaction ends nobody else changes the row. */
export async function lockExecution(
  transaction: Transaction,
  id: Id<'execution'>,
): Promise<Execution | undefined> {
  const row = await transaction
    .selectFrom('executions')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row && toExecution(row)
}

export async function findExecutionByKey(
  db: Db,
  idempotencyKey: string,
): Promise<Execution | undefined> {
  const row = await db
    .selectFrom('executions')
    .selectAll()
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row && toExecution(row)
}

/** A page of executions, newest first. `before` is the last id of the page before. */
export async function listExecutions(
  db: Db,
  page: {
    readonly limit: number
    readonly before?: string | undefined
    readonly procedureKey?: string | undefined
    readonly status?: ExecutionStatus | undefined
    readonly ticketId?: string | undefined
    readonly customerId?: string | undefined
    /** Those that this principal has started. */
    readonly requesterId?: string | undefined
    /** Those that were not done in time, as it is at this instant. */
    readonly overdueAt?: Date | undefined
  },
): Promise<readonly (ExecutionListItem & { readonly erasedAt: Date | null })[]> {
  let query = db
    .selectFrom('executions')
    .select([
      'id',
      'procedure_key',
      'version_number',
      'status',
      'outcome',
      'reason_code',
      'customer_id',
      'ticket_id',
      'created_at',
      'due_at',
      'due_warn_at',
      'ended_at',
    ])
    .select(
      sql<Date | null>`(
        SELECT r.erased_at FROM erased_records r
        WHERE r.tenant_id = executions.tenant_id AND r.execution_id = executions.id
      )`.as('erased_at'),
    )
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
  if (page.procedureKey !== undefined) query = query.where('procedure_key', '=', page.procedureKey)
  if (page.status !== undefined) query = query.where('status', '=', page.status)
  if (page.ticketId !== undefined) query = query.where('ticket_id', '=', page.ticketId)
  if (page.customerId !== undefined) query = query.where('customer_id', '=', page.customerId)
  if (page.requesterId !== undefined) {
    // Every run has a requester, so an index would cost each start (decision 0028). The planner takes a bare comparison to hold
    // for one in two hundred and sorts the whole table; of `coalesce` it expects every other, and walks the primary key back.
    query = query.where(sql<boolean>`coalesce(requester ->> 'id' = ${page.requesterId}, false)`)
  }
  if (page.overdueAt !== undefined) {
    query = query.where(sql<boolean>`due_at < coalesce(ended_at, ${page.overdueAt})`)
  }
  const rows = await query.execute()
  return rows.map((row) => ({ ...toListItem(row), erasedAt: row.erased_at }))
}

/** All steps of an execution, by ordinal. */
export async function listSteps(db: Db, executionId: Id<'execution'>): Promise<readonly StepRow[]> {
  const rows = await db
    .selectFrom('step_executions')
    .selectAll()
    .where('execution_id', '=', executionId)
    .orderBy('ordinal')
    .execute()
  return rows.map(toStepRow)
}

/** The step that was begun last, without its values. */
export async function findLastStep(
  db: Db,
  executionId: Id<'execution'>,
): Promise<Pick<StepRow, 'stepKey' | 'iteration' | 'status' | 'tool'> | undefined> {
  const row = await db
    .selectFrom('step_executions')
    .select(['step_key', 'iteration', 'status', 'tool'])
    .where('execution_id', '=', executionId)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { ...row, stepKey: row.step_key }
}

/** What of an execution belongs to its record. */
export type RecordedExecution = Pick<
  Execution,
  | 'id'
  | 'requester'
  | 'startedAt'
  | 'createdAt'
  | 'input'
  | 'ticket'
  | 'onBehalfOf'
  | 'customerId'
  | 'semanticsVersion'
  | 'further'
  | 'status'
  | 'outcome'
  | 'reason'
  | 'result'
  | 'conditions'
  | 'endedAt'
>

/** The record of an execution, as replay and recovery read it. */
export function toRecord(execution: RecordedExecution, rows: readonly StepRow[]): ExecutionRecord {
  const { id, requester, startedAt, createdAt, input, ticket } = execution
  return {
    start: {
      executionId: id,
      tenantId: requester.tenantId,
      requester,
      startedAt: (startedAt ?? createdAt).getTime(),
      input,
      ticket,
      ...(execution.onBehalfOf !== null && { onBehalfOf: execution.onBehalfOf }),
      ...(execution.customerId !== null && { customerId: execution.customerId }),
      ...(execution.semanticsVersion < semanticsVersion && {
        semanticsVersion: execution.semanticsVersion,
      }),
      ...execution.further,
    },
    rows,
    end: toEnd(execution),
  }
}

function toEnd(execution: RecordedExecution): ExecutionEnd | null {
  const { status, endedAt } = execution
  if (endedAt === null || !isExecutionEnded(status)) return null
  if (status !== 'completed' && status !== 'escalated' && status !== 'cancelled') return null
  const { outcome, reason, result, conditions } = execution
  return { status, outcome, reason, result, conditions, endedAt: endedAt.getTime() }
}

type ListColumns = Pick<
  Selectable<ExecutionsTable>,
  | 'id'
  | 'procedure_key'
  | 'version_number'
  | 'status'
  | 'outcome'
  | 'reason_code'
  | 'customer_id'
  | 'ticket_id'
  | 'created_at'
  | 'due_at'
  | 'due_warn_at'
  | 'ended_at'
>

function toListItem(row: ListColumns): ExecutionListItem {
  return {
    id: row.id as Id<'execution'>,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    status: row.status,
    outcome: row.outcome,
    reasonCode: row.reason_code,
    customerId: row.customer_id,
    ticketId: row.ticket_id,
    createdAt: row.created_at,
    dueAt: row.due_at,
    dueWarnAt: row.due_warn_at,
    endedAt: row.ended_at,
  }
}

// The JSON columns below are written only by this service, from values of the types that they are read as.
function toExecution(row: Selectable<ExecutionsTable>): Execution {
  const input = storedValue(row.input)
  return {
    ...toListItem(row),
    procedureId: row.procedure_id as Id<'procedure'>,
    versionId: row.version_id as Id<'version'>,
    definitionHash: row.definition_hash,
    durability: row.durability,
    semanticsVersion: row.semantics_version,
    toolContracts: row.tool_contracts as Readonly<Record<string, string>>,
    requester: { ...(row.requester as unknown as Principal), tenantId: row.tenant_id },
    onBehalfOf: row.on_behalf_of,
    input: isJsonObject(input) ? input : {},
    inputSources: row.input_sources as InputSources | null,
    ticket: row.ticket as Ticket | null,
    selection: row.selection as unknown as SelectionRecord | null,
    requestHash: row.request_hash,
    reason: toReason(row.reason),
    result: storedValue(row.result),
    conditions: (row.conditions ?? []) as unknown as readonly ConditionVerdict[],
    revision: row.revision,
    fence: row.fence,
    takeOverCount: row.take_over_count,
    workerId: row.worker_id,
    cancelRequested: row.cancel_requested_at !== null,
    pauseRequested: row.pause_requested_at !== null,
    wakeAt: row.wake_at,
    startedAt: row.started_at,
    further: toFurther(row),
  }
}

function toReason(reason: Json | null): Reason | null {
  return reason === null ? null : readReason(reason as unknown as Reason)
}

/** What is fixed at the start of an execution besides input and ticket. */
export function toFurther(
  row: Pick<
    Selectable<ExecutionsTable>,
    | 'mode'
    | 'calendar'
    | 'pins'
    | 'parent_id'
    | 'root_id'
    | 'parent_ordinal'
    | 'call_path'
    | 'pauses'
  >,
): Execution['further'] {
  return {
    ...(row.mode === 'guided' && { mode: 'guided' }),
    ...(row.calendar !== null && { calendar: row.calendar as unknown as Calendar }),
    ...(row.pins !== null && { pins: row.pins as unknown as ExecutionStart['pins'] & {} }),
    ...(row.pauses !== null && { pauses: row.pauses as unknown as ExecutionStart['pauses'] & {} }),
    ...(row.parent_id !== null && {
      calledFrom: {
        rootId: row.root_id as Id<'execution'>,
        parentId: row.parent_id as Id<'execution'>,
        parentOrdinal: row.parent_ordinal ?? 0,
        path: (row.call_path ?? []) as unknown as CalledFrom['path'],
      },
    }),
  }
}

export function toStepRow(row: Selectable<StepExecutionsTable>): StepRow {
  return {
    ordinal: row.ordinal,
    stepKey: row.step_key,
    iteration: row.iteration,
    kind: row.kind as StepKind,
    status: row.status,
    attempt: row.attempt,
    tool: row.tool,
    input: storedValue(row.input),
    output: storedValue(row.output),
    error: row.error as StepError | null,
    attempts: row.attempts as readonly AttemptRecord[] | null,
    ...(row.exchange !== null && { exchange: row.exchange as unknown as readonly Said[] }),
    startedAt: row.started_at.getTime(),
    endedAt: row.ended_at?.getTime() ?? null,
  }
}
