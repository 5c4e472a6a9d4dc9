import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Scenario } from '../../domain/scenario.ts'
import type { Db, Transaction } from '../connect.ts'

/** The scenarios of a version, in their order. */
export async function listScenarios(
  db: Db,
  versionId: Id<'version'>,
): Promise<readonly Scenario[]> {
  const rows = await db
    .selectFrom('scenarios')
    .select('scenario')
    .where('version_id', '=', versionId)
    .orderBy('position')
    .execute()
  // Written only by `replaceScenarios`.
  return rows.map(({ scenario }) => scenario as unknown as Scenario)
}

/** Stores a list of scenarios in place of those of a draft. The caller holds the draft's row. */
export async function replaceScenarios(
  transaction: Transaction,
  tenantId: string,
  versionId: Id<'version'>,
  scenarios: readonly Scenario[],
): Promise<void> {
  await transaction.deleteFrom('scenarios').where('version_id', '=', versionId).execute()
  if (scenarios.length === 0) return
  await transaction
    .insertInto('scenarios')
    .values(
      scenarios.map((scenario, index) => ({
        tenant_id: tenantId,
        version_id: versionId,
        position: index + 1,
        scenario: canonicalJson(scenario),
      })),
    )
    .execute()
}
