import type { Generated, GeneratedAlways } from 'kysely'
import type { Json } from '../../domain/json.ts'
import type { JsonColumn, Nullable, NullableJsonColumn } from './columns.ts'

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
  /** The proposal that it was made of, told when it was made; null where a person wrote it. */
  proposal_id: Nullable<string>
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

/** A procedure that an active version calls. A trigger deletes the row when the version is active no longer. */
export interface VersionCallsTable {
  tenant_id: string
  /** The key of the procedure, which need not exist. */
  called_key: string
  version_id: string
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
