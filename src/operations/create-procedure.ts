import { z } from 'zod'
import { insertProcedure } from '../db/queries/procedures.ts'
import { replaceScenarios } from '../db/queries/scenarios.ts'
import { findVersion, insertVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { defineAdministration } from './define.ts'
import { prepareVersion, storeCompanions } from './prepare-version.ts'
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
    return { ...prepared, scenarios, texts }
  },
  async change({ app, caller }, transaction, _input, prepared) {
    const { tenantId } = caller.principal
    const now = app.clock.now()
    const at = new Date(now)
    const { key } = prepared.content.definition
    const procedure = { id: newId('procedure', now), key, createdAt: at }
    if (!(await insertProcedure(transaction, tenantId, procedure))) {
      throw new ServiceError('PROCEDURE_EXISTS', { procedureKey: key })
    }
    const id = newId('version', now)
    await insertVersion(transaction, {
      ...prepared.content,
      ...prepared.texts,
      tenantId,
      id,
      procedureId: procedure.id,
      versionNumber: 1,
      author: caller.principal,
      at,
    })
    await storeCompanions(transaction, app, { tenantId, versionId: id }, prepared)
    await replaceScenarios(transaction, tenantId, id, prepared.scenarios)
    const version = await findVersion(transaction, key, 1)
    if (version === undefined) throw new TypeError('the version was inserted just now')
    return {
      output: toVersionState(version),
      audit: [
        {
          action: 'version.created',
          entityKind: 'version',
          entityId: id,
          afterHash: prepared.content.definitionHash,
          details: { procedureKey: key, versionNumber: 1 },
        },
      ],
    }
  },
})
