import { type RawBuilder, sql } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { KillSwitch } from '../../domain/kill-switch.ts'
import type { Db, Transaction } from '../connect.ts'
import { findSwitch } from './kill-switches.ts'
import { pausesUntil } from './pauses.ts'

/** How many executions are held or let go in one transaction. */
const batchSize = 500

type Switch = Pick<KillSwitch, 'id' | 'kind' | 'name'>

/**
 * The executions that go on and that a switch stops, unless somebody has paused them already. Two parts, because each is
 * read from the index of what is in progress, or waits; in one statement, because a run that wakes up goes from one to
 * the other.
 */
function stillToHold({ kind, name }: Switch): RawBuilder<unknown> {
  const stopped =
    kind === 'procedure' ? sql`procedure_key = ${name}` : sql`tool_contracts ? ${name}::text`
  return sql`
    SELECT tenant_id, id FROM executions
    WHERE status IN ('pending', 'running') AND pause_requested_at IS NULL AND ${stopped}
    UNION ALL
    SELECT tenant_id, id FROM executions
    WHERE status = 'waiting' AND pause_requested_at IS NULL AND ${stopped}`
}

/**
 * Pauses some of the executions that an engaged switch stops: at once those that nobody works on, the others before their
 * next write. What somebody else has locked is left for the next time, so that nobody waits for anybody here. Answers how
 * many it paused.
 */
export async function holdSome(transaction: Transaction, own: Switch, at: Date): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    WITH engaged AS (
      -- Whoever lifts it waits, and then finds these holds.
      SELECT tenant_id, id FROM kill_switches WHERE id = ${own.id} AND lifted_at IS NULL FOR SHARE
    ), picked AS (
      SELECT e.tenant_id, e.id FROM executions e
      WHERE (e.tenant_id, e.id) IN (${stillToHold(own)})
        AND e.ended_at IS NULL AND e.pause_requested_at IS NULL AND EXISTS (SELECT FROM engaged)
      LIMIT ${sql.lit(batchSize)}
      FOR NO KEY UPDATE SKIP LOCKED
    ), held AS (
      UPDATE executions e
      SET pause_requested_at = ${at}, wake_at = NULL, revision = e.revision + 1,
        status = CASE WHEN e.worker_id IS NULL THEN 'paused' ELSE e.status END
      FROM picked WHERE e.tenant_id = picked.tenant_id AND e.id = picked.id
      RETURNING e.tenant_id, e.id
    ), noted AS (
      INSERT INTO execution_holds (tenant_id, execution_id, switch_id)
      SELECT tenant_id, id, ${own.id} FROM held
      ON CONFLICT (tenant_id, execution_id) DO UPDATE SET switch_id = excluded.switch_id
    )
    SELECT count(*) AS n FROM held`.execute(transaction)
  return Number(rows[0]?.n ?? 0)
}

/** Whether executions go on that a switch stops. */
export async function hasMoreToHold(db: Db, own: Switch): Promise<boolean> {
  const { rows } = await sql<{ more: boolean }>`
    SELECT EXISTS (${stillToHold(own)}) AS more`.execute(db)
  return rows[0]?.more === true
}

/**
 * Lets some of the executions go on that a lifted switch has held; those that another switch stops are that one's from
 * now on. What somebody else has locked is left for the next time. The switches are locked, at least to share. Answers
 * how many it looked at.
 */
export async function releaseSome(
  transaction: Transaction,
  id: Id<'switch'>,
  at: Date,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    WITH picked AS (
      SELECT e.tenant_id, e.id, e.ended_at,
        stopping_switch(e.tenant_id, e.procedure_key, e.tool_contracts, NULL) AS other
      FROM execution_holds h JOIN executions e ON e.tenant_id = h.tenant_id AND e.id = h.execution_id
      WHERE h.switch_id = ${id}
      LIMIT ${sql.lit(batchSize)}
      FOR NO KEY UPDATE SKIP LOCKED
    ), handed AS (
      UPDATE execution_holds h SET switch_id = picked.other
      FROM picked
      WHERE h.tenant_id = picked.tenant_id AND h.execution_id = picked.id AND picked.other IS NOT NULL
    ), freed AS (
      UPDATE executions e
      SET pause_requested_at = NULL, pauses = ${pausesUntil(at, 'e')}, revision = e.revision + 1,
        status = CASE WHEN e.status = 'paused' THEN 'running' ELSE e.status END
      FROM picked
      WHERE e.tenant_id = picked.tenant_id AND e.id = picked.id AND picked.other IS NULL AND picked.ended_at IS NULL
    ), gone AS (
      DELETE FROM execution_holds h USING picked
      WHERE h.tenant_id = picked.tenant_id AND h.execution_id = picked.id AND picked.other IS NULL
    )
    SELECT count(*) AS n FROM picked`.execute(transaction)
  return Number(rows[0]?.n ?? 0)
}

