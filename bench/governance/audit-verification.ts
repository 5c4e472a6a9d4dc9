import { operations } from '../../src/operations/registry.ts'
import type { Figure, FigureContext } from './figure.ts'
import {
  auditor,
  heapPeakOf,
  insertPastRuns,
  openService,
  secondsOf,
  tenantId,
} from './past-runs.ts'

const eventCount = 100_000
const runCount = 20_000

export const verificationFigure: Figure = {
  name: 'audit',
  about: '100,000 events, and 20,000 runs of ten steps that are sealed and verified',
  async measure(context) {
    await using service = await openService(context)
    const { app } = service
    await insertEvents(context)
    const verify = async () => {
      const { ok, problems } = await operations.verifyAudit.invoke(app, auditor, {})
      if (!ok) throw new Error(`the audit does not fit: ${JSON.stringify(problems[0])}`)
    }
    context.progress('verifying the events')
    let chainSeconds = 0
    const cpuBefore = process.cpuUsage()
    const chainHeap = await heapPeakOf(async () => {
      chainSeconds = await secondsOf(verify)
    })
    const { user, system } = process.cpuUsage(cpuBefore)
    context.progress('storing and sealing runs')
    await insertPastRuns(context, runCount)
    const sealSeconds = await secondsOf(async () => {
      await operations.sealExecutions.invoke(app, auditor, {})
    })
    context.progress('verifying all of it')
    let allSeconds = 0
    const allHeap = await heapPeakOf(async () => {
      allSeconds = await secondsOf(verify)
    })
    return [
      { what: 'verify 100,000 events, s', value: rounded(chainSeconds), bar: { atMost: 10 } },
      {
        what: 'the same: processor of this process, s',
        value: rounded((user + system) / 1e6),
        bar: null,
      },
      { what: 'the same: heap, MB, at most', value: chainHeap, bar: null },
      { what: 'runs sealed/s', value: Math.round(runCount / sealSeconds), bar: null },
      {
        what: 'sealed runs verified/s',
        value: Math.round(runCount / Math.max(0.001, allSeconds - chainSeconds)),
        bar: null,
      },
      { what: 'the same: heap, MB, at most', value: allHeap, bar: null },
    ]
  },
}

/** In many transactions: within one, each event would look through all old forms of the chain's head. */
async function insertEvents({ database, progress }: FigureContext): Promise<void> {
  const size = 500
  // The trigger that chains them writes as the owner, whom row-level security holds as well.
  await database.admin.query("SELECT set_config('stepwarden.tenant', $1, false)", [tenantId])
  for (let first = 0; first < eventCount; first += size) {
    if (first % 20_000 === 0) progress(`${first} events stored`)
    await database.admin.query(`
      INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details,
        origin, ungoverned)
      SELECT '${tenantId}', 'aud_' || ${first} + i, now(), 'bench', 'human', '{"id":"bench","kind":"human"}',
        'execution.cancelled', 'execution', 'exec_' || ${first} + i,
        '{"note":"' || repeat('x', 100) || '"}', 'cli', false
      FROM generate_series(1, ${size}) i`)
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100
}
