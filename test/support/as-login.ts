import { sql } from 'kysely'
import { type LoginDatabase, openAsLogin } from '../../src/db/connect.ts'
import { databaseRoles } from '../../src/db/roles.ts'
import { schemaHandle } from '../../src/db/schema-handle.ts'
import type { TestDatabase } from './database.ts'

/** A test's database as whoever migrates has it. The embedded one has one session, which takes its role off meanwhile. */
export async function asLogin(db: TestDatabase): Promise<LoginDatabase> {
  if (db.kind === 'postgres') return openAsLogin(db.config, { poolSize: 2 })
  const kysely = schemaHandle(db.database.pool as never)
  await sql`RESET ROLE`.execute(kysely)
  return {
    kind: db.kind,
    kysely,
    async [Symbol.asyncDispose]() {
      await sql`SET ROLE ${sql.id(databaseRoles.app)}`.execute(kysely)
    },
  }
}
