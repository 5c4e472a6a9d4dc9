import { type AppContext, openContext } from '../../src/context.ts'
import type { TenantDb } from '../../src/db/connect.ts'
import { firstClaim, insertExecution } from '../../src/db/queries/insert-execution.ts'
import { findActiveVersion, type ProcedureVersion } from '../../src/db/queries/versions.ts'
import type { Durability } from '../../src/domain/execution.ts'
import { newId } from '../../src/domain/ids.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { initialState } from '../../src/executor/apply.ts'
import type { Plan } from '../../src/executor/plan.ts'
import { runExecution } from '../../src/executor/runner.ts'
import { activateVersion } from '../../src/operations/activate-version.ts'
import { createProcedure } from '../../src/operations/create-procedure.ts'
import type { Caller } from '../../src/operations/define.ts'
import { planOfVersion } from '../../src/operations/execution-plan.ts'
import { startExecution } from '../../src/operations/start-execution.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { accountStanding, type Playbook } from './playbook.ts'
import type { Engine } from './workload.ts'

/** One tenant's side of the workload. */
interface Desk {
  readonly db: TenantDb
  readonly caller: Caller
  readonly version: ProcedureVersion
  readonly plan: Plan
  readonly playbook: Playbook
}

/** The service on the bench's database: its context, and the engines that run in it. */
export interface Stepwarden extends AsyncDisposable {
  readonly engines: readonly Engine[]
}

/**
 * Opens the service as a process of its own would, with `poolSize` connections, and makes sure that each of
 * `tenantCount` tenants serves the procedure of the playbook. Executions go to the tenants in turn.
 */
export async function openStepwarden(
  url: string,
  poolSize: number,
  tenantCount: number,
  playbook: Playbook = accountStanding,
): Promise<Stepwarden> {
  // The configuration of a process has no pool size; the database takes one all the same.
  const database = { url, poolSize }
  const app = await openContext(
    { database, tenantId: 'default', logLevel: 'error' },
    { tools: [playbook.tool], embedder: ngramEmbedder },
  )
  try {
    const desks: Desk[] = []
    for (let index = 0; index < tenantCount; index++) {
      desks.push(await openDesk(app, playbook, index === 0 ? 'default' : `bench-${index}`))
    }
    const deskOf = (index: number): Desk => {
      const desk = desks[index % desks.length]
      if (desk === undefined) throw new TypeError('there is at least one tenant')
      return desk
    }
    return {
      engines: [
        { name: 'step', runOne: (index) => runOnce(app, deskOf(index), 'step', index) },
        { name: 'effect', runOne: (index) => runOnce(app, deskOf(index), 'effect', index) },
        { name: 'operation', runOne: (index) => callOnce(app, deskOf(index), index) },
      ],
      [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
    }
  } catch (error) {
    await app[Symbol.asyncDispose]()
    throw error
  }
}

async function openDesk(app: AppContext, playbook: Playbook, tenantId: string): Promise<Desk> {
  const db = app.database.forTenant(tenantId)
  const principal: Principal = {
    id: 'bench',
    kind: 'service',
    roles: ['admin'],
    groups: [],
    tenantId,
  }
  const caller: Caller = { principal, origin: 'library' }
  const version =
    (await findActiveVersion(db.kysely, playbook.definition.key)) ??
    (await goLive(app, playbook, db, caller))
  return { db, caller, version, plan: await planOfVersion(app, db, version), playbook }
}

async function goLive(
  app: AppContext,
  { definition }: Playbook,
  db: TenantDb,
  caller: Caller,
): Promise<ProcedureVersion> {
  const procedureKey = definition.key
  const { tenantId } = db
  await db.kysely
    .insertInto('tenants')
    .values({ id: tenantId, name: tenantId, created_at: new Date() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await createProcedure.invoke(app, caller, { definition })
  await activateVersion.invoke(app, caller, { procedureKey, versionNumber: 1, seenActive: null })
  const version = await findActiveVersion(db.kysely, procedureKey)
  if (version === undefined) throw new TypeError('the version was activated just now')
  return version
}

/** From the stored start to the stored end; what `startExecution` does besides is not in it. */
async function runOnce(
  app: AppContext,
  { db, caller, version, plan, playbook }: Desk,
  durability: Durability,
  index: number,
): Promise<void> {
  const now = app.clock.now()
  const start = {
    executionId: newId('execution', now),
    tenantId: db.tenantId,
    requester: caller.principal,
    startedAt: now,
    input: playbook.inputOf(index),
    ticket: null,
  }
  const isNew = await insertExecution(db, {
    start,
    version,
    durability,
    workerId: app.worker.id,
    context: null,
    ticketId: null,
    onBehalfOf: null,
    idempotencyKey: null,
    requestHash: null,
  })
  if (!isNew) throw new TypeError('an execution without a key is always new')
  const claim = firstClaim(start)
  const { end } = await runExecution(app, plan, initialState(plan, start), claim, durability)
  mustBeResolved(end?.outcome, end?.reason)
}

/** The whole operation: input filled in, run, reply composed and stored, record read back. */
async function callOnce(app: AppContext, { caller, playbook }: Desk, index: number): Promise<void> {
  const { execution } = await startExecution.invoke(app, caller, {
    procedureKey: playbook.definition.key,
    input: playbook.inputOf(index),
  })
  mustBeResolved(execution.outcome, execution.reason)
}

// An execution that ends early would look fast.
function mustBeResolved(outcome: unknown, reason: unknown): void {
  if (outcome === 'resolved') return
  throw new Error(`an execution ended as ${outcome}: ${JSON.stringify(reason)}`)
}
