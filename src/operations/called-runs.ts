import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { type Called, findExecution, listCalled, lockExecution } from '../db/queries/executions.ts'
import { insertExecution } from '../db/queries/insert-execution.ts'
import { findVersionById } from '../db/queries/versions.ts'
import { markExecution } from '../db/queries/work.ts'
import type { ExecutionStart, StepRow } from '../domain/execution.ts'
import { type Id, newId } from '../domain/ids.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Children } from '../executor/ports.ts'
import type { ChildEnd } from '../executor/waits.ts'

/** The runs that a run calls: executions of their own, at most one for each step that waits for one. */
export function createChildren(app: AppContext, db: TenantDb): Children {
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
        else if (called.endedAt !== null) ends.set(row.ordinal, toEnd(called, called.endedAt))
      }
      return ends
    },
    cancel: ({ executionId }) => cancelCalled(app, db, executionId),
  }
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
  await insertExecution(db, {
    start: {
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
    },
    version,
    durability: caller.durability,
    workerId: null,
    context: null,
    ticketId: caller.ticketId,
    onBehalfOf: caller.onBehalfOf,
    idempotencyKey: null,
    requestHash: null,
  })
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
