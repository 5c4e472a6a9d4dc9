import { canonicalJson } from '../../domain/canonical.ts'
import { newId } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'
import { findRecordHashes } from './recorded-rows.ts'

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
 * Adds an event to the tenant's chain, with the hashes of the rows that the act has left where they are covered so. It
 * locks the chain's head until the transaction ends, so it is the last statement of a transaction.
 */
export async function insertAuditEvent(
  transaction: Transaction,
  event: NewAuditEvent,
): Promise<void> {
  const { principal } = event
  const records = await findRecordHashes(transaction, event)
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
      details: canonicalJson({ ...event.details, ...(records && { records }) }),
      origin: event.origin,
      ungoverned: event.ungoverned ?? false,
    })
    .execute()
}

/** An act of the audit log that concerns one execution. */
export interface ExecutionAct {
  readonly action: string
  readonly at: Date
  readonly actorId: string
  readonly actorKind: Principal['kind']
  readonly origin: string | null
}

/**
 * What was done to an execution, in its order: acts that name it, and those that held all executions of the service
 * (they name the tenant) while it had not ended. To look at it, or to take its evidence away, is
 * nothing that was done to it.
 */
export async function listExecutionActs(
  db: Db,
  execution: {
    readonly id: string
    readonly tenantId: string
    readonly createdAt: Date
    readonly endedAt: Date | null
  },
): Promise<readonly ExecutionAct[]> {
  const { id, tenantId, createdAt, endedAt } = execution
  return db
    .selectFrom('audit_events')
    .select(['action', 'at', 'actor_id as actorId', 'actor_kind as actorKind', 'origin'])
    .where('entity_kind', '=', 'execution')
    .where('entity_id', 'in', [id, tenantId])
    .where((eb) =>
      eb.or([
        eb('entity_id', '=', id),
        eb.and([eb('at', '>', createdAt), ...(endedAt === null ? [] : [eb('at', '<', endedAt)])]),
      ]),
    )
    .where('action', 'not in', ['execution.read', 'execution.bundled'])
    .orderBy('seq')
    .execute()
}
