import { setTimeout } from 'node:timers/promises'
import type { AppContext } from '../context.ts'
import { eraseRuns, lockEnded, lockErasure } from '../db/queries/erasures.ts'
import { listConcealments, listRunRows } from '../db/queries/run-rows.ts'
import type { CalledFrom } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import type { Principal } from '../domain/principal.ts'
import { digestsOf, type RunRows, tableRows } from '../domain/record.ts'
import { idempotencyKeyOf } from '../executor/begin-step.ts'
import type { Origin } from './define.ts'
import { sealRuns } from './seal-runs.ts'

/** How many runs are erased in one transaction, and named by one event. An embedded database does nothing else meanwhile. */
export const batchSize = { postgres: 100, pglite: 25 } as const

/** How long it is waited for another process that seals just now. */
const sealPauseMs = 100

/** Who erases, under the name of which running erasure. */
export interface Erasing {
  readonly principal: Principal
  readonly origin: Origin
  readonly erasureId: Id<'erasure'>
  /** Whether another process that is at the same erasure is waited for; else the batch is left to it. */
  readonly isWaiting: boolean
}

/**
 * Seals some runs that have ended, then takes their values out and keeps the digests, in one transaction with its event.
 * Answers how many were erased, without those that had been before; undefined when the erasure is over or another
 * process is at it.
 */
export async function eraseBatch(
  app: AppContext,
  { principal, origin, erasureId, isWaiting }: Erasing,
  what: { readonly runs: readonly string[]; readonly tickets: readonly string[] },
): Promise<{ readonly runs: number; readonly tickets: number } | undefined> {
  const { tenantId } = principal
  await seal(app, { principal, origin }, what.runs)
  const db = app.database.forTenant(tenantId)
  return db.kysely.transaction().execute(async (transaction) => {
    const erasure = await lockErasure(transaction, erasureId, { isWaiting })
    if (erasure === undefined) return undefined
    const ids = await lockEnded(transaction, what.runs)
    const runs = await listRunRows(transaction, ids, false)
    const concealments = await listConcealments(transaction, ids)
    const digests: Record<string, Readonly<Record<string, string>>> = {}
    const deskKeys: string[] = []
    for (const [id, rows] of runs) {
      const salt = concealments.get(id)?.salt
      if (salt === undefined) continue
      digests[id] = digestsOf(tableRows(rows), salt)
      deskKeys.push(...callKeys(rows))
    }
    const at = app.clock.now()
    const { tickets } = what
    return eraseRuns(
      transaction,
      erasureId,
      { digests, tickets, deskKeys },
      { principal, origin, at },
    )
  })
}

/** Seals what of these is not sealed: only then are there digests that prove what was. */
async function seal(
  app: AppContext,
  by: Pick<Erasing, 'principal' | 'origin'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  for (;;) {
    const sealing = { ...by, everything: true, among: ids }
    const count = await sealRuns(app, by.principal.tenantId, sealing)
    if (count === 0) return
    if (count === undefined) await setTimeout(sealPauseMs)
  }
}

/** The idempotency keys that the tools of a run were called with. */
function callKeys({ execution, steps }: RunRows): readonly string[] {
  const executionId = String(execution.id) as Id<'execution'>
  const start = {
    executionId,
    ...(execution.parent_id !== null && {
      calledFrom: {
        rootId: execution.root_id as Id<'execution'>,
        parentId: execution.parent_id as Id<'execution'>,
        parentOrdinal: Number(execution.parent_ordinal),
        path: execution.call_path as unknown as CalledFrom['path'],
      },
    }),
  }
  return steps
    .filter(({ tool }) => tool !== null)
    .map((step) =>
      idempotencyKeyOf(start, {
        stepKey: String(step.step_key),
        iteration: String(step.iteration),
      }),
    )
}
