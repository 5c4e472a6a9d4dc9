import { z } from 'zod'
import { listScenarios } from '../db/queries/scenarios.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import type { Plan } from '../executor/plan.ts'
import { runScenarios } from '../simulation/run-scenarios.ts'
import { findSimulationPlan } from '../simulation/simulation-plan.ts'
import { checkVersion } from './check-version.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import {
  requireScenarios,
  scenarioList,
  simulationReport,
  toReportOutput,
} from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { hasErrors, planOfStored } from './stored-plan.ts'

/**
 * Runs scenarios on a version, by the executor itself and on the results that they say. Nothing is called and nothing is
 * written, so that it may be repeated at will. A stored version runs with the tools that it has pinned, a definition that
 * is given with those of today.
 */
export const simulateVersion = defineOperation({
  name: 'simulateVersion',
  summary: 'Run the scenarios of a version without calling anything',
  input: z.strictObject({
    procedureKey,
    versionNumber: versionNumber
      .optional()
      .describe('Default: the active version, else the newest'),
    definition: z
      .unknown()
      .optional()
      .describe('A definition document to run instead of the stored one'),
    scenarios: scenarioList.optional(),
  }),
  output: z
    .object({ procedureKey: z.string(), versionNumber: z.int().nullable() })
    .extend(simulationReport.shape),
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'DEFINITION_HAS_ERRORS',
    'SCENARIOS_INVALID',
  ],
  roles: ['author', 'admin'],
  async run(context, input) {
    const { db } = context
    const { procedureKey: key, definition } = input
    const isStored = definition === undefined || input.scenarios === undefined
    const version = isStored
      ? await findProcedureVersion(db.kysely, key, input.versionNumber)
      : undefined
    const scenarios =
      input.scenarios === undefined && version !== undefined
        ? await listScenarios(db.kysely, version.id)
        : requireScenarios(input.scenarios)
    const plan =
      definition === undefined && version !== undefined
        ? await planOfStored(context.app, db, version)
        : await planOfGiven(context, key, definition)
    return {
      procedureKey: key,
      versionNumber: definition === undefined ? (version?.versionNumber ?? null) : null,
      ...toReportOutput(runScenarios(plan, scenarios)),
    }
  },
})

async function planOfGiven(
  { app, db }: OperationContext,
  key: string,
  document: unknown,
): Promise<Plan> {
  const definition = requireDefinition(document)
  if (definition.key !== key) {
    throw new ServiceError('DEFINITION_KEY_DIFFERS', { procedureKey: key, found: definition.key })
  }
  const plan = findSimulationPlan(definition, (name) => app.tools.find(name))
  if (plan !== undefined) return plan
  throw hasErrors(key, await checkVersion(app, db.kysely, definition))
}
