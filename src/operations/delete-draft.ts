import { z } from 'zod'
import { deleteDraft as deleteDraftRow } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { requireDraft } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'

/** Deletes a draft. Its number is never given again. Active and deprecated versions stay for ever. */
export const deleteDraft = defineAdministration({
  name: 'deleteDraft',
  summary: 'Delete a draft',
  input: z.strictObject({ procedureKey, versionNumber }),
  output: z.object({ procedureKey: z.string(), versionNumber: z.int() }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_NOT_DRAFT', 'DRAFT_STALE'],
  roles: ['author', 'admin'],
  async change(_context, transaction, input) {
    const version = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    const named = { procedureKey: version.procedureKey, versionNumber: version.versionNumber }
    requireDraft(version.status, 'delete')
    if (!(await deleteDraftRow(transaction, version.id, version.revision))) {
      throw new ServiceError('DRAFT_STALE', { ...named, seen: version.revision, current: null })
    }
    return {
      output: named,
      audit: [
        {
          action: 'version.deleted',
          entityKind: 'version',
          entityId: version.id,
          beforeHash: version.definitionHash,
          details: named,
        },
      ],
    }
  },
})
