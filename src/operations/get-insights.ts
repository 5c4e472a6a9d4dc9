import { z } from 'zod'
import type { Db } from '../db/connect.ts'
import {
  countGaps,
  type EscalationInsights,
  type InsightsFilter,
  listEscalationInsights,
  listPeriodInsights,
  listStepInsights,
  listVersionInsights,
  type RunCounts,
  type StepInsights,
} from '../db/queries/insights.ts'
import { ServiceError } from '../domain/errors.ts'
import { firstId } from '../domain/ids.ts'
import { proportionOf } from '../domain/proportion.ts'
import { type StepKind, walkSteps } from '../domain/step.ts'
import { defineOperation } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { instant, procedureKey, versionNumber } from './shapes.ts'

const defaultPeriodMs = 30 * 24 * 60 * 60_000

const count = z.int()
const share = z.object({
  count,
  rate: z.number().nullable().describe('0 to 1; null where there is nothing to take a share of'),
  low: z.number().nullable().describe('Where the 95 % confidence interval begins (Wilson)'),
  high: z.number().nullable().describe('Where it ends'),
})
const durationMs = z
  .object({ median: z.number(), p95: z.number() })
  .nullable()
  .describe('Milliseconds; null where nothing has ended')
const escalations = z
  .array(z.object({ code: z.string(), count }))
  .describe('By reason code, the most frequent first')

const runs = z.object({
  runs: count.describe('Runs that were begun'),
  open: count.describe('Of them, runs that have not ended'),
  cancelled: count.describe('Not counted in the rates'),
  resolved: share,
  declined: share,
  escalated: share,
  durationMs: durationMs.describe('From start to end, waits included'),
})

const step = z.object({
  versionNumber: z.int(),
  stepKey: z.string(),
  kind: z.custom<StepKind>().meta({ type: 'string' }),
  tool: z.string().nullable(),
  begun: count.describe('How often it ran or waited: each round of a loop counts'),
  skipped: count.describe('How often its `when` passed it over'),
  open: count.describe('How many run or wait now'),
  completed: share,
  failed: share,
  expired: share.describe('Nobody answered in time, and the run went on'),
  denied: share.describe('Somebody said no, and the run went on'),
  attempts: z.object({
    mean: z.number().nullable(),
    most: count,
    retried: share.describe('How often it took more than one'),
  }),
  durationMs: durationMs.describe('From its begin to its end; of a wait, how long it waited'),
  escalations,
})

/**
 * What became of the runs that were begun in a period, by default the last 30 days: per version; and with a procedure, per
 * step and by day, week or month. It reads the runs of the period and nothing before.
 */
export const getInsights = defineOperation({
  name: 'getInsights',
  summary: 'Show how runs end, how long they take and why they are escalated, per version and step',
  input: z.strictObject({
    procedureKey: procedureKey.optional().describe('Default: all; steps and periods need one'),
    versionNumber: versionNumber.optional().describe('Only runs of this version of the procedure'),
    from: instant.optional().describe("Default: 30 days before 'to'"),
    to: instant.optional().describe('Default: now'),
    by: z.enum(['day', 'week', 'month']).default('week').describe('How long a period is; in UTC'),
    limit: z.int().min(1).max(1_000).default(100).describe('At most so many versions'),
  }),
  output: z.object({
    from: instant,
    to: instant,
    coverageGaps: count.describe(
      'Tickets of the period that no playbook fitted, of all procedures',
    ),
    versions: z
      .array(runs.extend({ procedureKey: z.string(), versionNumber: z.int(), escalations }))
      .describe('Those with the most runs first'),
    hasMore: z.boolean().describe('Whether there are more versions than `limit`'),
    steps: z
      .array(step)
      .describe(
        'By version, newest first, in the order of the playbook; empty without a procedure',
      ),
    periods: z
      .array(runs.extend({ from: instant }))
      .describe('Oldest first, those without runs left out; empty without a procedure'),
  }),
  errors: ['PROCEDURE_NOT_FOUND', 'VERSION_NOT_FOUND'],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, db: { kysely } }, input) {
    const { procedureKey: key, versionNumber: number, by, limit } = input
    const to = input.to === undefined ? app.clock.now() : Date.parse(input.to)
    const from = input.from === undefined ? to - defaultPeriodMs : Date.parse(input.from)
    const problems = problemsOf(input, from, to)
    if (problems.length > 0) {
      throw new ServiceError('REQUEST_INVALID', { operation: 'getInsights', problems })
    }
    if (key !== undefined) await findProcedureVersion(kysely, key, number)
    const filter: InsightsFilter = {
      fromId: firstId('execution', from),
      beforeId: firstId('execution', to),
      procedureKey: key,
      versionNumber: number,
    }
    const versions = await listVersionInsights(kysely, filter, limit + 1)
    const reasons = await listEscalationInsights(kysely, filter)
    const ofProcedure = key === undefined ? undefined : { ...filter, procedureKey: key }
    const steps =
      ofProcedure === undefined
        ? []
        : await inOrder(
            kysely,
            ofProcedure.procedureKey,
            await listStepInsights(kysely, ofProcedure),
          )
    const periods = ofProcedure === undefined ? [] : await listPeriodInsights(kysely, filter, by)
    return {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      coverageGaps: await countGaps(kysely, firstId('gap', from), firstId('gap', to)),
      versions: versions.slice(0, limit).map((version) => ({
        procedureKey: version.procedureKey,
        versionNumber: version.versionNumber,
        ...toRuns(version),
        escalations: byCode(
          reasons.filter(
            (one) =>
              one.procedureKey === version.procedureKey &&
              one.versionNumber === version.versionNumber,
          ),
        ),
      })),
      hasMore: versions.length > limit,
      steps: steps.map((one) => toStep(one, reasons)),
      periods: periods.map((period) => ({ from: period.from.toISOString(), ...toRuns(period) })),
    }
  },
})

