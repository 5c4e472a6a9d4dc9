import { type Selectable, sql } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import { erasedText } from '../../domain/erasure.ts'
import { type Reason, readReason } from '../../domain/escalation.ts'
import type { Ticket } from '../../domain/execution.ts'
import { type Id, newId } from '../../domain/ids.ts'
import type { Json, JsonObject } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'
import type { EscalationsTable } from '../rows/executions.ts'

export type EscalationStatus = 'open' | 'assigned' | 'resolved'

/** Work for a person: a run that was handed over, or a triage item, which has none. */
export interface Escalation {
  readonly id: Id<'escalation'>
  readonly executionId: Id<'execution'> | null
  readonly status: EscalationStatus
  readonly reason: Reason
  readonly queue: string
  readonly priority: 'low' | 'normal' | 'high' | 'urgent'
  readonly assignee: string | null
  readonly ticket: Ticket | null
  readonly resolution: { readonly text: string; readonly by: string } | null
  /** When the case of its execution is to be done. */
  readonly dueAt: Date | null
  readonly dueWarnAt: Date | null
  readonly openedAt: Date
  readonly assignedAt: Date | null
  readonly resolvedAt: Date | null
  /** When what it is about was erased. */
  readonly erasedAt: Date | null
}

export async function findEscalation(
  db: Db,
  id: Id<'escalation'>,
): Promise<Escalation | undefined> {
  const row = await withDue(db).where('x.id', '=', id).executeTakeFirst()
  return row && toEscalation(row)
}

export async function lockEscalation(
  transaction: Transaction,
  id: Id<'escalation'>,
): Promise<Escalation | undefined> {
  const row = await withDue(transaction).where('x.id', '=', id).forUpdate('x').executeTakeFirst()
  return row && toEscalation(row)
}

/** Escalations (`x`) with when the case of their execution (`e`) is to be done. */
function withDue(db: Db) {
  return db
    .selectFrom('escalations as x')
    .leftJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 'x.tenant_id').onRef('e.id', '=', 'x.execution_id'),
    )
    .selectAll('x')
    .select(['e.due_at', 'e.due_warn_at'])
    .select(
      sql<Date | null>`coalesce(
        (SELECT r.erased_at FROM erased_records r WHERE r.tenant_id = x.tenant_id AND r.execution_id = x.execution_id),
        (SELECT t.erased_at FROM erased_tickets t WHERE t.tenant_id = x.tenant_id AND t.escalation_id = x.id)
      )`.as('erased_at'),
    )
}

/** A page of escalations, newest first. `before` is the last id of the page before. */
export async function listEscalations(
  db: Db,
  page: {
    readonly limit: number
    readonly before?: string | undefined
    readonly status?: EscalationStatus | undefined
    readonly queue?: string | undefined
    readonly executionId?: string | undefined
    /** Those of cases that were not done in time, as it is at this instant. */
    readonly overdueAt?: Date | undefined
  },
): Promise<readonly Escalation[]> {
  let query = withDue(db).orderBy('x.id', 'desc').limit(page.limit)
  if (page.before !== undefined) query = query.where('x.id', '<', page.before)
  if (page.status !== undefined) query = query.where('x.status', '=', page.status)
  if (page.queue !== undefined) query = query.where('x.queue', '=', page.queue)
  if (page.executionId !== undefined) {
    query = query.where('x.execution_id', '=', page.executionId)
  }
  if (page.overdueAt !== undefined) {
    query = query.where(sql<boolean>`e.due_at < coalesce(x.resolved_at, ${page.overdueAt})`)
  }
  const rows = await query.execute()
  return rows.map(toEscalation)
}

/** The triage item that a request with this key has led to. */
export async function findTriageItem(
  db: Db,
  idempotencyKey: string,
): Promise<{ readonly id: Id<'escalation'>; readonly requestHash: string | null } | undefined> {
  const row = await db
    .selectFrom('coverage_gaps')
    .select(['escalation_id', 'request_hash'])
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()
  return row && { id: row.escalation_id as Id<'escalation'>, requestHash: row.request_hash }
}

/** Tickets that no procedure fitted (`g`): those of triage items that were opened for another reason are no gaps. */
export function unfitted(db: Db) {
  return db
    .selectFrom('coverage_gaps as g')
    .innerJoin('escalations as x', (join) =>
      join.onRef('x.tenant_id', '=', 'g.tenant_id').onRef('x.id', '=', 'g.escalation_id'),
    )
    .where(sql<boolean>`x.reason ->> 'code' = 'no_procedure'`)
}

/** Opens a triage item for a ticket that nothing runs for, and keeps the ticket: a repeated request finds it by its key. */
export async function insertTriageItem(
  transaction: Transaction,
  item: {
    readonly tenantId: string
    readonly reason: Reason
    readonly ticket: Ticket
    readonly customerId: string | null
    readonly candidates: readonly JsonObject[]
    readonly model: string
    readonly idempotencyKey: string | null
    readonly requestHash: string | null
    readonly at: number
  },
): Promise<Id<'escalation'>> {
  const id = newId('escalation', item.at)
  const ticket = canonicalJson(item.ticket)
  await transaction
    .insertInto('escalations')
    .values({
      tenant_id: item.tenantId,
      id,
      execution_id: null,
      reason: canonicalJson(item.reason),
      queue: item.reason.escalateTo?.queue ?? 'triage',
      priority: 'normal',
      ticket,
      opened_at: new Date(item.at),
    })
    .execute()
  await transaction
    .insertInto('coverage_gaps')
    .values({
      tenant_id: item.tenantId,
      id: newId('gap', item.at),
      ticket,
      candidates: canonicalJson(item.candidates),
      model: item.model,
      escalation_id: id,
      idempotency_key: item.idempotencyKey,
      request_hash: item.requestHash,
      customer_id: item.customerId,
      created_at: new Date(item.at),
    })
    .execute()
  return id
}

export async function updateEscalationAssignee(
  transaction: Transaction,
  id: Id<'escalation'>,
  assignee: string,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('escalations')
    .set({ status: 'assigned', assignee, assigned_at: at })
    .where('id', '=', id)
    .execute()
}

export async function updateEscalationResolved(
  transaction: Transaction,
  id: Id<'escalation'>,
  text: string,
  by: Principal,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('escalations')
    .set({
      status: 'resolved',
      resolution: canonicalJson({ text, by: by.id }),
      resolved_at: at,
    })
    .where('id', '=', id)
    .execute()
}

// The JSON columns are written only by this service, from values of the types that they are read as.
function toEscalation(
  row: Selectable<EscalationsTable> & {
    readonly due_at: Date | null
    readonly due_warn_at: Date | null
    readonly erased_at: Date | null
  },
): Escalation {
  return {
    id: row.id as Id<'escalation'>,
    executionId: row.execution_id as Id<'execution'> | null,
    status: row.status,
    reason: readReason(row.reason as unknown as Reason),
    queue: row.queue,
    priority: row.priority,
    assignee: row.assignee,
    ticket: row.ticket as Ticket | null,
    resolution: toResolution(row.resolution),
    dueAt: row.due_at,
    dueWarnAt: row.due_warn_at,
    openedAt: row.opened_at,
    assignedAt: row.assigned_at,
    resolvedAt: row.resolved_at,
    erasedAt: row.erased_at,
  }
}

/** Of one that was erased only who gave it is left. */
function toResolution(stored: Json | null): Escalation['resolution'] {
  return stored === null ? null : { text: erasedText, ...(Object(stored) as { by: string }) }
}
