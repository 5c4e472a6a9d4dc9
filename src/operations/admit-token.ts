import type { Issued } from '../access/tokens.ts'
import type { AppContext } from '../context.ts'
import type { TenantDb, Transaction } from '../db/connect.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import {
  findPrincipal,
  insertPrincipal,
  type StoredPrincipal,
  updateIssued,
} from '../db/queries/principals.ts'
import { hasTenant } from '../db/queries/tenants.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import { servicePrincipal } from './audit-chore.ts'

/** A newer token that says nothing else is noted that rarely: only to show who still comes. */
const notedWithinMs = 3_600_000

/**
 * Whom a token lets in. Who has not come before is written down, and what a newer token says of somebody is taken over,
 * both told in the audit log; an older token says nothing any more, so a role that was taken away is gone with the first
 * token that lacks it.
 *
 * @throws ServiceError `KEY_REFUSED`, which does not say why (the log does, at `debug`); `ISSUER_UNAVAILABLE`.
 */
export async function admitToken(app: AppContext, token: string): Promise<Principal> {
  const read = (await app.tokens?.read(token, app.clock.now())) ?? { refused: 'no issuer is set' }
  if ('refused' in read) throw refuse(app, read.refused)
  const { issued } = read
  const db = app.database.forTenant(issued.tenantId)
  const known = await findPrincipal(db.kysely, issued.id)
  const stored = known && !isNews(known, issued) ? known : await note(app, db, issued)
  if (stored === undefined) throw refuse(app, 'there is no such tenant')
  if (stored.tokenIssuedAt === null) throw refuse(app, 'somebody else was given this id')
  if (stored.disabledAt !== null) throw refuse(app, 'whom it is of is shut out')
  // A program that asks in the name of a person, or the other way round: whoever it is, it is not who came before.
  if (stored.kind !== issued.kind) throw refuse(app, `it is of kind '${issued.kind}', and was not`)
  const { id, kind, roles, groups } = stored
  return { id, kind, roles, groups, tenantId: issued.tenantId }
}

function refuse(app: AppContext, reason: string): ServiceError<'KEY_REFUSED'> {
  app.log.debug({ reason }, 'a token was refused')
  return new ServiceError('KEY_REFUSED', {})
}

/** Whether a token is newer, and says something else or is so by much. Of who is refused anyway nothing is noted. */
function isNews(known: StoredPrincipal, issued: Issued): boolean {
  const { tokenIssuedAt, disabledAt, kind } = known
  if (tokenIssuedAt === null || disabledAt !== null || kind !== issued.kind) return false
  const newerMs = issued.issuedAt.getTime() - tokenIssuedAt.getTime()
  return newerMs > 0 && (newerMs >= notedWithinMs || !saysTheSame(known, issued))
}

function saysTheSame(known: StoredPrincipal, issued: Issued): boolean {
  return (
    known.name === issued.name &&
    known.roles.join() === issued.roles.join() &&
    known.groups.join() === issued.groups.join()
  )
}

/** Writes down who comes, and answers them as they are then. Undefined when there is no such tenant. */
async function note(
  app: AppContext,
  { kysely }: TenantDb,
  issued: Issued,
): Promise<StoredPrincipal | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    if (!(await hasTenant(transaction, issued.tenantId))) return undefined
    const before = await findPrincipal(transaction, issued.id)
    const isNew = before === undefined && (await insert(app, transaction, issued))
    const updated =
      before && isNews(before, issued)
        ? await updateIssued(transaction, issued.id, issued)
        : undefined
    const isChanged = updated !== undefined && before !== undefined && !saysTheSame(before, issued)
    // Of two who come at once, the other may have written it down, or newer still.
    const after = updated ?? (await findPrincipal(transaction, issued.id))
    if (isNew || isChanged) {
      await insertAuditEvent(transaction, eventOf(app, issued, isNew ? 'created' : 'changed'))
    }
    return after
  })
}

function insert(app: AppContext, transaction: Transaction, issued: Issued): Promise<boolean> {
  const { id, kind, name, roles, groups, tenantId, issuedAt } = issued
  const createdAt = new Date(app.clock.now())
  const row = { id, kind, name, roles, groups, createdAt, tokenIssuedAt: issuedAt }
  return insertPrincipal(transaction, tenantId, row)
}

/** Nobody here has asked for it: the issuer said so. */
function eventOf(app: AppContext, issued: Issued, what: 'created' | 'changed') {
  const { id, kind, name, roles, groups, tenantId } = issued
  return {
    at: app.clock.now(),
    principal: servicePrincipal(tenantId),
    origin: 'token',
    action: `principal.${what}`,
    entityKind: 'principal',
    entityId: id,
    details: { kind, name, roles, groups },
  } as const
}
