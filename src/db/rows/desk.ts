import type { Nullable } from './columns.ts'

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
