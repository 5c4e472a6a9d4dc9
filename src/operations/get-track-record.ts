import { z } from 'zod'
import { listActivations } from '../db/queries/activations.ts'
import { listOutsideRuns } from '../db/queries/outside-executions.ts'
import { listVersionRuns, type VersionRuns } from '../db/queries/track-records.ts'
import { listVersions } from '../db/queries/versions.ts'
import { toTrackRecord } from '../domain/track-record.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { trackRecordOutput, verifiedRecordOutput } from './track-record-output.ts'

/** Some ten times what a search looks at: a version's record is asked for by itself, and seldom. */
const window = 10_000

/**
 * How the runs of a procedure have gone, per version: counts, success rate, confidence and mean duration. A run that resolved is a
 * success, one that was escalated is none; what was declined or cancelled or is open is in no rate. The tenant's newest
 * 10,000 executions are looked at. What was told of runs made elsewhere stands apart, the newest 10,000 of a version.
 *
 * @see docs/track-record.md
 */
export const getTrackRecord = defineOperation({
  name: 'getTrackRecord',
  summary: 'Show how the runs of a procedure have gone, per version',
  input: z.strictObject({
    procedureKey,
    versionNumber: versionNumber.optional().describe('Default: all that have served'),
  }),
  output: z.object({
    procedureKey: z.string(),
    procedureName: z.string().describe('As the active version has it, else the newest'),
    versions: z
      .array(
        z.object({
          versionNumber: z.int(),
          status: z.enum(['draft', 'active', 'deprecated']),
          verified: verifiedRecordOutput.describe('Of the runs of this service'),
          outside: trackRecordOutput.describe(
            'Of runs made elsewhere, as somebody has told them: nothing goes by it',
          ),
        }),
      )
      .describe('Newest first'),
    standing: z
      .object({
        versionNumber: z.int().describe('The active version'),
        recordOf: z
          .int()
          .nullable()
          .describe(
            'Whose record it stands on: its own, else that of the last version before it that has one; null: none has',
          ),
        successRate: z.number().nullable().describe('Of that record; null: there is none'),
      })
      .nullable()
      .describe('By what an agent judges the active version; null: none is active'),
    window: z.int().describe('At how many executions of the tenant, the newest, was looked'),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ db: { kysely } }, { procedureKey: key, versionNumber: number }) {
    const shown = await findProcedureVersion(kysely, key)
    if (number !== undefined) await findProcedureVersion(kysely, key, number)
    const { procedureId } = shown
    const runs = new Map<string, VersionRuns>(
      (await listVersionRuns(kysely, procedureId, window)).map((one) => [one.versionId, one]),
    )
    const versions = await listVersions(kysely, procedureId)
    const served = (await listActivations(kysely, procedureId)).map(({ versionId }) => versionId)
    const wanted = versions.filter((version) =>
      number === undefined ? version.status !== 'draft' : version.versionNumber === number,
    )
    const outside = await listOutsideRuns(
      kysely,
      wanted.map(({ id }) => id),
      window,
    )
    const record = served.map((id) => runs.get(id)).find((one) => (one?.executionCount ?? 0) > 0)
    const ofRecord = versions.find(({ id }) => id === record?.versionId)
    return {
      procedureKey: key,
      procedureName: shown.definition.name,
      versions: wanted.map(({ id, versionNumber: n, status }) => ({
        ...{ versionNumber: n, status },
        verified: toVerified(runs.get(id)),
        outside: toTrackRecord(outside.get(id) ?? noRuns),
      })),
      standing:
        shown.status === 'active'
          ? {
              versionNumber: shown.versionNumber,
              recordOf: ofRecord?.versionNumber ?? null,
              successRate: record === undefined ? null : toTrackRecord(record).successRate,
            }
          : null,
      window,
    }
  },
})

const noRuns = {
  ...{ executionCount: 0, successCount: 0, totalDurationMs: 0 },
  ...{ declinedCount: 0, cancelledCount: 0, openCount: 0 },
}

function toVerified(runs: VersionRuns | undefined): z.infer<typeof verifiedRecordOutput> {
  const { declinedCount, cancelledCount, openCount } = runs ?? noRuns
  return { ...toTrackRecord(runs ?? noRuns), declinedCount, cancelledCount, openCount }
}
