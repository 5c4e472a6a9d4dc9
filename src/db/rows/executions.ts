import type { Generated, GeneratedAlways } from 'kysely'
import type { JsonColumn, Nullable, NullableJsonColumn } from './columns.ts'

/** How much of one limit of a tool is used in one window. `used` never passes `at_most`: a constraint keeps it. */
export interface LimitCountersTable {
  tenant_id: string
  tool: string
  /** `calls`, or `sum:` and the path of a number in the input. */
  measure: string
  scope: 'customer' | 'procedure' | 'tenant'
  /** The customer's id or the procedure's key; empty for the tenant. */
  subject: string
  period: 'hour' | 'day' | 'week' | 'month'
  /** When the window begins. */
  starts_at: Date
  /** Decimals, as text. */
  used: string
  at_most: string
}

/**
 * One run of one version for one ticket. It is inserted while its version is active and names it by id, number and
 * hash for ever; what it was started with never changes; once it has ended, nothing does.
 */
export interface ExecutionsTable {
  tenant_id: string
  id: string
  procedure_id: string
  procedure_key: string
  version_id: string
  version_number: number
  definition_hash: string
  status: 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'escalated' | 'cancelled'
  /** Set exactly when `status` is `completed`. */
  outcome: Nullable<'resolved' | 'declined'>
  /** `{ code, message, stepKey?, text? }`; always there when escalated. */
  reason: NullableJsonColumn
  reason_code: GeneratedAlways<Nullable<string>>
  semantics_version: number
  durability: 'effect' | 'step'
  mode: 'automatic' | 'guided'
  input: JsonColumn
  ticket: NullableJsonColumn
  context: NullableJsonColumn
  customer_id: Nullable<string>
  ticket_id: Nullable<string>
  requester: JsonColumn
  on_behalf_of: Nullable<string>
  /** Unique in the tenant, for as long as the execution exists. */
  idempotency_key: Nullable<string>
  /** Of the request that came with the key. */
  request_hash: Nullable<string>
  /** The versions that it may call, by procedure key. */
  pins: NullableJsonColumn
  /** The execution that has called this one, and at which of its steps. */
  parent_id: Nullable<string>
  parent_ordinal: Nullable<number>
  /** The first of those that call one another. */
  root_id: Nullable<string>
  /** Key and iteration of each step on the way from the root. */
  call_path: NullableJsonColumn
  /** The working days that its durations are counted in. */
  calendar: NullableJsonColumn
  tool_contracts: JsonColumn
  /** Rises with each take-over; a worker that holds an older one has lost the execution. */
  fence: Generated<number>
  worker_id: Nullable<string>
  take_over_count: Generated<number>
  /** Rises with each commit and is stamped on the step rows: the id of an event stream. */
  revision: Generated<number>
  cancel_requested_at: Nullable<Date>
  pause_requested_at: Nullable<Date>
  /** `[[from, to], …]` in epoch milliseconds: when it was paused, and went on after that. */
  pauses: NullableJsonColumn
  /** When a waiting execution is to go on; null where only an answer can wake it. Of one at work: a called one has ended. */
  wake_at: Nullable<Date>
  /** How search chose the procedure; null where the caller named it. */
  selection: NullableJsonColumn
  /** For each property of the input where its value came from: `caller`, `context`, `text` or `model`. */
  input_sources: NullableJsonColumn
  result: NullableJsonColumn
  /** The verdict on each precondition, rule and completion condition. */
  conditions: NullableJsonColumn
  /** When the case is to be done, waiting included; null where its playbook does not say. */
  due_at: Nullable<Date>
  /** From when on it is soon to be done. */
  due_warn_at: Nullable<Date>
  created_at: Date
  started_at: Nullable<Date>
  /** Set exactly when the execution is completed, escalated or cancelled. */
  ended_at: Nullable<Date>
}

/**
 * The record of one step in one execution, per loop iteration. No foreign key leads to the execution: a statement
 * that writes one selects from the execution's locked row. Once it has ended it never changes.
 */
