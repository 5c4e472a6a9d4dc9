import type { Calendar } from '../../domain/expression.ts'
import type { Db } from '../connect.ts'

/** The working days of a tenant; undefined where it has set none. */
export async function findCalendar(db: Db, tenantId: string): Promise<Calendar | undefined> {
  const row = await db
    .selectFrom('tenants')
    .select('calendar')
    .where('id', '=', tenantId)
    .executeTakeFirst()
  // Written only by this service, from a calendar.
  return (row?.calendar as Calendar | null | undefined) ?? undefined
}
