import type { AppContext } from '../context.ts'
import type { TenantDb, Transaction } from '../db/connect.ts'
import { isOutage } from '../db/database-errors.ts'
import {
  type ActivationSchedule,
  listDueSchedules,
  lockDueSchedule,
  type ScheduleEnd,
  updateScheduleEnd,
} from '../db/queries/activation-schedules.ts'
import { listActivations } from '../db/queries/activations.ts'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { findPrincipal } from '../db/queries/principals.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Id } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import { activateVersion } from './activate-version.ts'
import type { AuditEntry } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { goLive } from './go-live.ts'

const schedulesAtOnce = 100

/** A scheduled activation that was carried out, and what it came to. */
export interface CarriedOut {
  readonly scheduleId: Id<'schedule'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly end: ScheduleEnd
}

/**
 * Carries out the scheduled activations, of all tenants, that are due, and tells `onEnded` what each came to. Each is one
 * process's, however many look.
 */
export async function carryOutSchedules(
  app: AppContext,
  onEnded: (carriedOut: CarriedOut) => void = () => {},
): Promise<void> {
  const due = await listDueSchedules(
    app.database.system,
    new Date(app.clock.now()),
    schedulesAtOnce,
  )
  for (const { tenantId, scheduleId } of due) {
    const db = app.database.forTenant(tenantId)
    try {
      const done = await inSchedule(app, db, scheduleId, (transaction, schedule) =>
        activate(app, transaction, schedule),
      )
      if (done !== undefined) onEnded(done)
    } catch (error) {
      // What cannot be asked now is asked again; anything else would be refused the next time as well.
      if (isOutage(error)) throw error
      const refusal = isServiceError(error) ? error : new ServiceError('INTERNAL', {})
      if (refusal !== error) app.log.error({ err: error, scheduleId }, 'an activation has failed')
      const done = await inSchedule(app, db, scheduleId, async (_transaction, schedule) =>
        refuse(schedule, refusal),
      )
      if (done !== undefined) onEnded(done)
    }
  }
}

/** What a schedule comes to, and what the audit log is told of it. */
interface Carried {
  readonly end: ScheduleEnd
  readonly audit: readonly AuditEntry[]
  /** When it came to that; default when it was begun. */
  readonly at?: Date
}

/** Ends a schedule that is due, in one transaction with what it comes to. Nothing, when somebody else has it. */
async function inSchedule(
  app: AppContext,
  db: TenantDb,
  id: Id<'schedule'>,
  carry: (transaction: Transaction, schedule: ActivationSchedule) => Promise<Carried>,
): Promise<CarriedOut | undefined> {
  return db.kysely.transaction().execute(async (transaction) => {
    const now = app.clock.now()
    const schedule = await lockDueSchedule(transaction, id, new Date(now))
    if (schedule === undefined) return undefined
    const { end, audit, at = new Date(now) } = await carry(transaction, schedule)
    await updateScheduleEnd(transaction, id, end, at)
    const principal = schedule.scheduledBy
    for (const entry of audit) {
      await insertAuditEvent(transaction, { ...entry, principal, origin: 'schedule', at: now })
    }
    const { procedureKey, versionNumber } = schedule
    return { scheduleId: id, procedureKey, versionNumber, end }
  })
}

async function activate(
  app: AppContext,
  transaction: Transaction,
  schedule: ActivationSchedule,
): Promise<Carried> {
  const { procedureKey, versionNumber, revision, seenActive, acknowledged } = schedule
  const { revision: current } = await findProcedureVersion(transaction, procedureKey, versionNumber)
  if (current !== revision) {
    throw new ServiceError('DRAFT_STALE', { procedureKey, versionNumber, seen: revision, current })
  }
  const principal = await asOfNow(transaction, schedule.scheduledBy)
  const caller = { principal, origin: 'schedule' } as const
  const request = { procedureKey, versionNumber, seenActive, acknowledge: acknowledged }
  const { version, audit } = await goLive(app, caller, transaction, request)
  const [activation] = await listActivations(transaction, version.procedureId)
  const scheduleId = schedule.id
  return {
    end: { status: 'activated' },
    // The schedule and the version tell the same moment.
    ...(activation && { at: activation.activeFrom }),
    audit: audit.map((entry) => ({ ...entry, details: { ...entry.details, scheduleId } })),
  }
}

/**
 * Whoever scheduled it, as they are by now; for whom an application vouches, as they were then.
 *
 * @throws ServiceError `ROLE_MISSING` when they may no longer decide what serves.
 */
async function asOfNow(transaction: Transaction, principal: Principal): Promise<Principal> {
  const stored = await findPrincipal(transaction, principal.id)
  if (stored === undefined) return principal
  const { name: operation, roles: needed } = activateVersion
  const roles = stored.disabledAt === null ? stored.roles : []
  if (!needed.some((role) => roles.includes(role))) {
    throw new ServiceError('ROLE_MISSING', { operation, needed, has: roles })
  }
  return { ...principal, roles, groups: stored.groups }
}

function refuse(schedule: ActivationSchedule, { code, message }: ServiceError): Carried {
  const { procedureKey, versionNumber } = schedule
  return {
    end: { status: 'refused', problem: { code, message } },
    audit: [
      {
        action: 'activation.refused',
        entityKind: 'version',
        entityId: schedule.versionId,
        details: { procedureKey, versionNumber, scheduleId: schedule.id, code },
      },
    ],
  }
}