/** Whether a switch still holds executions. Holds of starts that came to nothing are forgotten. */
export async function hasMoreToRelease(db: Db, id: Id<'switch'>): Promise<boolean> {
  await sql`
    DELETE FROM execution_holds h
    WHERE h.switch_id = ${id}
      AND NOT EXISTS (SELECT FROM executions e WHERE e.tenant_id = h.tenant_id AND e.id = h.execution_id)`.execute(
    db,
  )
  const held = await db
    .selectFrom('execution_holds')
    .select('execution_id')
    .where('switch_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return held !== undefined
}

/** How many executions a switch holds that have not ended. */
export async function countHeld(db: Db, id: Id<'switch'>): Promise<number> {
  const { n } = await db
    .selectFrom('execution_holds as h')
    .innerJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 'h.tenant_id').onRef('e.id', '=', 'h.execution_id'),
    )
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('h.switch_id', '=', id)
    .where('e.ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The switch that holds an execution, if one does. */
export async function findHoldingSwitch(
  db: Db,
  executionId: Id<'execution'>,
): Promise<KillSwitch | undefined> {
  const held = await db
    .selectFrom('execution_holds')
    .select('switch_id')
    .where('execution_id', '=', executionId)
    .executeTakeFirst()
  return held && findSwitch(db, held.switch_id as Id<'switch'>)
}

/** Makes an execution one that no switch holds: whoever has paused it lets it go on. */
export async function deleteHold(
  transaction: Transaction,
  executionId: Id<'execution'>,
): Promise<void> {
  await transaction.deleteFrom('execution_holds').where('execution_id', '=', executionId).execute()
}

/** A call of a writing tool that was begun, and of which nobody knows yet what came of it. */
export interface WriteInFlight {
  readonly executionId: Id<'execution'>
  readonly procedureKey: string
  readonly versionNumber: number
  readonly stepKey: string
  readonly iteration: string
  readonly tool: string
  readonly startedAt: Date
}

/** The most writes that are listed. */
export const maxWritesInFlight = 1_000

/** The writes in flight of the executions that a switch stops, the oldest execution first. */
export async function listWritesInFlight(
  db: Db,
  { kind, name }: Switch,
): Promise<readonly WriteInFlight[]> {
  const rows = await db
    .selectFrom('executions as e')
    .innerJoin('step_executions as s', (join) =>
      join.onRef('s.tenant_id', '=', 'e.tenant_id').onRef('s.execution_id', '=', 'e.id'),
    )
    .innerJoin('tool_contracts as c', (join) =>
      join
        .onRef('c.tenant_id', '=', 'e.tenant_id')
        .on('c.hash', '=', sql<string>`e.tool_contracts ->> s.tool`),
    )
    .select([
      'e.id',
      'e.procedure_key',
      'e.version_number',
      's.step_key',
      's.iteration',
      's.tool',
      's.started_at',
    ])
    .where('e.status', 'in', ['pending', 'running'])
    .where('s.status', '=', 'running')
    // As `isAttemptOpen` has it.
    .where(sql<boolean>`s.attempt > coalesce(jsonb_array_length(s.attempts), 0)`)
    .where(sql<boolean>`c.contract ->> 'effect' = 'write'`)
    .where(
      kind === 'procedure'
        ? sql<boolean>`e.procedure_key = ${name}`
        : sql<boolean>`e.tool_contracts ? ${name}::text`,
    )
    .orderBy('e.id')
    .orderBy('s.ordinal')
    .limit(maxWritesInFlight)
    .execute()
  return rows.map((row) => ({
    executionId: row.id as Id<'execution'>,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    stepKey: row.step_key,
    iteration: row.iteration,
    tool: row.tool ?? '',
    startedAt: row.started_at,
  }))
}
