import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import { listScenarios } from '../db/queries/scenarios.ts'
import { findVersionTexts } from '../db/queries/versions.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Scenario } from '../domain/scenario.ts'
import { type Caller, defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { insertNextVersion, prepareCopy } from './next-version.ts'
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

/** All who wrote any of it, in the order in which they came. */
function withAuthor(authorIds: readonly string[], { principal }: Caller): readonly string[] {
  return [...new Set([...authorIds, principal.id])]
}

interface Inherited {
  readonly scenarios: readonly Scenario[]
  readonly source: string | null
  /** Who wrote the version that they are of. */
  readonly authorIds: readonly string[]
}

/** The scenarios of the version that would be copied, with their text; none where there is no version to copy. */
async function findInherited(db: Db, procedureKey: string): Promise<Inherited> {
  try {
    const { id, authorIds } = await findProcedureVersion(db, procedureKey)
    const { scenariosSource } = await findVersionTexts(db, id)
    return { scenarios: await listScenarios(db, id), source: scenariosSource, authorIds }
  } catch (error) {
    // A procedure whose drafts were all deleted has none, and one that is not there is refused by the change.
    const none = { scenarios: [], source: null, authorIds: [] }
    if (isServiceError(error, 'VERSION_NOT_FOUND')) return none
    if (isServiceError(error, 'PROCEDURE_NOT_FOUND')) return none
    throw error
  }
}
