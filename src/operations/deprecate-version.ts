import { z } from 'zod'
import { updateOpenActivation } from '../db/queries/activations.ts'
import { lockProcedure } from '../db/queries/procedures.ts'
import { updateVersionStatus } from '../db/queries/versions.ts'
import { nextVersionStatus } from '../domain/version.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion, procedureNotFound } from './find-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/** Takes the active version out of service without a successor. Runs that were started go on. */
export const deprecateVersion = defineAdministration({
  name: 'deprecateVersion',
  summary: 'Take the active version of a procedure out of service',
  input: z.strictObject({ procedureKey, versionNumber }),
  output: versionState,
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_NOT_ACTIVE'],
  roles: ['approver', 'admin'],
  async change({ app, caller }, transaction, input) {
    const procedure = await lockProcedure(transaction, input.procedureKey)
    if (procedure === undefined) throw await procedureNotFound(transaction, input.procedureKey)
    const version = await findProcedureVersion(transaction, input.procedureKey, input.versionNumber)
    const status = nextVersionStatus(version.status, 'deprecate')
    await updateOpenActivation(
      transaction,
      procedure.id,
      caller.principal,
      new Date(app.clock.now()),
    )
    await updateVersionStatus(transaction, version.id, status)
    return {
      output: toVersionState({ ...version, status }),
      audit: [
        {
          action: 'version.deprecated',
          entityKind: 'version',
          entityId: version.id,
          beforeHash: version.definitionHash,
          details: { procedureKey: input.procedureKey, versionNumber: input.versionNumber },
        },
      ],
    }
  },
})
