import type { Generated } from 'kysely'
import type { Nullable, NullableJsonColumn } from './columns.ts'

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
  /** When the newest token that was seen of them was issued; null for whom an admin has made. */
  token_issued_at: Nullable<Date>
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
