import { newId } from '../../src/domain/ids.ts'
import type { RawClient } from './database.ts'

const batchSize = 500

/**
 * Stores copies of a finished execution, as the application itself would be let: begun while its version is active, its
 * steps, its end. `changed` is given the JSON text of all its rows and the number of the copy, from 0, and answers what the
 * copy has instead; the copies begin a second apart, the last one at `until`. Answers their ids, the oldest first.
 */
export async function copyRun(
  client: RawClient,
  executionId: string,
  count: number,
  changed: (text: string, index: number) => string,
  until: number = Date.now(),
): Promise<readonly string[]> {
  const [execution] = await rowsOf(client, 'executions', 'id', executionId)
  const steps = await rowsOf(client, 'step_executions', 'execution_id', executionId)
  if (execution === undefined) throw new Error(`there is no ${executionId}`)
  const columns = {
    executions: await columnsOf(client, 'executions'),
    step_executions: await columnsOf(client, 'step_executions'),
  }
  const original = Date.parse(String(execution.created_at))
  const text = JSON.stringify({ execution, steps })
  const ids: string[] = []
  for (let first = 0; first < count; first += batchSize) {
    const copies = Array.from({ length: Math.min(batchSize, count - first) }, (_, at) => {
      const index = first + at
      const beganAt = until - (count - 1 - index) * 1_000
      const id = newId('execution', beganAt)
      ids.push(id)
      const copy = Object(JSON.parse(changed(text.replaceAll(executionId, id), index)))
      return inTime(copy, beganAt - original)
    })
    const begun = copies.map(({ execution: row }) => ({ ...row, ...unfinished }))
    await insert(client, 'executions', columns.executions, begun)
    const all = copies.flatMap(({ steps: rows }) => rows)
    await insert(client, 'step_executions', columns.step_executions, all)
    await client.query(finish, [JSON.stringify(copies.map(({ execution: row }) => row))])
  }
  return ids
}

type Row = Readonly<Record<string, unknown>>

interface Copy {
  readonly execution: Row
  readonly steps: readonly Row[]
}

const unfinished = {
  ...{ status: 'running', outcome: null, reason: null, result: null, conditions: null },
  ...{ ended_at: null, worker_id: null, idempotency_key: null, request_hash: null },
}

const finish = `
  UPDATE executions e SET status = r.status, outcome = r.outcome, reason = r.reason, result = r.result,
    conditions = r.conditions, ended_at = r.ended_at
  FROM jsonb_populate_recordset(NULL::executions, $1::jsonb) r
  WHERE e.tenant_id = r.tenant_id AND e.id = r.id`

async function rowsOf(
  client: RawClient,
  table: string,
  column: string,
  id: string,
): Promise<readonly Row[]> {
  const { rows } = await client.query<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${column} = $1`,
    [id],
  )
  return rows.map(({ row }) => row)
}

async function columnsOf(client: RawClient, table: string): Promise<string> {
  const { rows } = await client.query<{ names: string }>(
    `SELECT string_agg(attname, ', ' ORDER BY attnum) AS names FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  )
  return rows[0]?.names ?? ''
}

async function insert(
  client: RawClient,
  table: string,
  columns: string,
  rows: readonly Row[],
): Promise<void> {
  await client.query(
    `INSERT INTO ${table} (${columns})
     SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  )
}

/** The same so much later, the instants in the attempts included. */
function inTime({ execution, steps }: Copy, laterMs: number): Copy {
  const moved = (row: Row): Row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        name.endsWith('_at') && typeof value === 'string'
          ? new Date(Date.parse(value) + laterMs).toISOString()
          : value,
      ]),
    )
  return { execution: moved(execution), steps: steps.map(moved) }
}
