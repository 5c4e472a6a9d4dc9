import { insertAuditEvent } from '../db/queries/audit.ts'
import { hasRecentRead } from '../db/queries/reads.ts'
import type { OperationContext } from './define.ts'

/** What was read: one run, escalation, experience or proposal, or a list of the whole tenant. */
export type Read =
  | { readonly action: 'execution.read'; readonly entityKind: 'execution'; readonly id: string }
  | { readonly action: 'escalation.read'; readonly entityKind: 'escalation'; readonly id: string }
  | { readonly action: 'experience.read'; readonly entityKind: 'experience'; readonly id: string }
  | { readonly action: 'proposal.read'; readonly entityKind: 'proposal'; readonly id: string }
  | {
      readonly action:
        | 'executions.listed'
        | 'escalations.listed'
        | 'waiting_steps.listed'
        | 'experiences.listed'
        | 'experiences.retrieved'
        | 'proposals.listed'
        | 'gaps.listed'
      readonly entityKind: 'tenant'
    }

/** Whoever watches something reads it all the time, and is told of once in so long. */
const againAfterMs = 10 * 60_000

/**
 * Writes to the audit log that somebody has read personal data, at most once per principal and what was read in ten minutes.
 * A log that cannot be written fails no read: that is a line of the service's own log.
 */
export async function noteRead(
  { app, caller: { principal, origin }, db }: OperationContext,
  read: Read,
): Promise<void> {
  const { action, entityKind } = read
  const entityId = 'id' in read ? read.id : db.tenantId
  const at = app.clock.now()
  try {
    const since = new Date(at - againAfterMs)
    const entry = { action, entityKind, entityId }
    if (await hasRecentRead(db.kysely, { ...entry, actorId: principal.id, since })) return
    await db.kysely
      .transaction()
      .execute((transaction) => insertAuditEvent(transaction, { ...entry, at, principal, origin }))
  } catch (error) {
    app.log.error(
      { err: error, action, entityId, actorId: principal.id },
      'a read was not recorded',
    )
  }
}