export interface StepExecutionsTable {
  tenant_id: string
  execution_id: string
  /** The order of the record, from 1. */
  ordinal: number
  step_key: string
  /** Empty outside loops. */
  iteration: Generated<string>
  kind: string
  status: 'running' | 'waiting' | 'completed' | 'failed' | 'skipped' | 'expired' | 'denied'
  /** Attempts begun; 0 for a step that was skipped. */
  attempt: Generated<number>
  /** What is sent, committed before a write is called; a repeat sends the same. */
  input: NullableJsonColumn
  output: NullableJsonColumn
  /** `{ code, message }`. */
  error: NullableJsonColumn
  /** The attempts before this one. */
  attempts: NullableJsonColumn
  /** What was said while it waited. */
  exchange: NullableJsonColumn
  tool: Nullable<string>
  started_at: Date
  /** Null exactly while running or waiting. */
  ended_at: Nullable<Date>
  /** The execution's revision at the commit that wrote this row last. */
  revision: number
}

/**
 * A value that is kept out of a row of an execution or of a step of it, where a mark or a text without it stands. Only
 * deciding and replay read it; no row ever changes.
 */
export interface SensitiveValuesTable {
  tenant_id: string
  execution_id: string
  /** That of the step; 0 for the execution itself. */
  ordinal: number
  /** The column that it belongs into. */
  part: string
  /** Where in the column: RFC 6901, at most 500 characters. */
  pointer: string
  /** Whether a mark stands in its place; else a text without its sensitive parts. */
  is_whole: boolean
  /** SHA-256 over salt and value, in lower-case hex. */
  digest: string
  salt: string
  /** Canonical JSON text. */
  value: string
}

/**
 * An order that a procedure or a tool is stopped, by its key or its name. At most one is engaged for each; it is lifted
 * once, and never deleted.
 */
export interface KillSwitchesTable {
  tenant_id: string
  id: string
  kind: 'procedure' | 'tool'
  name: string
  reason: string
  engaged_by: JsonColumn
  engaged_at: Date
  lifted_by: NullableJsonColumn
  lifted_at: Nullable<Date>
  /** Whether all that goes on is held or, once it is lifted, all that it held is let go. */
  is_settled: Generated<boolean>
}

/** An execution that is paused because a switch is engaged, and goes on when that is lifted. */
export interface ExecutionHoldsTable {
  tenant_id: string
  execution_id: string
  switch_id: string
}

/** A live worker process with its lease, by the database's clock. A row that is gone is a worker that is. */
export interface WorkersTable {
  id: string
  lease_until: Date
  started_at: Date
  address: Nullable<string>
  /** The advisory lock that its session holds while it lives. */
  lock_key: number
}

/**
 * Work for a person: a run that was handed over, at most one per execution, or a triage item without one. Why it was
 * opened never changes; once resolved only `late_outcomes` may. What was asked, done and seen follows from the execution.
 */
export interface EscalationsTable {
  tenant_id: string
  id: string
  execution_id: Nullable<string>
  reason: JsonColumn
  reason_code: GeneratedAlways<string>
  queue: string
  priority: 'low' | 'normal' | 'high' | 'urgent'
  status: Generated<'open' | 'assigned' | 'resolved'>
  assignee: Nullable<string>
  ticket: NullableJsonColumn
  /** What calls that outlived their run have answered since. */
  late_outcomes: NullableJsonColumn
  resolution: NullableJsonColumn
  opened_at: Date
  assigned_at: Nullable<Date>
  resolved_at: Nullable<Date>
}

/** A ticket that matched nothing, with the candidates that came nearest and the triage item opened for it. */
export interface CoverageGapsTable {
  tenant_id: string
  id: string
  ticket: JsonColumn
  candidates: JsonColumn
  model: string
  escalation_id: string
  /** Unique in the tenant, with the hash of the request that came with it. */
  idempotency_key: Nullable<string>
  request_hash: Nullable<string>
  /** Whose ticket it was, where the caller has said so. */
  customer_id: Nullable<string>
  created_at: Date
}

/** What was sent to the customer at the end of an execution, and what it rests on. Never changes. */
export interface RepliesTable {
  tenant_id: string
  execution_id: string
  text: string
  source: 'built_in' | 'model'
  facts: JsonColumn
  verification: JsonColumn
  created_at: Date
}
