import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { type Called, findExecution, listCalled, lockExecution } from '../db/queries/executions.ts'
import { insertExecution, type NewExecution } from '../db/queries/insert-execution.ts'
import { listSensitiveValues } from '../db/queries/sensitive-values.ts'
import { findVersionById } from '../db/queries/versions.ts'
import { markExecution } from '../db/queries/work.ts'
import type { ExecutionStart, StepRow } from '../domain/execution.ts'
import { type Id, newId } from '../domain/ids.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { openResult } from '../domain/open-record.ts'
import { dueOf } from '../executor/due.ts'
import type { Children } from '../executor/ports.ts'
import type { ChildEnd } from '../executor/waits.ts'
import { planOfVersion } from './execution-plan.ts'
import { sensitivityOf } from './sensitive-run.ts'
import { Vault } from './vault.ts'

/** The runs that a run calls: executions of their own, at most one for each step that waits for one. */
export function createChildren(app: AppContext, db: TenantDb, vault?: Vault): Children {
  return {
    async startOrFind(parent, calls) {
      const known = new Map<number, Called>()
      for (const called of await listCalled(db.kysely, parent.executionId)) {
        known.set(called.parentOrdinal, called)
      }
      const ends = new Map<number, ChildEnd>()
      for (const row of calls) {
        const called = known.get(row.ordinal)
        if (called === undefined) await startCalled(app, db, parent, row)
        else if (called.endedAt !== null) {
          const result = vault === undefined ? called.result : await openCalled(db, called, vault)
          ends.set(row.ordinal, toEnd({ ...called, result }, called.endedAt))
        }
      }
      return ends
    },
    cancel: ({ executionId }) => cancelCalled(app, db, executionId),
  }
}

/** What a called run came to, whole; what was sensitive of it there is so here. */
async function openCalled(db: TenantDb, { id, result }: Called, vault: Vault): Promise<Json> {
  const values = await listSensitiveValues(db.kysely, id)
  const opened = openResult(result, values)
  vault.learnResult(opened, values)
  return opened
}

async function startCalled(
  app: AppContext,
  db: TenantDb,
  parent: ExecutionStart,
  { ordinal, stepKey, iteration, input }: StepRow,
): Promise<void> {
  if (!isJsonObject(input) || typeof input.versionId !== 'string') {
    throw new TypeError(`step ${stepKey} does not say which version it calls`)
  }
  const version = await findVersionById(db.kysely, input.versionId as Id<'version'>)
  const caller = await findExecution(db.kysely, parent.executionId)
  if (version === undefined || caller === undefined) throw new TypeError('both were there just now')
  const now = app.clock.now()
  const { rootId, path } = parent.calledFrom ?? { rootId: parent.executionId, path: [] }
  const plan = await planOfVersion(app, db, version)
  const start: ExecutionStart = {
    ...parent,
    executionId: newId('execution', now),
    startedAt: now,
    input: isJsonObject(input.input) ? input.input : {},
    calledFrom: {
      rootId,
      parentId: parent.executionId,
      parentOrdinal: ordinal,
      path: [...path, [stepKey, iteration]],
    },
  }
  const called: NewExecution = {
    start,
    due: dueOf(plan, start),
    version,
    durability: caller.durability,
    workerId: null,
    context: null,
    ticketId: caller.ticketId,
    onBehalfOf: caller.onBehalfOf,
    idempotencyKey: null,
    requestHash: null,
  }
  const sensitivity = await sensitivityOf(app, db, plan, parent.pins)
  const sealed = sensitivity && new Vault(sensitivity, []).sealStart(called)
  await insertExecution(db, sealed?.value ?? called, sealed?.apart)
}

/** Marks the runs that a run has called, and that have not ended, to be cancelled as it was. */
export async function cancelCalled(
  app: AppContext,
  db: TenantDb,
  parentId: Id<'execution'>,
): Promise<void> {
  for (const { id, endedAt } of await listCalled(db.kysely, parentId)) {
    if (endedAt !== null) continue
    await db.kysely.transaction().execute(async (transaction) => {
      const called = await lockExecution(transaction, id)
      if (called?.endedAt !== null) return
      await markExecution(transaction, 'cancel', id, new Date(app.clock.now()))
    })
  }
}

function toEnd({ outcome, result, reason, status }: Called, endedAt: Date): ChildEnd {
  return {
    outcome,
    result,
    message: reason?.message ?? `It ended as ${status}.`,
    endedAt: endedAt.getTime(),
  }
}
