import { z } from 'zod'
import { findVersion, updateDraft } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDraft } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { prepareVersion, storeCompanions } from './prepare-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/** Replaces the definition of a draft, if its revision is still the one that the writer saw. */
export const editDraft = defineAdministration({
  name: 'editDraft',
  summary: 'Replace the definition of a draft',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    revision: z.int().min(1).describe('The revision that the new text is based on'),
    definition: z.unknown().describe('The definition document'),
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'DRAFT_STALE',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'admin'],
  prepare: ({ app, db }, { definition }) => prepareVersion(app, db.kysely, definition),
  async change({ app, caller }, transaction, input, prepared) {
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
    const revision = await updateDraft(
      transaction,
      before.id,
      input.revision,
      content,
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
