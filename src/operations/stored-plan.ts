import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { listContracts } from '../db/queries/tool-contracts.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import type { Plan } from '../executor/plan.ts'
import { isUnreadable } from '../simulation/simulation-plan.ts'

/**
 * The plan of a version that may be a draft, exactly as it was read.
 *
 * @throws ServiceError `DEFINITION_HAS_ERRORS` when a text of it cannot be read.
 */
export async function planOfStored(
  { plans }: AppContext,
  db: TenantDb,
  { definition, definitionHash, toolContracts, procedureKey, findings }: ProcedureVersion,
): Promise<Plan> {
  try {
    return await plans.get(definitionHash, toolContracts, async () => ({
      definition,
      contracts: await listContracts(db.kysely, Object.values(toolContracts)),
    }))
  } catch (error) {
    if (!isUnreadable(error)) throw error
    throw hasErrors(procedureKey, findings)
  }
}

/** Says that a definition cannot be run, with all that was found wrong in it. */
export function hasErrors(
  procedureKey: string,
  findings: readonly Finding[],
): ServiceError<'DEFINITION_HAS_ERRORS'> {
  const problems = findings.filter(({ severity }) => severity === 'error')
  return new ServiceError('DEFINITION_HAS_ERRORS', { procedureKey, problems })
}
