import type { JsonColumn, Nullable } from './columns.ts'

/** A run that was made elsewhere, as somebody has told it: docs/decisions/0026-outside-executions.md. */
export interface OutsideExecutionsTable {
  tenant_id: string
  id: string
  version_id: string
  success: boolean
  /** 0 to 366 days. */
  duration_ms: number
  /** 1 to 200 characters; taken away by retention, and by an erasure of whom it names. */
  note: Nullable<string>
  /** `Principal`. */
  recorded_by: JsonColumn
  recorded_at: Date
  idempotency_key: Nullable<string>
  /** Of the request with that key. */
  request_hash: Nullable<string>
}
