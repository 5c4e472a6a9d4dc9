import { type AppContext, createContext } from '../../src/context.ts'
import { type Database, openDatabase } from '../../src/db/connect.ts'
import type { Caller } from '../../src/operations/define.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import type { FigureContext } from './figure.ts'

export const tenantId = 'default'

export const auditor: Caller = {
  principal: { id: 'bench', kind: 'human', roles: ['auditor'], groups: [], tenantId },
  origin: 'library',
}

/** The service on the figure's database. */
export async function openService({
  database,
}: FigureContext): Promise<AsyncDisposable & { readonly app: AppContext }> {
  const opened: Database = await openDatabase({ url: database.url })
  const config = { tenantId, logLevel: 'silent' } as const
  const app = await createContext(opened, config, { tools: [], embedder: ngramEmbedder })
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

/** Stores runs that have ended, with ten steps and a reply each, past all triggers. They name no version. */
export async function insertPastRuns({ database }: FigureContext, count: number): Promise<void> {
  const { admin } = database
  const id = `'exec_00' || lpad(i::text, 19, '0')`
  await admin.query('SET session_replication_role = replica')
  await admin.query(`
    INSERT INTO executions (tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash,
      status, outcome, semantics_version, durability, mode, input, ticket, customer_id, requester, tool_contracts,
      result, conditions, created_at, started_at, ended_at)
    SELECT '${tenantId}', ${id}, 'proc', 'PAST', 'ver', 1, repeat('0', 64), 'completed', 'resolved', 1, 'effect',
      'automatic', jsonb_build_object('transactionId', 'TXN-' || i), jsonb_build_object('text', repeat('Help me. ', 20)),
      'C-' || i % 1000, '{"id": "bench", "kind": "human"}', '{}', '{"state": "done"}', '[]', now(), now(),
      now() - interval '1 hour'
    FROM generate_series(1, ${count}) i`)
  await admin.query(`
    INSERT INTO step_executions (tenant_id, execution_id, ordinal, step_key, kind, status, attempt, input, output, tool,
      started_at, ended_at, revision)
    SELECT '${tenantId}', ${id}, o, 'step_' || o, 'tool', 'completed', 1,
      jsonb_build_object('transactionId', 'TXN-' || i),
      jsonb_build_object('state', 'failed', 'amount', '49.00 USD', 'amountValue', 49, 'note', repeat('x', 60)),
      'check', now(), now(), 2
    FROM generate_series(1, ${count}) i, generate_series(1, 10) o`)
  await admin.query(`
    INSERT INTO replies (tenant_id, execution_id, text, source, facts, verification, created_at)
    SELECT '${tenantId}', ${id}, repeat('It is done. ', 10), 'built_in', '[]', '{"ok": true}', now()
    FROM generate_series(1, ${count}) i`)
  await admin.query('RESET session_replication_role')
  await admin.query('ANALYZE')
}

/** The most memory that the heap takes while something runs, in MB. */
export async function heapPeakOf(run: () => Promise<void>): Promise<number> {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  const timer = setInterval(look, 50)
  try {
    await run()
  } finally {
    clearInterval(timer)
  }
  look()
  return Math.round(peak / 2 ** 20)
}

export async function secondsOf(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return (performance.now() - startedAt) / 1_000
}
