import { z } from 'zod'
import { findVersion, updateDraft } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDraft } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findSameText, replaceDraftScenarios } from './draft-scenarios.ts'
import { findProcedureVersion } from './find-version.ts'
import { requireScenarios, scenarioList } from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { requireScenariosSource, scenariosSourceText } from './source-text.ts'
import { toVersionListItem, versionListItem } from './version-output.ts'

/**
 * Replaces the scenarios of a draft, if its revision is still the one that the writer saw, and raises it. Whether they fit
 * the definition, which may be edited after them, a simulation says.
 */
export const setScenarios = defineAdministration({
  name: 'setScenarios',
  summary: 'Replace the scenarios of a draft',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    revision: z.int().min(1).describe('The revision of the draft that the scenarios are made for'),
    scenarios: scenarioList,
    source: scenariosSourceText.optional(),
  }),
  output: versionListItem.extend({ scenarioCount: z.int() }),
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'DRAFT_STALE',
    'SCENARIOS_INVALID',
  ],
  roles: ['author', 'admin'],
  async prepare(_context, { procedureKey: key, scenarios, source }) {
    const list = requireScenarios(scenarios)
    if (source !== undefined) requireScenariosSource('setScenarios', 'source', source, key, list)
    return list
  },
  async change({ app, caller }, transaction, input, scenarios) {
    const { tenantId } = caller.principal
    const before = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    const named = { procedureKey: before.procedureKey, versionNumber: before.versionNumber }
    requireDraft(before.status, 'edit')
    const at = new Date(app.clock.now())
    const scenariosSource = input.source ?? (await findSameText(transaction, before.id, scenarios))
    // First of all it takes the row, so that nobody else activates or edits the draft meanwhile.
    const revision = await updateDraft(
      transaction,
      before.id,
      input.revision,
      { texts: { scenariosSource } },
      caller.principal,
      at,
    )
    if (revision === undefined) {
      throw new ServiceError('DRAFT_STALE', {
        ...named,
        seen: input.revision,
        current: before.revision,
      })
    }
    const replaced = await replaceDraftScenarios(transaction, tenantId, before, revision, scenarios)
    const version = await findVersion(transaction, named.procedureKey, named.versionNumber)
    if (version === undefined) throw new TypeError('the version was updated just now')
    return {
      output: { ...toVersionListItem(version), scenarioCount: scenarios.length },
      audit: [replaced],
    }
  },
})
