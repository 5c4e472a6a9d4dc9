import type { TestDatabase } from './database.ts'

/** All rows of all tables but these, as text: what must not change while those do. */
export async function everythingBut(
  db: TestDatabase,
  tenantId: string,
  but: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  return db.asOwner(tenantId, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
    )
    const all: Record<string, readonly string[]> = {}
    for (const { name } of tables.filter((table) => !but.includes(table.name))) {
      const { rows } = await client.query<{ row: string }>(
        `SELECT t::text AS row FROM public.${name} t ORDER BY 1`,
      )
      all[name] = rows.map(({ row }) => row)
    }
    return all
  })
}
