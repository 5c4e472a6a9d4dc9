import { z } from 'zod'
import type { AffectedRun, Backtest } from '../db/queries/backtests.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import { differences, needCodes, needText } from '../domain/backtest.ts'
import { canonicalJson } from '../domain/canonical.ts'
import type { ReasonCode } from '../domain/escalation.ts'
import { instant, procedureKey, versionNumber } from './shapes.ts'

const count = z.int()

const endFacts = z.object({
  end: z.enum(['resolved', 'declined', 'escalated', 'cancelled']),
  reason: z
    .custom<ReasonCode>()
    .meta({ type: 'string' })
    .nullable()
    .describe('The code of the reason'),
  text: z
    .string()
    .nullable()
    .describe('The text of the condition or rule that decided; null: none, or it held a value'),
})

const need = z.object({
  why: z.enum(needCodes),
  step: z.string().nullable().describe('The step that needs it; null: the start'),
  what: z.string().nullable().describe('The tool, the procedure, or the property of the input'),
  text: z.string().describe('What it means, for people'),
})

/** Which past runs are looked at, as a caller says it. */
export const backtestFilter = {
  from: instant.optional().describe('Only runs that were begun at this instant or later'),
  to: instant.optional().describe('Only runs that were begun before this instant'),
  status: z
    .enum(['completed', 'escalated', 'cancelled'])
    .optional()
    .describe('Default: completed and escalated ones'),
  outcome: z.enum(['resolved', 'declined']).optional(),
  againstVersion: versionNumber.optional().describe('Only runs of this version; default: of all'),
  limit: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe('The newest so many, 1 to 1,000,000'),
}

/** How long one call works; default: to the end. What is not done by then is carried on by the next. */
export const withinMs = z
  .int()
  .min(1)
  .max(600_000)
  .optional()
  .describe('Answer after about so many milliseconds, done or not; default: when it is done')

export const backtestOutput = z.object({
  backtestId: z.string(),
  procedureKey,
  versionNumber,
  definitionHash: z.string().describe('Of the version when the backtest was begun'),
  isCurrent: z.boolean().describe('Whether the version is still as it was then'),
  approvalDigest: z.string().describe('What an approval would have been bound to then'),
  filter: z.object({
    from: instant.nullable(),
    to: instant.nullable(),
    statuses: z.array(z.enum(['completed', 'escalated', 'cancelled'])),
    outcome: z.enum(['resolved', 'declined']).nullable(),
    againstVersion: z.int().nullable(),
    limit: z.int(),
  }),
  state: z.enum(['running', 'done', 'cancelled']),
  runCount: count.describe('Runs that the filter matched when it was begun'),
  doneCount: count.describe('Runs that were looked at'),
  same: count.describe('Runs that end as they did'),
  different: count.describe('Runs that end otherwise'),
  unknown: count.describe('Runs that need an observation that was never made'),
  changes: z
    .array(z.object({ before: endFacts, after: endFacts, count }))
    .describe('Of the different ones: which end became which, the most frequent first'),
  needs: z
    .array(need.extend({ count }))
    .describe('Of the unknown ones: what is missing, the most frequent first'),
  startedBy: z.object({ id: z.string(), kind: z.string() }),
  startedAt: instant,
  endedAt: instant.nullable(),
})
export type BacktestOutput = z.infer<typeof backtestOutput>

export const affectedRun = z.object({
  executionId: z.string(),
  versionNumber: z.int().describe('Of the version that the run was of'),
  kind: z.enum(['different', 'unknown']),
  before: endFacts,
  after: endFacts.nullable().describe('Null where it cannot be known'),
  differs: z.array(z.enum(differences)).describe('In what the end is another; empty where unknown'),
  step: z
    .object({
      position: z.int().describe('From 1, in the order in which steps were begun'),
      before: z.string().nullable().describe('Null: the run had ended'),
      after: z.string().nullable().describe('Null: the run would have ended'),
    })
    .nullable()
    .describe('The first step that differs; null where none does'),
  need: need.nullable().describe('What was never observed; null where nothing is missing'),
})
export type AffectedRunOutput = z.infer<typeof affectedRun>

/** `version`: as it is now; undefined for one that is gone. */
export function toBacktestOutput(
  backtest: Backtest,
  version: Pick<ProcedureVersion, 'definitionHash' | 'toolContracts'> | undefined,
): BacktestOutput {
  const { tally, filter, startedBy } = backtest
  const { same, different, unknown, changes, needs } = tally
  return {
    backtestId: backtest.id,
    procedureKey: backtest.procedureKey,
    versionNumber: backtest.versionNumber,
    definitionHash: backtest.definitionHash,
    isCurrent: version !== undefined && isOf(backtest, version),
    approvalDigest: backtest.approvalDigest,
    filter: { ...filter, statuses: [...filter.statuses] },
    state: backtest.state,
    runCount: backtest.runCount,
    doneCount: backtest.doneCount,
    same,
    different,
    unknown,
    changes: [...changes],
    needs: needs.map((one) => ({ ...one, text: needText(one) })),
    startedBy: { id: startedBy.id, kind: startedBy.kind },
    startedAt: backtest.startedAt.toISOString(),
    endedAt: backtest.endedAt?.toISOString() ?? null,
  }
}

/** Whether a backtest looked at what a version is now. */
export function isOf(
  backtest: Pick<Backtest, 'definitionHash' | 'toolContracts'>,
  version: Pick<ProcedureVersion, 'definitionHash' | 'toolContracts'>,
): boolean {
  return (
    backtest.definitionHash === version.definitionHash &&
    canonicalJson(backtest.toolContracts) === canonicalJson(version.toolContracts)
  )
}

export function toAffectedOutput({
  executionId,
  versionNumber: number,
  verdict,
}: AffectedRun): AffectedRunOutput {
  const { kind, before, step } = verdict
  return {
    executionId,
    versionNumber: number,
    kind,
    before,
    after: kind === 'different' ? verdict.after : null,
    differs: kind === 'different' ? [...verdict.differs] : [],
    step,
    need: kind === 'unknown' ? { ...verdict.need, text: needText(verdict.need) } : null,
  }
}
