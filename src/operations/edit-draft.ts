import { z } from 'zod'
import { findVersion, findVersionTexts, updateDraft } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDraft } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findSameText, replaceDraftScenarios } from './draft-scenarios.ts'
import { findProcedureVersion } from './find-version.ts'
import { prepareVersion, storeCompanions } from './prepare-version.ts'
import { requireScenarios, scenarioList } from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { givenTexts, refuseSource, scenariosSourceText, sourceText } from './source-text.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Replaces the definition of a draft, if its revision is still the one that the writer saw, and with it its scenarios where
 * they are given.
 */
export const editDraft = defineAdministration({
  name: 'editDraft',
  summary: 'Replace the definition of a draft',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    revision: z.int().min(1).describe('The revision that the new text is based on'),
    definition: z.unknown().describe('The definition document'),
    source: sourceText.optional(),
    scenarios: scenarioList.optional().describe('Scenarios in place of those of the draft'),
    scenariosSource: scenariosSourceText.optional(),
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'DRAFT_STALE',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'SCENARIOS_INVALID',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'admin'],
  async prepare({ app, db }, input) {
    const prepared = await prepareVersion(app, db.kysely, input.definition)
    const scenarios = input.scenarios === undefined ? undefined : requireScenarios(input.scenarios)
    if (scenarios === undefined && input.scenariosSource !== undefined) {
      refuseSource('editDraft', 'scenariosSource', 'goes with scenarios; give both')
    }
    const { source, scenariosSource } = givenTexts(
      'editDraft',
      input,
      prepared.content,
      scenarios ?? [],
    )
    return { prepared, scenarios, source, scenariosSource }
  },
  async change({ app, caller }, transaction, input, preparation) {
    const { prepared, scenarios } = preparation
    const { tenantId } = caller.principal
    const before = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    const { content } = prepared
    if (content.definition.key !== input.procedureKey) {
      throw new ServiceError('DEFINITION_KEY_DIFFERS', {
        procedureKey: input.procedureKey,
        found: content.definition.key,
      })
    }
    requireDraft(before.status, 'edit')
    // Saved again as it is, it keeps the text that says so.
    const isSame = content.definitionHash === before.definitionHash
    const stored = isSame ? (await findVersionTexts(transaction, before.id)).source : null
    const texts = {
      source: preparation.source ?? stored,
      ...(scenarios && {
        scenariosSource:
          preparation.scenariosSource ?? (await findSameText(transaction, before.id, scenarios)),
      }),
    }
    const revision = await updateDraft(
      transaction,
      before.id,
      input.revision,
      { content, texts },
      caller.principal,
      new Date(app.clock.now()),
    )
    if (revision === undefined) {
      throw new ServiceError('DRAFT_STALE', {
        ...named(before),
        seen: input.revision,
        current: before.revision,
      })
    }
    await storeCompanions(transaction, app, { tenantId, versionId: before.id }, prepared)
    const replaced =
      scenarios && (await replaceDraftScenarios(transaction, tenantId, before, revision, scenarios))
    const version = await findVersion(transaction, input.procedureKey, input.versionNumber)
    if (version === undefined) throw new TypeError('the version was updated just now')
    return {
      output: toVersionState(version),
      audit: [
        {
          action: 'version.edited',
          entityKind: 'version',
          entityId: before.id,
          beforeHash: before.definitionHash,
          afterHash: content.definitionHash,
          details: { ...named(before), revision },
        },
        ...(replaced === undefined ? [] : [replaced]),
      ],
    }
  },
})

function named(version: { readonly procedureKey: string; readonly versionNumber: number }): {
  readonly procedureKey: string
  readonly versionNumber: number
} {
  return { procedureKey: version.procedureKey, versionNumber: version.versionNumber }
}
