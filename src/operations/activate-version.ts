import { z } from 'zod'
import { defineAdministration } from './define.ts'
import { goLive } from './go-live.ts'
import { acknowledge, procedureKey, versionNumber } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/** Makes a draft the version that serves its procedure; the one that served is deprecated in the same transaction. */
export const activateVersion = defineAdministration({
  name: 'activateVersion',
  summary: 'Make a draft the version that serves its procedure',
  input: z.strictObject({
    procedureKey,
    versionNumber,
    seenActive: versionNumber
      .nullable()
      .describe('The number of the version that you saw active; null for none'),
    acknowledge,
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DRAFT',
    'ACTIVATION_STALE',
    'VERSION_HAS_ERRORS',
    'VERSION_TOOL_CHANGED',
    'VERSION_NOT_EMBEDDED',
    'SCENARIOS_FAILED',
    'APPROVAL_DECLINED',
    'APPROVAL_MISSING',
    'ROUTING_NOT_ACKNOWLEDGED',
  ],
  roles: ['approver', 'admin'],
  async change({ app, caller }, transaction, input) {
    const { version, audit } = await goLive(app, caller, transaction, input)
    return { output: toVersionState(version), audit }
  },
})
