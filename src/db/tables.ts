import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { Json } from '../domain/json.ts'

/**
 * Row types: one interface per table, in the database's own names. A test holds them equal to the live catalog.
 *
 * Every table but `embedding_models`, `workers` and `migrations` shows and accepts only the rows of the tenant that
 * the connection is tagged with. Instants are `Date`s with milliseconds; `bigint` columns are numbers below 2^53.
 */
export interface Tables {
  tenants: TenantsTable
  principals: PrincipalsTable
  api_keys: ApiKeysTable
  governance: GovernanceTable
  audit_heads: AuditHeadsTable
  audit_events: AuditEventsTable
  procedures: ProceduresTable
  procedure_versions: ProcedureVersionsTable
  scenarios: ScenariosTable
  tool_contracts: ToolContractsTable
  activations: ActivationsTable
  reviews: ReviewsTable
  embedding_models: EmbeddingModelsTable
  version_embeddings: VersionEmbeddingsTable
  literal_patterns: LiteralPatternsTable
  version_calls: VersionCallsTable
  executions: ExecutionsTable
  limit_counters: LimitCountersTable
  step_executions: StepExecutionsTable
  sensitive_values: SensitiveValuesTable
  workers: WorkersTable
  kill_switches: KillSwitchesTable
  execution_holds: ExecutionHoldsTable
  activation_schedules: ActivationSchedulesTable
  example_vectors: ExampleVectorsTable
  escalations: EscalationsTable
  coverage_gaps: CoverageGapsTable
  replies: RepliesTable
  backtests: BacktestsTable
  backtest_runs: BacktestRunsTable
  seals: SealsTable
  sealed_records: SealedRecordsTable
  record_salts: RecordSaltsTable
  erased_records: ErasedRecordsTable
  seal_cursors: SealCursorsTable
  seal_waiting: SealWaitingTable
  checkpoints: CheckpointsTable
  erasures: ErasuresTable
  erased_tickets: ErasedTicketsTable
  desk_refunds: DeskRefundsTable
  desk_messages: DeskMessagesTable
  migrations: MigrationsTable
}

/**
 * A `jsonb` column. It is written as JSON text (`canonicalJson(value)`), because the driver would turn a bare array
 * into a PostgreSQL array; it is read as a value, with its keys in no particular order.
 */
export type JsonColumn = ColumnType<Json, string, string>
export type NullableJsonColumn = ColumnType<Json | null, string | null | undefined, string | null>

/** A nullable column that may be left out of an insert, as kysely treats `T | null` already. */
type Nullable<T> = T | null

/** One customer of the installation. `id` is a slug that a person chose; `default` is there from the start. */
export interface TenantsTable {
  id: string
  name: string
  /** Working days; null for Monday to Friday. */
  calendar: NullableJsonColumn
  /** After how many days the values of a run that has ended are erased; null for never. */
  retention_days: Nullable<number>
  created_at: Date
}

/** Who may act in a tenant. An id and its kind never change; whoever leaves is disabled. */
export interface PrincipalsTable {
  tenant_id: string
  id: string
  kind: 'human' | 'ai' | 'service'
  name: string
  roles: string[]
  groups: string[]
  created_at: Date
  disabled_at: Nullable<Date>
}

/** Keys by the SHA-256 of their text, which nobody has but whom it was shown to. */
export interface ApiKeysTable {
  tenant_id: string
  id: string
  principal_id: string
  name: string
  key_hash: string
  created_at: Date
  expires_at: Nullable<Date>
  revoked_at: Nullable<Date>
}

/** One row: what the deployment requires of all tenants. Only who migrates writes it. */
export interface GovernanceTable {
  singleton: Generated<boolean>
  required_approvals: number
}

/** The end of each tenant's audit chain. Only the database writes it. `seq` 0 and no hash: no event yet. */
export interface AuditHeadsTable {
  tenant_id: string
  seq: number
  hash: Nullable<string>
}

/**
 * One administrative act. `seq`, `hash_version`, `prev_hash` and `hash` are set by the database and refused in an
 * insert; no row ever changes. `actor` (the principal) and `details` are canonical JSON *text*, because the hash is
 * taken over their bytes. See docs/decisions/0002-rows.md and `auditHash` of src/domain/audit.ts.
 */
