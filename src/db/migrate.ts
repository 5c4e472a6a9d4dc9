import { type Kysely, sql } from 'kysely'
import * as tenants from '../../migrations/0001-tenants.ts'
import * as audit from '../../migrations/0002-audit.ts'
import * as procedures from '../../migrations/0003-procedures.ts'
import * as embeddings from '../../migrations/0004-embeddings.ts'
import * as executions from '../../migrations/0005-executions.ts'
import * as escalations from '../../migrations/0006-escalations.ts'
import * as demoDesk from '../../migrations/0007-demo-desk.ts'
import * as modelsSideBySide from '../../migrations/0008-models-side-by-side.ts'
import * as served from '../../migrations/0009-served.ts'
import * as guardsInFunctions from '../../migrations/0010-guards-in-functions.ts'
import * as work from '../../migrations/0011-work.ts'
import * as forgotten from '../../migrations/0012-forgotten.ts'
import * as waitsAndCalls from '../../migrations/0013-waits-and-calls.ts'
import * as toolLimits from '../../migrations/0014-tool-limits.ts'
import * as sensitiveValues from '../../migrations/0015-sensitive-values.ts'
import * as scenarios from '../../migrations/0016-scenarios.ts'
import * as calledProcedures from '../../migrations/0017-called-procedures.ts'
import * as unknownWrites from '../../migrations/0018-unknown-writes.ts'
import * as principals from '../../migrations/0019-principals.ts'
import * as reviews from '../../migrations/0020-reviews.ts'
import * as sources from '../../migrations/0021-sources.ts'
import * as backtests from '../../migrations/0022-backtests.ts'
import * as switchesAndSchedules from '../../migrations/0023-switches-and-schedules.ts'
import * as seals from '../../migrations/0024-seals.ts'
import * as checkpoints from '../../migrations/0025-checkpoints.ts'
import * as erasure from '../../migrations/0026-erasure.ts'
import * as guardsHold from '../../migrations/0027-guards-hold.ts'
import * as issuedPrincipals from '../../migrations/0028-issued-principals.ts'
import * as webhooks from '../../migrations/0029-webhooks.ts'
import * as experiences from '../../migrations/0030-experiences.ts'
import * as lessons from '../../migrations/0031-lessons.ts'
import * as figures from '../../migrations/0032-figures.ts'
import * as proposals from '../../migrations/0033-proposals.ts'
import * as outsideExecutions from '../../migrations/0034-outside-executions.ts'
import * as experienceIndexes from '../../migrations/0035-experience-indexes.ts'
import * as watchedRuns from '../../migrations/0036-watched-runs.ts'
import * as ticketVectors from '../../migrations/0037-ticket-vectors.ts'
import { ServiceError } from '../domain/errors.ts'
import { databaseRoles, prepareDatabase } from './roles.ts'
import { compareVersions, serviceVersion } from './service-version.ts'

/** What a file in migrations/ exports. */
export interface Migration {
  /** The oldest service that can work with the schema once this migration is applied: `MAJOR.MINOR.PATCH`. */
  readonly minCodeVersion: string
  /** Runs in a transaction of its own, as the owner. */
  readonly up: (db: Kysely<unknown>) => Promise<void>
}

/** All migrations in their order, by the names of their files. A test holds the list equal to the folder. */
export const migrations: ReadonlyMap<string, Migration> = new Map(
  Object.entries({
    '0001-tenants': tenants,
    '0002-audit': audit,
    '0003-procedures': procedures,
    '0004-embeddings': embeddings,
    '0005-executions': executions,
    '0006-escalations': escalations,
    '0007-demo-desk': demoDesk,
    '0008-models-side-by-side': modelsSideBySide,
    '0009-served': served,
    '0010-guards-in-functions': guardsInFunctions,
    '0011-work': work,
    '0012-forgotten': forgotten,
    '0013-waits-and-calls': waitsAndCalls,
    '0014-tool-limits': toolLimits,
    '0015-sensitive-values': sensitiveValues,
    '0016-scenarios': scenarios,
    '0017-called-procedures': calledProcedures,
    '0018-unknown-writes': unknownWrites,
    '0019-principals': principals,
    '0020-reviews': reviews,
    '0021-sources': sources,
    '0022-backtests': backtests,
    '0023-switches-and-schedules': switchesAndSchedules,
    '0024-seals': seals,
    '0025-checkpoints': checkpoints,
    '0026-erasure': erasure,
    '0027-guards-hold': guardsHold,
    '0028-issued-principals': issuedPrincipals,
    '0029-webhooks': webhooks,
    '0030-experiences': experiences,
    '0031-lessons': lessons,
    '0032-figures': figures,
    '0033-proposals': proposals,
    '0034-outside-executions': outsideExecutions,
    '0035-experience-indexes': experienceIndexes,
    '0036-watched-runs': watchedRuns,
    '0037-ticket-vectors': ticketVectors,
  }),
)

