import { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { listScenarios } from '../db/queries/scenarios.ts'
import { listContracts } from '../db/queries/tool-contracts.ts'
import { listVersions, type ProcedureVersion } from '../db/queries/versions.ts'
import type { Change } from '../diff/change.ts'
import { type Comparable, diffVersions as diff } from '../diff/diff-versions.ts'
import { type Definition, definitionHash } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import type { Scenario } from '../domain/scenario.ts'
import { walkSteps } from '../domain/step.ts'
import type { ToolContract } from '../domain/tool.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { requireScenarios, scenarioList } from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'

const side = z.object({
  versionNumber: z.int().nullable().describe('Null for a definition that was given'),
  definitionHash: z.string(),
})

/**
 * In what a later version of a procedure differs from an earlier one, by meaning: definition, scenarios and the contracts
 * that they pin. A definition that is given is taken with the tools of today, as if it were saved now. Nothing is written.
 *
 * @see docs/diff.md
 */
export const diffVersions = defineOperation({
  name: 'diffVersions',
  summary: 'Show in what two versions of a procedure differ, by meaning',
  input: z.strictObject({
    procedureKey,
    fromVersionNumber: versionNumber
      .optional()
      .describe('The earlier version; default the active one, else the newest'),
    toVersionNumber: versionNumber.optional().describe('The later version; default the newest'),
    definition: z
      .unknown()
      .optional()
      .describe('A definition document in place of that of the later version'),
    scenarios: scenarioList
      .optional()
      .describe(
        'Scenarios in place of those of the later version; with a definition, default those of the earlier one',
      ),
  }),
  output: z.object({
    procedureKey: z.string(),
    before: side,
    after: side,
    isSame: z.boolean().describe('True when there are no changes'),
    changes: z.array(z.custom<Change>().meta({ type: 'object' })),
  }),
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'SCENARIOS_INVALID',
  ],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }, input) {
    const { kysely } = db
    const { procedureKey: key } = input
    const given = input.scenarios === undefined ? undefined : requireScenarios(input.scenarios)
    const definition =
      input.definition === undefined ? undefined : requireDefinition(input.definition)
    if (definition !== undefined && definition.key !== key) {
      throw new ServiceError('DEFINITION_KEY_DIFFERS', { procedureKey: key, found: definition.key })
    }
    const from = await findProcedureVersion(kysely, key, input.fromVersionNumber)
    const before = await readStored(kysely, from)
    const later =
      definition === undefined ? await findLater(kysely, from, input.toVersionNumber) : undefined
    const stored = later && (await readStored(kysely, later))
    const after = stored ?? takeGiven(app, definition ?? from.definition, before.scenarios)
    const changes = diff(before, { ...after, ...(given && { scenarios: given }) })
    return {
      procedureKey: key,
      before: { versionNumber: from.versionNumber, definitionHash: from.definitionHash },
      after: {
        versionNumber: later?.versionNumber ?? null,
        definitionHash: definitionHash(after.definition),
      },
      isSame: changes.length === 0,
      changes: [...changes],
    }
  },
})

async function findLater(
  db: Db,
  { procedureKey: key, procedureId }: ProcedureVersion,
  versionNumber: number | undefined,
): Promise<ProcedureVersion> {
  const [newest] = versionNumber === undefined ? await listVersions(db, procedureId) : []
  return findProcedureVersion(db, key, versionNumber ?? newest?.versionNumber)
}

async function readStored(db: Db, version: ProcedureVersion): Promise<Comparable> {
  const pinned = await listContracts(db, Object.values(version.toolContracts))
  return {
    definition: version.definition,
    scenarios: await listScenarios(db, version.id),
    contracts: new Map(Array.from(pinned, ([name, { contract }]) => [name, contract] as const)),
  }
}

function takeGiven(
  app: AppContext,
  definition: Definition,
  scenarios: readonly Scenario[],
): Comparable {
  const contracts = new Map<string, ToolContract>()
  for (const step of walkSteps(definition.steps)) {
    const tool = 'tool' in step ? app.tools.find(step.tool) : undefined
    if (tool !== undefined) contracts.set(tool.contract.name, tool.contract)
  }
  return { definition, scenarios, contracts }
}
