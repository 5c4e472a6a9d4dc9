import { type SelectQueryBuilder, sql } from 'kysely'
import type { AuditEvent } from '../../domain/audit.ts'
import type { Db } from '../connect.ts'
import type { Tables } from '../tables.ts'
import { toAuditEvent } from './evidence.ts'

/** Which events of the audit log are meant; all that are not given mean all. */
export interface EventFilter {
  /** At or after. */
  readonly from?: Date | undefined
  /** Before. */
  readonly to?: Date | undefined
  readonly action?: string | undefined
  readonly entityKind?: string | undefined
  readonly entityId?: string | undefined
  readonly principal?: string | undefined
  /** By the key in the details of the event. */
  readonly procedureKey?: string | undefined
}

/** A page of events: newest first before a number, or oldest first behind one. */
export async function listAuditEvents(
  db: Db,
  filter: EventFilter,
  page: {
    readonly limit: number
    readonly before?: number | undefined
    readonly after?: number | undefined
  },
): Promise<readonly AuditEvent[]> {
  let query = filtered(db.selectFrom('audit_events').selectAll(), filter).limit(page.limit)
  if (page.after === undefined) query = query.orderBy('seq', 'desc')
  else query = query.where('seq', '>', page.after).orderBy('seq')
  if (page.before !== undefined) query = query.where('seq', '<', page.before)
  return (await query.execute()).map(toAuditEvent)
}

function filtered<O>(
  query: SelectQueryBuilder<Tables, 'audit_events', O>,
  { from, to, action, entityKind, entityId, principal, procedureKey }: EventFilter,
): SelectQueryBuilder<Tables, 'audit_events', O> {
  let some = query
  if (from !== undefined) some = some.where('at', '>=', from)
  if (to !== undefined) some = some.where('at', '<', to)
  if (action !== undefined) some = some.where('action', '=', action)
  if (entityKind !== undefined) some = some.where('entity_kind', '=', entityKind)
  if (entityId !== undefined) some = some.where('entity_id', '=', entityId)
  if (principal !== undefined) some = some.where('actor_id', '=', principal)
  if (procedureKey !== undefined) {
    some = some.where(sql<boolean>`details::jsonb ->> 'procedureKey' = ${procedureKey}`)
  }
  return some
}
