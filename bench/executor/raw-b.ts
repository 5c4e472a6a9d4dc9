import pg from 'pg'
import { type Engine, inputOf, lookUpAccount, stepCount } from './workload.ts'

/**
 * The baseline: the least that is safe by hand. One statement per step boundary, unnamed, so seven commits for six
 * steps; no lease, fence, check or row-level security.
 */
const tables = `
  CREATE SCHEMA raw_b;
  CREATE TABLE raw_b.executions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    procedure text NOT NULL,
    version integer NOT NULL,
    state text NOT NULL,
    input jsonb NOT NULL,
    result jsonb,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
  );
  CREATE TABLE raw_b.steps (
    execution_id bigint NOT NULL,
    position integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    result jsonb,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (execution_id, position)
  )`

const begin = `
  WITH execution AS (
    INSERT INTO raw_b.executions (procedure, version, state, input)
    VALUES ('account-lookup', 1, 'running', $1) RETURNING id
  ), step AS (
    INSERT INTO raw_b.steps (execution_id, position, name, state)
    SELECT id, 1, $2, 'running' FROM execution
  )
  SELECT id FROM execution`

const finishStep = `
  UPDATE raw_b.steps SET state = 'completed', result = $3, ended_at = now()
  WHERE execution_id = $1 AND position = $2`

const goOn = `
  WITH finished AS (${finishStep})
  INSERT INTO raw_b.steps (execution_id, position, name, state) VALUES ($1, $2 + 1, $4, 'running')`

const end = `
  WITH finished AS (${finishStep})
  UPDATE raw_b.executions SET state = 'completed', result = $3, ended_at = now() WHERE id = $1`

/** Makes the baseline's own tables, beside those of the service. */
export async function createRawTables(admin: pg.Client): Promise<void> {
  await admin.query(tables)
}

/** The baseline over a pool of its own. */
export function openRawB(url: string, poolSize: number): Engine & AsyncDisposable {
  const pool = new pg.Pool({ connectionString: url, max: poolSize })
  // A connection may still be closing when its database is dropped; without a listener that would end the process.
  pool.on('error', () => {})
  return {
    name: 'raw-b',
    async runOne(index) {
      const input = inputOf(index)
      const { rows } = await pool.query(begin, [JSON.stringify(input), stepName(1)])
      const id: unknown = rows[0]?.id
      for (let step = 1; step <= stepCount; step++) {
        const result = JSON.stringify(await lookUpAccount(step, String(input.customerId)))
        if (step < stepCount) await pool.query(goOn, [id, step, result, stepName(step + 1)])
        else await pool.query(end, [id, step, result])
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

function stepName(position: number): string {
  return `look_up_${position}`
}
