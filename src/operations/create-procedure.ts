import { z } from 'zod'
import { defineAdministration } from './define.ts'
import { insertFirstVersion } from './next-version.ts'
import { prepareVersion } from './prepare-version.ts'
import { requireScenarios, scenarioList } from './scenario-output.ts'
import { givenTexts, scenariosSourceText, sourceText } from './source-text.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Makes a procedure with its first draft from a definition document. Findings of the checks are stored and answered;
 * they block activation, not saving.
 */
export const createProcedure = defineAdministration({
  name: 'createProcedure',
  summary: 'Make a procedure, with its first draft, from a definition',
  input: z.strictObject({
    definition: z.unknown().describe('The definition document'),
    source: sourceText.optional(),
    scenarios: scenarioList.optional(),
    scenariosSource: scenariosSourceText.optional(),
  }),
  output: versionState,
  errors: [
    'DEFINITION_INVALID',
    'SCENARIOS_INVALID',
    'PROCEDURE_EXISTS',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'admin'],
  async prepare({ app, db }, input) {
    const prepared = await prepareVersion(app, db.kysely, input.definition)
    const scenarios = requireScenarios(input.scenarios ?? [])
    const texts = givenTexts('createProcedure', input, prepared.content, scenarios)
    return { prepared, scenarios, texts }
  },
  async change({ app, caller }, transaction, _input, next) {
    const { version, audit } = await insertFirstVersion(app, caller, transaction, next)
    return { output: toVersionState(version), audit }
  },
})
