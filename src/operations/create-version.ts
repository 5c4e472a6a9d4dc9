import { z } from 'zod'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { findInherited, insertNextVersion, prepareCopy, withAuthor } from './next-version.ts'
import { prepareVersion } from './prepare-version.ts'
import { requireScenarios, scenarioList } from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { givenTexts, refuseSource, scenariosSourceText, sourceText } from './source-text.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Makes the next draft of a procedure: a copy of one of its versions, or a definition that is given. The copy is
 * checked and pinned anew, against the tools of today. Scenarios come along, whether the definition is copied or not; what
 * is copied keeps its text.
 */
export const createVersion = defineAdministration({
  name: 'createVersion',
  summary: 'Make the next draft of a procedure, from any version of it or from a definition',
  input: z.strictObject({
    procedureKey,
    fromVersionNumber: versionNumber
      .optional()
      .describe('The version to copy; default the active one, else the newest'),
    definition: z.unknown().optional().describe('A definition document to use instead of a copy'),
    source: sourceText.optional(),
    scenarios: scenarioList
      .optional()
      .describe('Scenarios to use instead of those of the version that is copied, or would be'),
    scenariosSource: scenariosSourceText.optional(),
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'SCENARIOS_INVALID',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'admin'],
  async prepare({ app, caller, db }, input) {
    const { procedureKey: key, definition } = input
    const given = input.scenarios === undefined ? undefined : requireScenarios(input.scenarios)
    if (given === undefined && input.scenariosSource !== undefined) {
      refuseSource('createVersion', 'scenariosSource', 'goes with scenarios; give both')
    }
    if (definition !== undefined) {
      const prepared = await prepareVersion(app, db.kysely, definition)
      const inherited = await findInherited(db.kysely, key)
      const scenarios = given ?? inherited.scenarios
      const texts = givenTexts('createVersion', input, prepared.content, scenarios)
      const scenariosSource = given === undefined ? inherited.source : texts.scenariosSource
      return {
        prepared,
        scenarios,
        texts: { ...texts, scenariosSource },
        basedOn: undefined,
        authorIds:
          given === undefined && scenarios.length > 0
            ? withAuthor(inherited.authorIds, caller)
            : undefined,
      }
    }
    if (input.source !== undefined) {
      refuseSource('createVersion', 'source', 'goes with definition; give both')
    }
    const basis = await findProcedureVersion(db.kysely, key, input.fromVersionNumber)
    const copy = await prepareCopy(app, db.kysely, basis)
    if (given === undefined) return copy
    const { scenariosSource } = givenTexts('createVersion', input, copy.prepared.content, given)
    const texts = { ...copy.texts, scenariosSource }
    // Who only copies has written nothing. This is more, and what is copied stays the work of those who wrote it.
    return { ...copy, scenarios: given, texts, authorIds: withAuthor(copy.authorIds ?? [], caller) }
  },
  async change({ app, caller }, transaction, { procedureKey: key }, preparation) {
    const { version, audit } = await insertNextVersion(app, caller, transaction, key, preparation)
    return { output: toVersionState(version), audit }
  },
})
