import { z } from 'zod'
import { listActivations } from '../db/queries/activations.ts'
import { findEngagedSwitch } from '../db/queries/kill-switches.ts'
import { findVersionTexts, listVersions } from '../db/queries/versions.ts'
import { stoppedBy } from '../domain/kill-switch.ts'
import { checkVersion } from './check-version.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion, getVersionAsOf } from './find-version.ts'
import { routingFindings } from './routing-findings.ts'
import { instant, procedureKey, versionNumber } from './shapes.ts'
import { stoppedOutput } from './stopped-output.ts'
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
  input: z
    .strictObject({
      procedureKey,
      versionNumber: versionNumber
        .optional()
        .describe('Default: the active version, else the newest'),
      asOf: instant
        .optional()
        .describe('The version that served at this instant, instead of a number'),
    })
    .refine(({ versionNumber: number, asOf }) => number === undefined || asOf === undefined, {
      path: ['asOf'],
      message: 'names a version, as versionNumber does; give one of them',
    }),
  output: z.object({
    version: versionOutput,
    stopped: stoppedOutput,
    versions: z.array(versionListItem),
    activations: z.array(
      z.object({ versionNumber: z.int(), activeFrom: instant, activeUntil: instant.nullable() }),
    ),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND', 'VERSION_NOT_ACTIVE_THEN'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }, input) {
    const { procedureKey: key, asOf } = input
    const version =
      asOf === undefined
        ? await findProcedureVersion(db.kysely, key, input.versionNumber)
        : await getVersionAsOf(db.kysely, key, new Date(asOf))
    // Since it was saved, what it calls may have gone live, or a tool may have changed.
    const findings =
      version.status === 'draft'
        ? [
            ...(await checkVersion(app, db.kysely, version.definition)),
            ...(await routingFindings(db.kysely, version)),
          ]
        : version.findings
    const { source } = await findVersionTexts(db.kysely, version.id)
    const versions = await listVersions(db.kysely, version.procedureId)
    const numbers = new Map(versions.map((item) => [item.id, item.versionNumber]))
    const activations = await listActivations(db.kysely, version.procedureId)
    const stopped = await findEngagedSwitch(db.kysely, 'procedure', key)
    return {
      version: toVersionOutput({ ...version, findings }, source),
      stopped: stopped === undefined ? null : stoppedBy(stopped),
      versions: versions.map(toVersionListItem),
      activations: activations.map(({ versionId, activeFrom, activeUntil }) => ({
        versionNumber: numbers.get(versionId) ?? 0,
        activeFrom: activeFrom.toISOString(),
        activeUntil: activeUntil?.toISOString() ?? null,
      })),
    }
  },
})