export interface AuditEventsTable {
  tenant_id: string
  seq: GeneratedAlways<number>
  id: string
  at: Date
  actor_id: string
  actor_kind: 'human' | 'ai' | 'service'
  actor: string
  action: string
  entity_kind: string
  entity_id: Nullable<string>
  before_hash: Nullable<string>
  after_hash: Nullable<string>
  details: string
  /** Where the act came from: a door and, where there is one, an address. */
  origin: Nullable<string>
  /** True when the deployment asked for no approval. */
  ungoverned: boolean
  hash_version: GeneratedAlways<number>
  prev_hash: GeneratedAlways<Nullable<string>>
  hash: GeneratedAlways<string>
}

/** The lasting identity of a playbook. Versions are numbered by raising `latest_version_number`, never lowered. */
export interface ProceduresTable {
  tenant_id: string
  id: string
  key: string
  latest_version_number: Generated<number>
  created_at: Date
}

/**
 * One version of a procedure. It begins as a draft; once active, nothing of it changes but its status. The columns
 * generated from `definition` are there for lists, search and foreign keys.
 */
export interface ProcedureVersionsTable {
  tenant_id: string
  id: string
  procedure_id: string
  /** From 1, never given twice, also when a draft was deleted. */
  version_number: number
  status: Generated<'draft' | 'active' | 'deprecated'>
  /** The whole definition in normal form, with its steps as an array: what an execution runs. */
  definition: JsonColumn
  definition_hash: string
  summary: string
  /** The part of the summary that is embedded. */
  purpose: string
  /** `{ toolName: contractHash }` of each tool that it uses. */
  tool_contracts: JsonColumn
  /** The findings of the last check. */
  findings: JsonColumn
  /** Rises by 1 with each edit of the draft, from 1. */
  revision: Generated<number>
  /** Ids of all principals that wrote any revision; none of them may approve it. */
  author_ids: string[]
  /** May name a draft that has been deleted since. */
  based_on_version_id: Nullable<string>
  created_by: JsonColumn
  created_at: Date
  updated_by: JsonColumn
  updated_at: Date
  /** What it went live with; null for a draft, and where no approval was needed. */
  approval_digest: Nullable<string>
  /** The text that the definition was read from, at most 256 KiB; null where it came as a value. */
  source: Nullable<string>
  /** The text of its scenario file, at most 1 MiB. */
  scenarios_source: Nullable<string>
  /** When a person is to look whether it still holds, set at any time; null for never. */
  review_by: Nullable<Date>
  procedure_key: GeneratedAlways<string>
  name: GeneratedAlways<string>
  description: GeneratedAlways<string>
  category: GeneratedAlways<string>
  issue_patterns: GeneratedAlways<Json>
  internal: GeneratedAlways<boolean>
}

/**
 * A test of a version: a start, what the world says at each step, and what is expected. Written and deleted only while the
 * version is a draft, and never updated; goes with its draft when that is deleted.
 */
export interface ScenariosTable {
  tenant_id: string
  version_id: string
  /** From 1, in the order of the list. */
  position: number
  /** `Scenario` of src/domain/scenario.ts, in normal form. */
  scenario: JsonColumn
  /** Unique in the version. */
  name: GeneratedAlways<string>
}

/** A tool's contract that a version pinned, by its hash. Never changes and outlives the tool. */
export interface ToolContractsTable {
  tenant_id: string
  hash: string
  name: string
  contract: JsonColumn
}

/** A verdict on what a draft is at this moment, bound to its approval digest. Rows are only ever added. */
export interface ReviewsTable {
  tenant_id: string
  id: string
  /** In the order in which they were given. */
  seq: GeneratedAlways<number>
  procedure_id: string
  version_id: string
  digest: string
  /** `ApprovalParts` of src/domain/approval.ts, which the digest is the hash of. */
  parts: JsonColumn
  /** The database's own hash of what the version held. */
  content: GeneratedAlways<string>
  verdict: 'approve' | 'decline' | 'comment'
  comment: Nullable<string>
  /** Findings that the reviewer has seen and lets pass. */
  acknowledged: JsonColumn
  reviewer_id: string
  /** The whole principal. */
  reviewer: JsonColumn
  at: Date
}

