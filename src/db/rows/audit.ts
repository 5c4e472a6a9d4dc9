import type { Generated, GeneratedAlways } from 'kysely'
import type { JsonColumn, Nullable } from './columns.ts'

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
