import { type Kysely, sql } from 'kysely'

/**
 * The roles of docs/database.md. They belong to the cluster, cannot log in, and are shared by all databases in it.
 *
 * - `owner` owns tables and functions, runs migrations and retention, and is held by row-level security too.
 * - `app` is what the service runs as.
 * - `system` owns the functions that answer questions across tenants, with ids only.
 */
export const databaseRoles = {
  owner: 'stepwarden_owner',
  app: 'stepwarden_app',
  system: 'stepwarden_system',
} as const

/**
 * Makes what migrations build on: the roles, the login's membership in them, the extension, and the right to create
 * in the schema. Runs as the connecting login, under the migration lock; may be repeated.
 */
export async function prepareDatabase(db: Kysely<unknown>): Promise<void> {
  // The owner inherits nothing: as a member of `system` it may give functions to it, and yet does not see what that
  // role's policies show.
  await createRole(db, databaseRoles.owner, 'NOLOGIN NOINHERIT')
  await createRole(db, databaseRoles.app, 'NOLOGIN')
  await createRole(db, databaseRoles.system, 'NOLOGIN')
  await grantRole(db, databaseRoles.system, databaseRoles.owner)
  const {
    rows: [login],
  } = await sql<{ name: string }>`SELECT session_user::text AS name`.execute(db)
  if (login === undefined) throw new Error('a session always has a user')
  for (const role of Object.values(databaseRoles)) await grantRole(db, role, login.name)

  await sql`CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public`.execute(db)
  await sql`REVOKE CREATE ON SCHEMA public FROM PUBLIC`.execute(db)
  // A temporary type or table could stand in for one that a guard names.
  await sql`
    DO $$ BEGIN
      EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    END $$`.execute(db)
  await sql`
    GRANT USAGE, CREATE ON SCHEMA public
    TO ${sql.id(databaseRoles.owner)}, ${sql.id(databaseRoles.system)}`.execute(db)
  await sql`GRANT USAGE ON SCHEMA public TO ${sql.id(databaseRoles.app)}`.execute(db)
}

// The migration lock is one database's and roles are the cluster's: a client of another database may do the same at
// the same time. Whoever comes second finds it done, as an error of one of these kinds (`internal_error` is what
// PostgreSQL makes of two grants that meet in one catalog row).
const doneByAnother = 'duplicate_object OR unique_violation OR internal_error'

async function createRole(db: Kysely<unknown>, role: string, options: string): Promise<void> {
  await sql`
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${sql.lit(role)}) THEN
        CREATE ROLE ${sql.id(role)} ${sql.raw(options)};
      END IF;
    EXCEPTION WHEN ${sql.raw(doneByAnother)} THEN NULL;
    END $$`.execute(db)
}

async function grantRole(db: Kysely<unknown>, role: string, member: string): Promise<void> {
  await sql`
    DO $$ BEGIN
      IF NOT pg_has_role(${sql.lit(member)}, ${sql.lit(role)}, 'MEMBER') THEN
        GRANT ${sql.id(role)} TO ${sql.id(member)};
      END IF;
    EXCEPTION WHEN ${sql.raw(doneByAnother)} THEN NULL;
    END $$`.execute(db)
}