/**
 * When a version served: the half-open range [active_from, active_until), open while `active_until` is null. Ranges
 * of one procedure do not overlap. One is inserted open, after its version became active, and closed once.
 */
export interface ActivationsTable {
  tenant_id: string
  id: string
  procedure_id: string
  version_id: string
  active_from: Date
  active_until: Nullable<Date>
  activated_by: JsonColumn
  deactivated_by: NullableJsonColumn
}

/** An embedding model with the thresholds that were measured for it; at most one is current. Not per tenant. */
export interface EmbeddingModelsTable {
  name: string
  /** 1 to 4,096. */
  dimensions: number
  /** The least similarity that can be selected, −1 to 1. */
  threshold: number
  /** The least lead over the second procedure, 0 to 2. */
  margin: number
  /** A model whose thresholds were never measured selects nothing. */
  calibrated: boolean
  is_current: Generated<boolean>
  /** Set while a switch to this model is under way; of at most one model. */
  switching_since: Nullable<Date>
}

/** A version's purpose as one model sees it. Goes with its draft when that is deleted. */
export interface VersionEmbeddingsTable {
  tenant_id: string
  model: string
  version_id: string
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  /** pgvector's text form, `[0.1,0.2]`, both ways; as long as the model says. */
  embedding: string
  dimensions: GeneratedAlways<number>
  /** The category in which search finds the version; null while it does not serve. Only the database sets it. */
  served_in: Nullable<string>
}

/**
 * An issue pattern of a version that serves, folded as search folds text, with its last eight characters, or four where it
 * has no eight. Goes when the version no longer serves.
 */
export interface LiteralPatternsTable {
  tenant_id: string
  version_id: string
  /** From 1. */
  position: number
  tail: string
  pattern: string
}

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