function problemsOf(
  { procedureKey: key, versionNumber: number }: { procedureKey?: unknown; versionNumber?: unknown },
  from: number,
  to: number,
) {
  const isAlone = number !== undefined && key === undefined
  return [
    ...(from < to ? [] : [{ path: 'to', message: "must be after 'from'" }]),
    ...(isAlone ? [{ path: 'versionNumber', message: "needs 'procedureKey' beside it" }] : []),
  ]
}

/** Within each version in the order of its playbook; newer versions first. */
async function inOrder(
  db: Db,
  procedureKey: string,
  steps: readonly StepInsights[],
): Promise<readonly StepInsights[]> {
  const places = new Map<number, readonly string[]>()
  for (const { versionNumber: number } of steps) {
    if (places.has(number)) continue
    const { definition } = await findProcedureVersion(db, procedureKey, number)
    places.set(
      number,
      Array.from(walkSteps(definition.steps), ({ key }) => key),
    )
  }
  const placeOf = ({ versionNumber: number, stepKey }: StepInsights) =>
    places.get(number)?.indexOf(stepKey) ?? 0
  return [...steps].sort((a, b) => b.versionNumber - a.versionNumber || placeOf(a) - placeOf(b))
}

function toRuns({ durations, ...counts }: RunCounts): z.infer<typeof runs> {
  const { resolved, declined, escalated, cancelled } = counts
  const judged = resolved + declined + escalated
  return {
    runs: counts.runs,
    open: counts.runs - judged - cancelled,
    cancelled,
    resolved: proportionOf(resolved, judged),
    declined: proportionOf(declined, judged),
    escalated: proportionOf(escalated, judged),
    durationMs: durations && { ...durations },
  }
}

function toStep(
  { durations, ...one }: StepInsights,
  reasons: readonly EscalationInsights[],
): z.infer<typeof step> {
  const ended = one.begun - one.open
  const own = reasons.filter(
    ({ versionNumber: number, stepKey }) => number === one.versionNumber && stepKey === one.stepKey,
  )
  return {
    versionNumber: one.versionNumber,
    stepKey: one.stepKey,
    kind: one.kind,
    tool: one.tool,
    begun: one.begun,
    skipped: one.skipped,
    open: one.open,
    completed: proportionOf(one.completed, ended),
    failed: proportionOf(one.failed, ended),
    expired: proportionOf(one.expired, ended),
    denied: proportionOf(one.denied, ended),
    attempts: {
      mean: one.begun === 0 ? null : one.attempts / one.begun,
      most: one.mostAttempts,
      retried: proportionOf(one.retried, one.begun),
    },
    durationMs: durations && { ...durations },
    escalations: byCode(own),
  }
}

function byCode(
  reasons: readonly EscalationInsights[],
): { readonly code: string; readonly count: number }[] {
  const counts = new Map<string, number>()
  for (const { code, count: n } of reasons) counts.set(code, (counts.get(code) ?? 0) + n)
  return [...counts].map(([code, n]) => ({ code, count: n })).sort((a, b) => b.count - a.count)
}
