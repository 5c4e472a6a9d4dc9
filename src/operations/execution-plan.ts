import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import type { Execution } from '../db/queries/executions.ts'
import { listContracts } from '../db/queries/tool-contracts.ts'
import { findVersionById, type ProcedureVersion } from '../db/queries/versions.ts'
import type { Pin } from '../domain/execution.ts'
import type { Plan } from '../executor/plan.ts'

/** The plan of a version: its definition, with the contracts that it pinned. */
export function planOfVersion(
  app: AppContext,
  db: TenantDb,
  version: Pick<ProcedureVersion, 'id' | 'definitionHash' | 'toolContracts'>,
): Promise<Plan> {
  return app.plans.get(version.definitionHash, version.toolContracts, async () => {
    const stored = await findVersionById(db.kysely, version.id)
    if (stored === undefined) throw new TypeError(`version ${version.id} was there just now`)
    const contracts = await listContracts(db.kysely, Object.values(version.toolContracts))
    return { definition: stored.definition, contracts }
  })
}

/** The plan of a version that a run may call. */
export async function planOfPin(app: AppContext, db: TenantDb, pin: Pin): Promise<Plan> {
  const version = await findVersionById(db.kysely, pin.versionId)
  if (version === undefined) throw new TypeError(`version ${pin.versionId} was pinned`)
  return planOfVersion(app, db, version)
}

/** The plan of the version that an execution was started with. */
export function planOfExecution(
  app: AppContext,
  db: TenantDb,
  execution: Pick<Execution, 'versionId' | 'definitionHash' | 'toolContracts'>,
): Promise<Plan> {
  const { versionId, definitionHash, toolContracts } = execution
  return planOfVersion(app, db, { id: versionId, definitionHash, toolContracts })
}
