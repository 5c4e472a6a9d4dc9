import { z } from 'zod'
import { lockProcedure, updateNextVersionNumber } from '../db/queries/procedures.ts'
import { findVersion, insertVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion, procedureNotFound } from './find-version.ts'
import { prepareVersion, storeCompanions } from './prepare-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Makes the next draft of a procedure: a copy of one of its versions, or a definition that is given. The copy is
 * checked and pinned anew, against the tools of today.
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
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'DEFINITION_INVALID',
    'DEFINITION_KEY_DIFFERS',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['author', 'admin'],
  async prepare({ app, db }, { procedureKey: key, fromVersionNumber, definition }) {
    if (definition !== undefined)
      return { prepared: await prepareVersion(app, db.kysely, definition) }
    const basis = await findProcedureVersion(db.kysely, key, fromVersionNumber)
    return { prepared: await prepareVersion(app, db.kysely, basis.definition), basedOn: basis.id }
  },
  async change({ app, caller }, transaction, { procedureKey: key }, { prepared, basedOn }) {
    const { tenantId } = caller.principal
    const now = app.clock.now()
    const procedure = await lockProcedure(transaction, key)
    if (procedure === undefined) throw await procedureNotFound(transaction, key)
    const { content } = prepared
    if (content.definition.key !== key) {
      throw new ServiceError('DEFINITION_KEY_DIFFERS', {
        procedureKey: key,
        found: content.definition.key,
      })
    }
    const number = await updateNextVersionNumber(transaction, procedure.id)
    const id = newId('version', now)
    await insertVersion(transaction, {
      ...content,
      tenantId,
      id,
      procedureId: procedure.id,
      versionNumber: number,
      author: caller.principal,
      at: new Date(now),
      ...(basedOn && { basedOn }),
    })
    await storeCompanions(transaction, app, { tenantId, versionId: id }, prepared)
    const version = await findVersion(transaction, key, number)
    if (version === undefined) throw new TypeError('the version was inserted just now')
    return {
      output: toVersionState(version),
      audit: [
        {
          action: 'version.created',
          entityKind: 'version',
          entityId: id,
          afterHash: content.definitionHash,
          details: { procedureKey: key, versionNumber: number, basedOn: basedOn ?? null },
        },
      ],
    }
  },
})
