import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { listScenarios } from '../db/queries/scenarios.ts'
import { findActiveVersion, type ProcedureVersion } from '../db/queries/versions.ts'
import { type ApprovalParts, approvalDigest } from '../domain/approval.ts'
import { hashOf } from '../domain/canonical.ts'
import { runScenarios, type SimulationReport } from '../simulation/run-scenarios.ts'
import { findSimulationPlan } from '../simulation/simulation-plan.ts'
import { callsOf } from './check-version.ts'
import { scenariosHash } from './scenario-output.ts'

/** What an approval of a version would be bound to at this moment. */
export interface Approval {
  readonly digest: string
  readonly parts: ApprovalParts
  /** What the scenarios come to; undefined when the definition cannot even be simulated. */
  readonly report: SimulationReport | undefined
}

/** Reads it with one handle alone, so that it may be asked for inside a transaction. Scenarios are run, nothing is called. */
export async function readApproval(
  app: AppContext,
  db: Db,
  version: ProcedureVersion,
): Promise<Approval> {
  const { definition, definitionHash, toolContracts } = version
  const scenarios = await listScenarios(db, version.id)
  const plan = findSimulationPlan(definition, (name) => app.tools.find(name, toolContracts[name]))
  const report = plan && runScenarios(plan, scenarios)
  const calls: Record<string, string | null> = {}
  for (const key of callsOf(definition)) calls[key] = await interfaceHash(db, key)
  const parts = {
    definition: definitionHash,
    tools: toolContracts,
    scenarios: scenariosHash(scenarios),
    results: report ? resultsHash(report) : null,
    calls,
  }
  return { digest: approvalDigest(parts), parts, report }
}

function resultsHash({ scenarios }: SimulationReport): string {
  return hashOf(
    scenarios.map(({ name, end, reason, text, path, result }) => ({
      name,
      end,
      reason,
      text,
      path,
      result,
    })),
  )
}

async function interfaceHash(db: Db, procedureKey: string): Promise<string | null> {
  const called = await findActiveVersion(db, procedureKey)
  if (called === undefined) return null
  const { input, output } = called.definition
  return hashOf({ input, output })
}