/** A procedure that an active version calls. A trigger deletes the row when the version is active no longer. */
export interface VersionCallsTable {
  tenant_id: string
  /** The key of the procedure, which need not exist. */
  called_key: string
  version_id: string
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

/** A version that is to go live at an instant, and what came of it. Goes with its draft when that is deleted. */
export interface ActivationSchedulesTable {
  tenant_id: string
  id: string
  procedure_id: string
  version_id: string
  /** That of the draft which was seen; another one does not go live. */
  revision: number
  /** The number of the version that was to be active until then; null for none. */
  seen_active: Nullable<number>
  /** Ids of routing findings that were accepted. */
  acknowledged: JsonColumn
  due_at: Date
  scheduled_by: JsonColumn
  scheduled_at: Date
  status: Generated<'open' | 'activated' | 'refused' | 'cancelled'>
  /** `{ code, message }` of a refusal. */
  problem: NullableJsonColumn
  cancelled_by: NullableJsonColumn
  /** Set exactly when it is open no longer. */
  ended_at: Nullable<Date>
}

/** An example of a version as one model sees it. All of a version are written together with its vectors. */
export interface ExampleVectorsTable {
  tenant_id: string
  model: string
  version_id: string
  kind: 'match' | 'noMatch'
  /** In its list, from 1. */
  position: number
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  embedding: string
  dimensions: GeneratedAlways<number>
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

/**
 * What past runs would have come to under another version. What it was begun with never changes, nor anything once it has
 * ended; it goes with its draft when that is deleted.
 */
export interface BacktestsTable {
  tenant_id: string
  id: string
  procedure_id: string
  procedure_key: string
  version_id: string
  version_number: number
  /** Of the version when it was begun: a draft may have been edited since. */
  definition_hash: string
  tool_contracts: JsonColumn
  /** What an approval of the version would have been bound to at that time. */
  approval_digest: string
  /** `BacktestFilter` of src/domain/backtest.ts. */
  filter: JsonColumn
  /** How many runs the filter matched when it was begun. */
  run_count: number
  started_by: JsonColumn
  started_at: Date
  state: Generated<'running' | 'done' | 'cancelled'>
  /** How many runs were looked at, from the newest on. */
  done_count: Generated<number>
  /** Every run with an id below this one is still to be looked at. */
  next_before: string
  /** `BacktestTally` of src/domain/backtest.ts. */
  tally: JsonColumn
  ended_at: Nullable<Date>
}

/** A past run that ends otherwise, or of which that cannot be known. Those that end as before have no row. */
export interface BacktestRunsTable {
  tenant_id: string
  backtest_id: string
  execution_id: string
  /** Of the version that the run was of. */
  version_number: number
  kind: 'different' | 'unknown'
  /** `RunVerdict` of src/domain/backtest.ts, without any value of the run. */
  verdict: JsonColumn
}

/** The Merkle root over the records of some ended runs; its event in the audit chain says the same. Never changes. */
export interface SealsTable {
  tenant_id: string
  /** From 1, without gaps. */
  number: number
  record_version: number
  /** 1 to 1,000. */
  record_count: number
  root: string
  /** The ids of the first and the last execution in it. */
  first_id: string
  last_id: string
}

/** One record in a seal: of a run, or of a reply that came after its run was sealed. Never changes. */
export interface SealedRecordsTable {
  tenant_id: string
  execution_id: string
  kind: 'run' | 'reply'
  seal_number: number
  /** From 0, in the order of the ids. */
  position: number
  leaf_hash: string
  /** Whether a reply is part of the record. */
  has_reply: boolean
}

/** The salt of the digests of one run's personal columns. Goes when the run is erased. */
export interface RecordSaltsTable {
  tenant_id: string
  execution_id: string
  /** 64 hex digits. */
  salt: string
}

/** What is left of a run's personal columns once it is erased: their digests, by path. */
export interface ErasedRecordsTable {
  tenant_id: string
  execution_id: string
  digests: JsonColumn
  erased_at: Date
  erasure_id: string
  /** The event that tells of it, of the same transaction. */
  event_id: string
}

/**
 * An erasure of one customer's data, or of what is older than a tenant keeps. Rows are begun by the service; the owner
 * functions that erase count in them and end them. docs/decisions/0017-erasure.md.
 */
export interface ErasuresTable {
  tenant_id: string
  id: string
  kind: 'customer' | 'retention'
  reason: string
  /** SHA-256 over the salt, a colon and the customer's id; the salt goes when the erasure has ended. */
  customer_digest: Nullable<string>
  customer_salt: Nullable<string>
  started_by: JsonColumn
  started_at: Date
  run_count: Generated<number>
  ticket_count: Generated<number>
  ended_at: Nullable<Date>
}

/** A ticket that no playbook fitted, and that was erased. */
export interface ErasedTicketsTable {
  tenant_id: string
  escalation_id: string
  erasure_id: string
  erased_at: Date
}

/** How far the runs of a tenant were walked through for sealing. Holding its row is holding the sealing of the tenant. */
export interface SealCursorsTable {
  tenant_id: string
  /** Every run up to this id is sealed or in `seal_waiting`. */
  walked_to: Generated<string>
  /** Behind which run the next look for late replies begins. */
  replies_from: Generated<string>
}

/** A run behind the cursor that could not be sealed when it was passed. */
export interface SealWaitingTable {
  tenant_id: string
  execution_id: string
}

/** The end of the audit chain, signed. Never changes. */
export interface CheckpointsTable {
  tenant_id: string
  seq: number
  /** The first 16 hex digits of the hash of the public key. */
  key_id: string
  hash: string
  at: Date
  /** Base64. */
  signature: string
}

/** A refund of the demo's payment desk: at most one per transaction that neither failed nor was cancelled. */
export interface DeskRefundsTable {
  tenant_id: string
  id: string
  transaction_id: string
  /** A decimal with two places, as text, so that no digit is lost. */
  amount: string
  currency: string
  state: string
  eta_business_days: Nullable<number>
  idempotency_key: string
  created_at: Date
}

/** A message that the demo's payment desk sent. */
export interface DeskMessagesTable {
  tenant_id: string
  id: string
  idempotency_key: string
  message: string
  created_at: Date
}

/** A migration that was applied, and the oldest code that can work with the schema since. Not per tenant. */
export interface MigrationsTable {
  name: string
  applied_at: Generated<Date>
  min_code_version: string
}
