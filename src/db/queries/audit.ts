import { canonicalJson } from '../../domain/canonical.ts'
import { newId } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Transaction } from '../connect.ts'

/** An administrative act as it is written: the database gives it its place in the chain and its hash. */
export interface NewAuditEvent {
  readonly at: number
  readonly principal: Principal
  readonly origin: string
  readonly action: string
  readonly entityKind: string
  readonly entityId: string
  readonly beforeHash?: string
  readonly afterHash?: string
  readonly details?: Readonly<Record<string, Json>>
  readonly ungoverned?: boolean
}

/**
 * Adds an event to the tenant's chain. It locks the chain's head until the transaction ends, so it is the last
 * statement of a transaction.
 */
export async function insertAuditEvent(
  transaction: Transaction,
  event: NewAuditEvent,
): Promise<void> {
  const { principal } = event
  await transaction
    .insertInto('audit_events')
    .values({
      tenant_id: principal.tenantId,
      id: newId('audit', event.at),
      at: new Date(event.at),
      actor_id: principal.id,
      actor_kind: principal.kind,
      actor: canonicalJson(principal),
      action: event.action,
      entity_kind: event.entityKind,
      entity_id: event.entityId,
      before_hash: event.beforeHash ?? null,
      after_hash: event.afterHash ?? null,
      details: canonicalJson(event.details ?? {}),
      origin: event.origin,
      ungoverned: event.ungoverned ?? false,
    })
    .execute()
}
