import { type Selectable, sql } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import type { Pin } from '../../domain/execution.ts'
import type { Id } from '../../domain/ids.ts'
import type { KillSwitch, SwitchKind } from '../../domain/kill-switch.ts'
import type { Principal } from '../../domain/principal.ts'
import type { DatabaseHandle, Db, Transaction } from '../connect.ts'
import type { KillSwitchesTable } from '../rows/executions.ts'

/** The number that the guard of a start takes as well, together with the tenant. */
const switchLock = 7_355_608

/**
 * Until the transaction ends. `share`: no switch of the tenant is engaged or lifted. `update`: nothing is started either,
 * and what was being started is there. Taken before any lock of a row.
 */
export async function lockSwitches(
  transaction: Transaction,
  tenantId: string,
  mode: 'share' | 'update',
): Promise<void> {
  const key = sql`${sql.lit(switchLock)}, hashtext(${tenantId})`
  await (mode === 'share'
    ? sql`SELECT pg_advisory_xact_lock_shared(${key})`
    : sql`SELECT pg_advisory_xact_lock(${key})`
  ).execute(transaction)
}

/** The switch that stops a procedure or a tool now, if one does. */
export async function findEngagedSwitch(
  db: Db,
  kind: SwitchKind,
  name: string,
): Promise<KillSwitch | undefined> {
  const row = await db
    .selectFrom('kill_switches')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('lifted_at', 'is', null)
    .executeTakeFirst()
  return row && toSwitch(row)
}

/** All that are engaged, by what they stop. */
export async function listEngagedSwitches(db: Db): Promise<readonly KillSwitch[]> {
  const rows = await db
    .selectFrom('kill_switches')
    .selectAll()
    .where('lifted_at', 'is', null)
    .orderBy('kind')
    .orderBy('name')
    .execute()
  return rows.map(toSwitch)
}

/** A run, as far as a switch concerns it. */
export interface StoppableRun {
  readonly procedureKey: string
  readonly toolContracts: Readonly<Record<string, string>>
  /** What it may call, where the tools of that count as well: before its start. */
  readonly pins?: Readonly<Record<string, Pin>> | undefined
}

/** The first switch that stops a run, as the guard of a start finds it. */
export async function findStoppingSwitch(
  db: Db,
  tenantId: string,
  { procedureKey, toolContracts, pins }: StoppableRun,
): Promise<KillSwitch | undefined> {
  const row = await db
    .selectFrom('kill_switches')
    .selectAll()
    .where(
      'id',
      '=',
      sql<string>`stopping_switch(${tenantId}, ${procedureKey}, ${canonicalJson(toolContracts)}::jsonb,
        ${pins === undefined ? null : canonicalJson(pins)}::jsonb)`,
    )
    .executeTakeFirst()
  return row && toSwitch(row)
}

/** Engages a switch. The switches are locked for update, and none is engaged for this yet. */
export async function insertSwitch(
  transaction: Transaction,
  tenantId: string,
  { id, kind, name, reason, engagedBy, engagedAt }: Omit<KillSwitch, 'liftedBy' | 'liftedAt'>,
): Promise<void> {
  await transaction
    .insertInto('kill_switches')
    .values({
      tenant_id: tenantId,
      id,
      kind,
      name,
      reason,
      engaged_by: canonicalJson(engagedBy),
      engaged_at: engagedAt,
    })
    .execute()
}

/** Lifts a switch; what it holds is still to be let go. The switches are locked for update. */
export async function updateLifted(
  transaction: Transaction,
  id: Id<'switch'>,
  by: Principal,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('kill_switches')
    .set({ lifted_by: canonicalJson(by), lifted_at: at, is_settled: false })
    .where('id', '=', id)
    .where('lifted_at', 'is', null)
    .executeTakeFirstOrThrow()
}

export async function findSwitch(db: Db, id: Id<'switch'>): Promise<KillSwitch | undefined> {
  const row = await db
    .selectFrom('kill_switches')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toSwitch(row)
}

/** Names a switch in any tenant. */
export interface SwitchPlace {
  readonly tenantId: string
  readonly switchId: Id<'switch'>
}

const unsettled = 'SELECT tenant_id, id FROM unsettled_switches($1)'

/** Up to `max` switches, of all tenants, whose executions are not all held, or let go, yet. */
export async function listUnsettledSwitches(
  system: DatabaseHandle,
  max: number,
): Promise<readonly SwitchPlace[]> {
  const rows = await system.query<{ tenant_id: string; id: Id<'switch'> }>(
    'switches_unsettled',
    unsettled,
    [max],
  )
  return rows.map(({ tenant_id, id }) => ({ tenantId: tenant_id, switchId: id }))
}

/** Says that all that a switch is to hold is held, or all that it held let go, if it is engaged as it was seen. */
export async function updateSettled(
  db: Db,
  id: Id<'switch'>,
  seen: Pick<KillSwitch, 'liftedAt'>,
): Promise<void> {
  await db
    .updateTable('kill_switches')
    .set({ is_settled: true })
    .where('id', '=', id)
    .where('lifted_at', seen.liftedAt === null ? 'is' : 'is not', null)
    .execute()
}

function toSwitch(row: Selectable<KillSwitchesTable>): KillSwitch {
  return {
    id: row.id as Id<'switch'>,
    kind: row.kind,
    name: row.name,
    reason: row.reason,
    // Written only from principals.
    engagedBy: row.engaged_by as unknown as Principal,
    engagedAt: row.engaged_at,
    liftedBy: row.lifted_by as unknown as Principal | null,
    liftedAt: row.lifted_at,
  }
}
