import { z } from 'zod'
import { listActivations } from '../db/queries/activations.ts'
import { findVersionTexts, listVersions } from '../db/queries/versions.ts'
import { checkVersion } from './check-version.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { instant, procedureKey, versionNumber } from './shapes.ts'
import {
  toVersionListItem,
  toVersionOutput,
  versionListItem,
  versionOutput,
} from './version-output.ts'

/**
 * One version, whole, with all versions of its procedure and the times at which each served. Its findings are those of a
 * check that is made now for a draft, and those that it went live with for any other.
 */
export const getProcedure = defineOperation({
  name: 'getProcedure',
  summary: 'Show a procedure: one version whole, and its history',
  input: z.strictObject({
    procedureKey,
    versionNumber: versionNumber
      .optional()
      .describe('Default: the active version, else the newest'),
  }),
  output: z.object({
    version: versionOutput,
    versions: z.array(versionListItem),
    activations: z.array(
      z.object({ versionNumber: z.int(), activeFrom: instant, activeUntil: instant.nullable() }),
    ),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }, input) {
    const version = await findProcedureVersion(db.kysely, input.procedureKey, input.versionNumber)
    // Since it was saved, what it calls may have gone live, or a tool may have changed.
    const findings =
      version.status === 'draft'
        ? await checkVersion(app, db.kysely, version.definition)
        : version.findings
    const { source } = await findVersionTexts(db.kysely, version.id)
    const versions = await listVersions(db.kysely, version.procedureId)
    const numbers = new Map(versions.map((item) => [item.id, item.versionNumber]))
    const activations = await listActivations(db.kysely, version.procedureId)
    return {
      version: toVersionOutput({ ...version, findings }, source),
      versions: versions.map(toVersionListItem),
      activations: activations.map(({ versionId, activeFrom, activeUntil }) => ({
        versionNumber: numbers.get(versionId) ?? 0,
        activeFrom: activeFrom.toISOString(),
        activeUntil: activeUntil?.toISOString() ?? null,
      })),
    }
  },
})
