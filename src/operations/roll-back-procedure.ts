import { z } from 'zod'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { goLive } from './go-live.ts'
import { insertNextVersion, prepareCopy } from './next-version.ts'
import { acknowledge, procedureKey, versionNumber } from './shapes.ts'
import { toVersionState, versionState } from './version-output.ts'

/**
 * Puts what an earlier version said into service again: a copy of it becomes the next version and goes live, in one act.
 * Whatever keeps a version from going live keeps the copy from it as well, and then nothing has changed at all.
 */
export const rollBackProcedure = defineAdministration({
  name: 'rollBackProcedure',
  summary: 'Put what an earlier version said into service again, as the next version',
  input: z.strictObject({
    procedureKey,
    toVersionNumber: versionNumber.describe('The version that served before, which is copied'),
    seenActive: versionNumber
      .nullable()
      .describe('The number of the version that you saw active; null for none'),
    acknowledge,
  }),
  output: versionState,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'VERSION_NOT_DEPRECATED',
    'ACTIVATION_STALE',
    'VERSION_HAS_ERRORS',
    'VERSION_TOOL_CHANGED',
    'VERSION_NOT_EMBEDDED',
    'SCENARIOS_FAILED',
    'APPROVAL_DECLINED',
    'APPROVAL_MISSING',
    'ROUTING_NOT_ACKNOWLEDGED',
    'EMBEDDING_MODEL_CHANGED',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['approver', 'admin'],
  async prepare({ app, db }, { procedureKey: key, toVersionNumber }) {
    const basis = await findProcedureVersion(db.kysely, key, toVersionNumber)
    const { status } = basis
    // The one that serves is what there would be anyway, and a draft is activated as it is.
    if (status !== 'deprecated') {
      const found = { procedureKey: key, versionNumber: toVersionNumber, status }
      throw new ServiceError('VERSION_NOT_DEPRECATED', found)
    }
    return prepareCopy(app, db.kysely, basis)
  },
  async change({ app, caller }, transaction, input, copy) {
    const { procedureKey: key, seenActive, acknowledge: acknowledged } = input
    const made = await insertNextVersion(app, caller, transaction, key, copy)
    const { version, audit } = await goLive(app, caller, transaction, {
      procedureKey: key,
      versionNumber: made.version.versionNumber,
      seenActive,
      acknowledge: acknowledged,
    })
    const rolledBackTo = input.toVersionNumber
    return {
      output: toVersionState(version),
      audit: [
        ...made.audit,
        ...audit.map((entry) => ({ ...entry, details: { ...entry.details, rolledBackTo } })),
      ],
    }
  },
})