/** What has been applied to a database, in order; empty for one that was never migrated. */
export type AppliedMigrations = readonly { name: string; min_code_version: string }[]

// Any number will do, as long as no other software that shares the database takes the same.
const migrationLock = 7_355_608_001

/**
 * Brings a schema up to date and answers the names of the migrations that it applied. Any number of clients may do
 * so at once: one works, the others wait and find nothing left to do. The connection keeps no role and no lock.
 *
 * `requiredApprovals` is what the deployment requires from now on; left out, it stays as it is. `onApprovals` is told what
 * was required before when that is another number. `db` connects as a login that owns the database or is a superuser, not as one of the service's roles. `database`
 * names it in errors.
 *
 * @throws ServiceError `SCHEMA_NEEDS_NEWER_CODE` before anything is written.
 */
export async function migrateSchema(
  db: Kysely<unknown>,
  database: string,
  {
    requiredApprovals,
    onApprovals,
  }: {
    readonly requiredApprovals?: number
    readonly onApprovals?: (change: ApprovalsChange) => void
  } = {},
): Promise<readonly string[]> {
  return db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${sql.lit(migrationLock)})`.execute(connection)
    try {
      await prepareDatabase(connection)
      await sql`SET ROLE ${sql.id(databaseRoles.owner)}`.execute(connection)
      await sql`
        CREATE TABLE IF NOT EXISTS public.migrations (
          name text COLLATE "C" PRIMARY KEY,
          applied_at timestamptz(3) NOT NULL DEFAULT now(),
          min_code_version text NOT NULL
        )`.execute(connection)
      await sql`GRANT SELECT ON public.migrations TO ${sql.id(databaseRoles.app)}`.execute(
        connection,
      )
      const applied = await listApplied(connection)
      refuseNewerSchema(applied, database)
      const missing = missingMigrations(applied)
      for (const [name, migration] of missing) await applyMigration(connection, name, migration)
      if (requiredApprovals !== undefined) {
        const before = await updateGovernance(connection, requiredApprovals)
        if (before !== requiredApprovals) onApprovals?.({ before, after: requiredApprovals })
      }
      return missing.map(([name]) => name)
    } finally {
      // A connection that broke has lost both by itself, and its own error is the one to see.
      await sql`RESET ROLE`.execute(connection).catch(() => undefined)
      await sql`SELECT pg_advisory_unlock(${sql.lit(migrationLock)})`
        .execute(connection)
        .catch(() => undefined)
    }
  })
}

/**
 * Checks that this code and the schema fit each other. `applied` is what `listApplied` answered.
 *
 * @throws ServiceError `SCHEMA_OUTDATED` naming what is missing; `SCHEMA_NEEDS_NEWER_CODE` with both versions. A
 *   schema with migrations that this code does not know is fine as long as they allow for it.
 */
export function checkSchema(applied: AppliedMigrations, database: string): void {
  refuseNewerSchema(applied, database)
  const missing = missingMigrations(applied).map(([name]) => name)
  if (missing.length > 0) throw new ServiceError('SCHEMA_OUTDATED', { database, missing })
}

/** Reads what has been applied; the table must exist. */
export async function listApplied(db: Kysely<unknown>): Promise<AppliedMigrations> {
  const { rows } = await sql<{ name: string; min_code_version: string }>`
    SELECT name, min_code_version FROM public.migrations ORDER BY name`.execute(db)
  return rows
}

function missingMigrations(applied: AppliedMigrations): readonly (readonly [string, Migration])[] {
  const names = new Set(applied.map(({ name }) => name))
  return [...migrations].filter(([name]) => !names.has(name))
}

function refuseNewerSchema(applied: AppliedMigrations, database: string): void {
  for (const { name, min_code_version: required } of applied) {
    if (compareVersions(required, serviceVersion) > 0) {
      throw new ServiceError('SCHEMA_NEEDS_NEWER_CODE', {
        database,
        migration: name,
        required,
        found: serviceVersion,
      })
    }
  }
}

async function applyMigration(
  db: Kysely<unknown>,
  name: string,
  migration: Migration,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await migration.up(transaction)
    await sql`
      INSERT INTO public.migrations (name, min_code_version)
      VALUES (${name}, ${migration.minCodeVersion})`.execute(transaction)
  })
}

/** How many approvals a deployment required, and requires now. */
export interface ApprovalsChange {
  readonly before: number
  readonly after: number
}

/** Answers what was required before. A trigger tells a change in the audit log of every tenant. */
async function updateGovernance(db: Kysely<unknown>, requiredApprovals: number): Promise<number> {
  const { rows } = await sql<{ before: number }>`
    SELECT required_approvals AS before FROM public.governance`.execute(db)
  await sql`
    UPDATE public.governance SET required_approvals = ${requiredApprovals}
    WHERE required_approvals <> ${requiredApprovals}`.execute(db)
  return rows[0]?.before ?? requiredApprovals
}
