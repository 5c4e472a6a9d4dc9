import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'

/** A handle without a tenant, for the schema alone; the pool stays its opener's to end. */
export function schemaHandle(pool: pg.Pool): Kysely<unknown> {
  return new Kysely<unknown>({
    dialect: new PostgresDialect({
      pool: { connect: () => pool.connect(), end: async () => {} },
    }),
  })
}
