import { z } from 'zod'
import { findBacktestOfDigest } from '../db/queries/backtests.ts'
import { listShutOut } from '../db/queries/principals.ts'
import {
  listReviewsOfDigest,
  listReviewsOfVersion,
  readRequiredApprovals,
} from '../db/queries/reviews.ts'
import { findActiveVersion } from '../db/queries/versions.ts'
import { countVerdicts } from '../domain/approval.ts'
import { readApproval } from './approval-digest.ts'
import { backtestOutput, toBacktestOutput } from './backtest-output.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { findChanged } from './require-approval.ts'
import { reviewShape, toReviewOutput } from './review-output.ts'
import { routingFindings } from './routing-findings.ts'
import { simulationReport, toReportOutput } from './scenario-output.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { findingShape } from './version-output.ts'

/** What an approval of a version binds at this moment, who has said what of it, and what is missing. */
export const getApproval = defineOperation({
  name: 'getApproval',
  summary: 'Show what an approval of a version would bind, and what was said of it',
  input: z.strictObject({ procedureKey, versionNumber }),
  output: z.object({
    procedureKey: z.string(),
    versionNumber: z.int(),
    status: z.enum(['draft', 'active', 'deprecated']),
    activeVersionNumber: z.int().nullable().describe('What serves now; null: nothing does'),
    digest: z.string().describe('A review names it'),
    parts: z.object({
      definition: z.string(),
      tools: z.record(z.string(), z.string()),
      scenarios: z.string(),
      results: z.string().nullable(),
      calls: z.record(z.string(), z.string().nullable()),
    }),
    authorIds: z
      .array(z.string())
      .describe('Who has written any of it; none of them may approve it'),
    required: z.int().describe('How many approvals it needs; 0: this deployment asks for none'),
    approvedBy: z.array(z.string()),
    declinedBy: z.array(z.string()),
    shutOut: z
      .array(z.string())
      .describe(
        'Those of `approvedBy` and `declinedBy` who were shut out since; their word stands',
      ),
    approved: z
      .boolean()
      .describe('Whether the approvals are enough, and nobody stands against it'),
    changed: z.array(z.string()).describe('What has changed since it was last approved'),
    reviews: z.array(reviewShape).describe('In their order; those of another digest do not count'),
    routing: z
      .array(findingShape)
      .describe('What its routing tests find now; an approval lets it pass by naming the ids'),
    backtest: backtestOutput
      .nullable()
      .describe('The newest one of what the version is now; null when there is none'),
    simulation: simulationReport.nullable().describe('Null when it cannot be simulated'),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db }, input) {
    // One transaction, so that all of it is of one moment.
    return db.kysely.transaction().execute(async (transaction) => {
      const version = await findProcedureVersion(
        transaction,
        input.procedureKey,
        input.versionNumber,
      )
      const approval = await readApproval(app, transaction, version)
      const ofDigest = await listReviewsOfDigest(transaction, version.procedureId, approval.digest)
      const ofVersion = await listReviewsOfVersion(transaction, version.id)
      const backtest = await findBacktestOfDigest(transaction, version.id, approval.digest)
      const required = await readRequiredApprovals(transaction)
      const { approvedBy, declinedBy } = countVerdicts(ofDigest, version.authorIds)
      const active = await findActiveVersion(transaction, version.procedureKey)
      const shutOut = await listShutOut(transaction, [...approvedBy, ...declinedBy])
      const known = new Set(ofVersion.map(({ id }) => id))
      const reviews = [...ofDigest.filter(({ id }) => !known.has(id)), ...ofVersion]
      const { parts } = approval
      const routing = version.status === 'draft' ? await routingFindings(transaction, version) : []
      return {
        procedureKey: version.procedureKey,
        versionNumber: version.versionNumber,
        status: version.status,
        activeVersionNumber: active?.versionNumber ?? null,
        digest: approval.digest,
        parts: { ...parts, tools: { ...parts.tools }, calls: { ...parts.calls } },
        authorIds: [...version.authorIds],
        required,
        approvedBy: [...approvedBy],
        declinedBy: [...declinedBy],
        shutOut: [...shutOut],
        approved: declinedBy.length === 0 && approvedBy.length >= required,
        changed: [...(await findChanged(transaction, version, approval))],
        reviews: reviews.map(toReviewOutput),
        routing: [...routing],
        backtest: backtest ? toBacktestOutput(backtest, version) : null,
        simulation: approval.report ? toReportOutput(approval.report) : null,
      }
    })
  },
})
