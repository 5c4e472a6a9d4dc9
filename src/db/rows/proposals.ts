import type { Generated, GeneratedAlways } from 'kysely'
import type { JsonColumn, Nullable, NullableJsonColumn } from './columns.ts'

/**
 * A draft that the system suggests: docs/decisions/0024-learning.md. It is decided once, and kept whatever became of it; an
 * erasure takes its words.
 */
export interface ProposalsTable {
  tenant_id: string
  id: string
  kind: 'demonstration' | 'improvement' | 'gap'
  status: Generated<'open' | 'accepted' | 'dismissed'>
  procedure_key: string
  /** In normal form, as it would be drafted; null once it is erased. */
  definition: NullableJsonColumn
  /** Of an improvement; may name a draft that has been deleted since. */
  base_version_id: Nullable<string>
  /** `ProposalEvidence` of src/learning/proposal.ts. */
  evidence: JsonColumn
  /** SHA-256 of what was learned from; unique in the tenant. */
  evidence_hash: string
  created_by: JsonColumn
  created_at: Date
  /** Who accepted or dismissed it, and when; null while it is open. */
  decided_by: NullableJsonColumn
  decided_at: Nullable<Date>
  /** Why it was dismissed. */
  reason: Nullable<string>
  /** The draft that was made of it; may have been deleted since. */
  version_id: Nullable<string>
  erased_at: Nullable<Date>
  source: GeneratedAlways<string>
  made_with: GeneratedAlways<string>
}

/** What a proposal was learned from, and whose that is: for an erasure. Goes with the text of the proposal. */
export interface ProposalSourcesTable {
  tenant_id: string
  proposal_id: string
  /** The id of an experience, an execution or a triage item; of what was told by hand the proposal's own. */
  source_id: string
  customer_id: Nullable<string>
}
