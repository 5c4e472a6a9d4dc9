import type { Generated, GeneratedAlways } from 'kysely'
import type { JsonColumn, Nullable } from './columns.ts'

/** One way in which one situation was met: docs/decisions/0024-learning.md. Only what counts its use ever changes. */
export interface ExperiencesTable {
  tenant_id: string
  id: string
  /** Who has it; `executor` for runs, which record themselves. */
  agent_id: string
  situation: string
  /** SHA-256 of the folded situation. */
  situation_hash: string
  /** 1 to 1,000 of `{ step, tool, input, outputSummary }`. */
  action_sequence: JsonColumn
  /** SHA-256 of the canonical JSON of the sequence, and of its tools alone. */
  action_hash: string
  approach_hash: string
  outcome: string
  outcome_type: 'success' | 'partial_success' | 'failure'
  /** 0 to 1. */
  score: Generated<number>
  scored_by: 'given' | 'heuristic' | 'model'
  tags: Generated<string[]>
  session_id: Nullable<string>
  customer_id: Nullable<string>
  /** Of a run that has recorded itself. */
  execution_id: Nullable<string>
  recorded_by: JsonColumn
  created_at: Date
  use_count: Generated<number>
  last_used_at: Nullable<Date>
  /** How often the very same was recorded again. */
  repeat_count: Generated<number>
  /** The first of those that say the same in almost the same words; null for that one, which alone is found. */
  repeats_id: Nullable<string>
  /** The models that it has vectors of, with commas. */
  embedded_with: Generated<string>
  /** The first that the same principal has recorded of another agent, in almost the same words. */
  echoes_id: Nullable<string>
}

/** A situation as one model sees it. */
export interface ExperienceEmbeddingsTable {
  tenant_id: string
  model: string
  experience_id: string
  /** SHA-256 of the text that was embedded. */
  text_hash: string
  /** pgvector's text form, `[0.1,0.2]`, both ways. */
  embedding: string
  dimensions: GeneratedAlways<number>
}

/** How much of what an exact scan finds an index of a model finds, in a sample of a tenant's. */
export interface ExperienceRecallsTable {
  tenant_id: string
  model: string
  /** 0 to 1. */
  recall: number
  sample_count: number
  row_count: number
  measured_at: Date
  /** The files of the index that was measured: one that is built anew has others. */
  index_file: Nullable<number>
}

/** What needs an experience, so that it is not pruned. */
export interface ExperienceHoldsTable {
  tenant_id: string
  experience_id: string
  holder_id: string
}

/** How far a tenant's runs were looked at for recording, and when it was pruned. */
export interface ExperienceCursorsTable {
  tenant_id: string
  seal_number: Generated<number>
  position: Generated<number>
  pruned_at: Nullable<Date>
  /** Since when a process measures the indexes of the tenant. */
  measuring_since: Nullable<Date>
}
