import { canonicalJson } from '../../domain/canonical.ts'
import type { Calendar } from '../../domain/expression.ts'
import type { Database, Db, Transaction } from '../connect.ts'

/** The working days of a tenant; undefined where it has set none. */
export async function findCalendar(db: Db, tenantId: string): Promise<Calendar | undefined> {
  const row = await calendarOf(db, tenantId).executeTakeFirst()
  return toCalendar(row)
}

/** The same; until the transaction ends nobody else sets them. */
export async function lockCalendar(
  transaction: Transaction,
  tenantId: string,
): Promise<Calendar | undefined> {
  const row = await calendarOf(transaction, tenantId).forNoKeyUpdate().executeTakeFirst()
  return toCalendar(row)
}

export async function updateCalendar(
  transaction: Transaction,
  tenantId: string,
  calendar: Calendar,
): Promise<void> {
  await transaction
    .updateTable('tenants')
    .set({ calendar: canonicalJson(calendar) })
    .where('id', '=', tenantId)
    .execute()
}

/** False when there is one of this id. */
export async function insertTenant(
  transaction: Transaction,
  id: string,
  name: string,
  at: Date,
): Promise<boolean> {
  const row = await transaction
    .insertInto('tenants')
    .values({ id, name, created_at: at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Whether there is such a tenant: of its own rows alone, so `db` is to be that tenant's. */
export async function hasTenant(db: Db, tenantId: string): Promise<boolean> {
  const row = await db
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .executeTakeFirst()
  return row !== undefined
}

/** The ids of all tenants, in order. */
export async function listTenantIds(database: Database): Promise<readonly string[]> {
  const rows = await database.system.query<{ id: string }>(
    'tenant_ids',
    'SELECT id FROM tenant_ids() AS id',
    [],
  )
  return rows.map(({ id }) => id)
}

/** After how many days the tenant erases the values of a run that has ended; null for never. */
export async function findRetentionDays(db: Db, tenantId: string): Promise<number | null> {
  const row = await retentionOf(db, tenantId).executeTakeFirst()
  return row?.retention_days ?? null
}

/** The same; until the transaction ends nobody else sets it. */
export async function lockRetentionDays(
  transaction: Transaction,
  tenantId: string,
): Promise<number | null> {
  const row = await retentionOf(transaction, tenantId).forNoKeyUpdate().executeTakeFirst()
  return row?.retention_days ?? null
}

export async function updateRetentionDays(
  transaction: Transaction,
  tenantId: string,
  days: number | null,
): Promise<void> {
  await transaction
    .updateTable('tenants')
    .set({ retention_days: days })
    .where('id', '=', tenantId)
    .execute()
}

function retentionOf(db: Db, tenantId: string) {
  return db.selectFrom('tenants').select('retention_days').where('id', '=', tenantId)
}

function calendarOf(db: Db, tenantId: string) {
  return db.selectFrom('tenants').select('calendar').where('id', '=', tenantId)
}

function toCalendar(row: { readonly calendar: unknown } | undefined): Calendar | undefined {
  // Written only by this service, from a calendar.
  return (row?.calendar as Calendar | null | undefined) ?? undefined
}
