import type { Transaction } from '../db/connect.ts'
import { listScenarios, replaceScenarios } from '../db/queries/scenarios.ts'
import { findVersionTexts, type VersionListItem } from '../db/queries/versions.ts'
import type { Id } from '../domain/ids.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { AuditEntry } from './define.ts'
import { scenariosHash } from './scenario-output.ts'

/**
 * Replaces the scenarios of a draft, whose row the caller holds at its new revision, and answers what is to be said of it
 * in the audit log.
 */
export async function replaceDraftScenarios(
  transaction: Transaction,
  tenantId: string,
  draft: Pick<VersionListItem, 'id' | 'procedureKey' | 'versionNumber'>,
  revision: number,
  scenarios: readonly Scenario[],
): Promise<AuditEntry> {
  const { id, procedureKey, versionNumber } = draft
  const replaced = await listScenarios(transaction, id)
  await replaceScenarios(transaction, tenantId, id, scenarios)
  return {
    action: 'version.scenarios_set',
    entityKind: 'version',
    entityId: id,
    beforeHash: scenariosHash(replaced),
    afterHash: scenariosHash(scenarios),
    details: { procedureKey, versionNumber, revision, scenarioCount: scenarios.length },
  }
}

/** The stored text of a draft's scenarios where these are the stored ones; otherwise null. */
export async function findSameText(
  transaction: Transaction,
  id: Id<'version'>,
  scenarios: readonly Scenario[],
): Promise<string | null> {
  const stored = await listScenarios(transaction, id)
  if (scenariosHash(stored) !== scenariosHash(scenarios)) return null
  return (await findVersionTexts(transaction, id)).scenariosSource
}
