import type { Selectable } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { DatabaseHandle, Db, Transaction } from '../connect.ts'
import type { ActivationSchedulesTable } from '../rows/procedures.ts'

/** A version that is to go live at an instant, and what came of it. */
export interface ActivationSchedule {
  readonly id: Id<'schedule'>
  readonly procedureKey: string
  readonly versionId: Id<'version'>
  readonly versionNumber: number
  /** That of the draft which was seen. */
  readonly revision: number
  /** Number of the version that was to be active until then, or null for none. */
  readonly seenActive: number | null
  /** Ids of routing findings that were accepted. */
  readonly acknowledged: readonly string[]
  readonly dueAt: Date
  readonly scheduledBy: Principal
  readonly scheduledAt: Date
  readonly status: 'open' | 'activated' | 'refused' | 'cancelled'
  /** Why it was refused. */
  readonly problem: ScheduleProblem | null
  readonly cancelledBy: Principal | null
  readonly endedAt: Date | null
}

/** The error that an activation was refused with. */
export interface ScheduleProblem {
  readonly code: string
  readonly message: string
}

/** Stores a schedule, or answers false when the version has one that is open. */
export async function insertSchedule(
  transaction: Transaction,
  schedule: Pick<
    ActivationSchedule,
    'id' | 'versionId' | 'revision' | 'seenActive' | 'acknowledged' | 'dueAt' | 'scheduledAt'
  > & { readonly procedureId: Id<'procedure'>; readonly by: Principal },
): Promise<boolean> {
  const row = await transaction
    .insertInto('activation_schedules')
    .values({
      tenant_id: schedule.by.tenantId,
      id: schedule.id,
      procedure_id: schedule.procedureId,
      version_id: schedule.versionId,
      revision: schedule.revision,
      seen_active: schedule.seenActive,
      acknowledged: canonicalJson(schedule.acknowledged),
      due_at: schedule.dueAt,
      scheduled_by: canonicalJson(schedule.by),
      scheduled_at: schedule.scheduledAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

function selectSchedules(db: Db) {
  return db
    .selectFrom('activation_schedules as s')
    .innerJoin('procedure_versions as v', (join) =>
      join.onRef('v.tenant_id', '=', 's.tenant_id').onRef('v.id', '=', 's.version_id'),
    )
    .selectAll('s')
    .select(['v.procedure_key', 'v.version_number'])
}

export async function findSchedule(
  db: Db,
  id: Id<'schedule'>,
): Promise<ActivationSchedule | undefined> {
  const row = await selectSchedules(db).where('s.id', '=', id).executeTakeFirst()
  return row && toSchedule(row)
}

/** The schedule of a version that is open, if it has one. */
export async function findOpenSchedule(
  db: Db,
  versionId: Id<'version'>,
): Promise<ActivationSchedule | undefined> {
  const row = await selectSchedules(db)
    .where('s.version_id', '=', versionId)
    .where('s.status', '=', 'open')
    .executeTakeFirst()
  return row && toSchedule(row)
}

/** Like `findSchedule`; until the transaction ends nobody else carries it out or cancels it. */
export async function lockSchedule(
  transaction: Transaction,
  id: Id<'schedule'>,
): Promise<ActivationSchedule | undefined> {
  const row = await selectSchedules(transaction)
    .where('s.id', '=', id)
    .forNoKeyUpdate('s')
    .executeTakeFirst()
  return row && toSchedule(row)
}

/** The same for one that is open and due; undefined when it is not, or somebody else has it. */
export async function lockDueSchedule(
  transaction: Transaction,
  id: Id<'schedule'>,
  now: Date,
): Promise<ActivationSchedule | undefined> {
  const row = await selectSchedules(transaction)
    .where('s.id', '=', id)
    .where('s.status', '=', 'open')
    .where('s.due_at', '<=', now)
    .forNoKeyUpdate('s')
    .skipLocked()
    .executeTakeFirst()
  return row && toSchedule(row)
}

/** A page of schedules, newest first. `before` is the last id of the page before. */
export async function listSchedules(
  db: Db,
  page: {
    readonly limit: number
    readonly before?: string | undefined
    readonly procedureKey?: string | undefined
    readonly status?: ActivationSchedule['status'] | undefined
  },
): Promise<readonly ActivationSchedule[]> {
  let query = selectSchedules(db).orderBy('s.id', 'desc').limit(page.limit)
  if (page.before !== undefined) query = query.where('s.id', '<', page.before)
  if (page.procedureKey !== undefined) {
    query = query.where('v.procedure_key', '=', page.procedureKey)
  }
  if (page.status !== undefined) query = query.where('s.status', '=', page.status)
  return (await query.execute()).map(toSchedule)
}

/** What a schedule came to. */
export type ScheduleEnd =
  | { readonly status: 'activated' }
  | { readonly status: 'refused'; readonly problem: ScheduleProblem }
  | { readonly status: 'cancelled'; readonly by: Principal }

/** Ends a schedule that is locked and open. */
export async function updateScheduleEnd(
  transaction: Transaction,
  id: Id<'schedule'>,
  end: ScheduleEnd,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('activation_schedules')
    .set({
      status: end.status,
      problem: end.status === 'refused' ? canonicalJson(end.problem) : null,
      cancelled_by: end.status === 'cancelled' ? canonicalJson(end.by) : null,
      ended_at: at,
    })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Names a schedule in any tenant. */
export interface SchedulePlace {
  readonly tenantId: string
  readonly scheduleId: Id<'schedule'>
}

/** Up to `max` open schedules, of all tenants, that are due at an instant, the earliest first. */
export async function listDueSchedules(
  system: DatabaseHandle,
  now: Date,
  max: number,
): Promise<readonly SchedulePlace[]> {
  const rows = await system.query<{ tenant_id: string; id: Id<'schedule'> }>(
    'schedules_due',
    'SELECT tenant_id, id FROM due_schedules($1, $2)',
    [now, max],
  )
  return rows.map(({ tenant_id, id }) => ({ tenantId: tenant_id, scheduleId: id }))
}

function toSchedule(
  row: Selectable<ActivationSchedulesTable> & {
    readonly procedure_key: string
    readonly version_number: number
  },
): ActivationSchedule {
  return {
    id: row.id as Id<'schedule'>,
    procedureKey: row.procedure_key,
    versionId: row.version_id as Id<'version'>,
    versionNumber: row.version_number,
    revision: row.revision,
    seenActive: row.seen_active,
    // Written only here, from values of these types.
    acknowledged: row.acknowledged as readonly string[],
    dueAt: row.due_at,
    scheduledBy: row.scheduled_by as unknown as Principal,
    scheduledAt: row.scheduled_at,
    status: row.status,
    problem: row.problem as unknown as ScheduleProblem | null,
    cancelledBy: row.cancelled_by as unknown as Principal | null,
    endedAt: row.ended_at,
  }
}
