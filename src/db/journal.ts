import { ServiceError } from '../domain/errors.ts'
import type { ExecutionEnd, StepRow } from '../domain/execution.ts'
import { newId } from '../domain/ids.ts'
import type { LimitUse, ReachedLimit } from '../domain/tool-limit.ts'
import type { Claim, Clock, Commit, Committed, Flags, Journal } from '../executor/ports.ts'
import { commitForCertain } from './certain-commit.ts'
import { findReached, formOf, type StepColumn, statementsFor } from './commit-statement.ts'
import type { Database } from './connect.ts'
import { constraintOf } from './database-errors.ts'
import type { TextValue } from './hot-statement.ts'
import type { TenantDb } from './tenant-pool.ts'

/**
 * The runner's journal over the database.
 *
 * Each commit is one statement. Its first part updates the execution row under the claim's fence and takes the row's
 * lock; all other parts select from what it returned, so a stale claim writes nothing at all. (`WHERE EXISTS (… fence
 * = $3)` would not do: it reads a snapshot and let one write of two through.)
 *
 * Almost always nobody wants anything of the execution, and the statement need not answer anything. When it has written
 * nothing, somebody does or the claim is lost: a second statement writes what may be written, and answers which.
 *
 * What an intent takes of limits is counted in the same statement, under the fence. Beyond a limit the whole statement is
 * refused.
 */
export function createJournal(database: Database, clock: Clock): Journal {
  async function commitOnce(claim: Claim, commit: Commit): Promise<Committed> {
    const { leave, limits } = commit
    const { quick } = statementsFor(commit)
    const values = valuesOf(claim, commit, clock.now())
    const db = database.forTenant(claim.tenantId)
    const count = limits?.kind === 'count' ? limits.uses : undefined
    try {
      if ((await db.run(quick, values)) > 0) return { flags: noFlags, isLeft: leave !== undefined }
      return await commitWhatMay(claim, commit, values)
    } catch (error) {
      if (count === undefined || !isBeyondLimit(error)) throw error
      const reached = await findReachedLimit(db, count)
      // Somebody has given back what was missing.
      if (reached === undefined) return commitOnce(claim, commit)
      return { flags: noFlags, isLeft: false, reached }
    }
  }

  async function commitWhatMay(
    claim: Claim,
    commit: Commit,
    values: readonly TextValue[],
  ): Promise<Committed> {
    const { leave, intent } = commit
    const { heedful } = statementsFor(commit)
    const db = database.forTenant(claim.tenantId)
    // Somebody wants something of it, and then it is not left to wait.
    if (leave?.status !== 'waiting' || leave.despiteCancel === true) {
      const all = [...values, ...intentValues(intent)]
      const [row] = await db.query<FlagsRow>(heedful.name, heedful.text, all)
      if (row !== undefined) return { flags: flagsOf(row), isLeft: leave !== undefined }
    }
    if (leave !== undefined && leave.status !== 'running') {
      return commitOnce(claim, { ...commit, leave: undefined })
    }
    const { executionId, fence } = claim
    throw new ServiceError('LEASE_LOST', { executionId, fence })
  }

  return {
    commit: (claim, commit) =>
      commit.mustBeKnown === true
        ? commitForCertain(database.forTenant(claim.tenantId), commitOnce, claim, commit)
        : commitOnce(claim, commit),
  }
}

interface FlagsRow {
  readonly cancel_requested_at: Date | null
  readonly pause_requested_at: Date | null
}

function flagsOf(row: FlagsRow): Flags {
  return {
    cancelRequested: row.cancel_requested_at !== null,
    pauseRequested: row.pause_requested_at !== null,
  }
}

const noFlags: Flags = { cancelRequested: false, pauseRequested: false }

/** The parameters of the quick statement, in the order in which its text numbers them. */
function valuesOf(claim: Claim, commit: Commit, now: number): TextValue[] {
  const { added, changed, end, leave, limits } = commit
  const values: TextValue[] = [claim.tenantId, claim.executionId, String(claim.fence)]
  if (leave !== undefined) values.push(leave.status, timeText(leave.wakeAt))
  if (end !== undefined) pushEnd(values, end, now)
  if (limits !== undefined) values.push(usesText(limits.uses))
  pushRows(values, changed, true)
  pushRows(values, added, false)
  if (commit.sensitive !== undefined) values.push(JSON.stringify(commit.sensitive))
  return values
}

/** Whether a statement was refused because it would have counted beyond a limit. */
function isBeyondLimit(error: unknown): boolean {
  return constraintOf(error) === 'limit_counters_within'
}

async function findReachedLimit(
  db: TenantDb,
  uses: readonly LimitUse[],
): Promise<ReachedLimit | undefined> {
  const values = [db.tenantId, usesText(uses)]
  const [row] = await db.query<{ n: number; used: string }>('find_reached', findReached, values)
  const use = row && uses[Number(row.n) - 1]
  return row && use && { use, used: row.used }
}

function usesText(uses: readonly LimitUse[]): string {
  return JSON.stringify(
    uses.map(({ startsAt, atMost, ...use }) => ({
      ...use,
      starts_at: instantText(startsAt),
      at_most: atMost,
    })),
  )
}

function intentValues(intent: Commit['intent']): readonly TextValue[] {
  return intent === undefined ? [] : [String(intent.ordinal), String(intent.despiteCancel)]
}

function pushEnd(values: TextValue[], end: ExecutionEnd, now: number): void {
  const { reason } = end
  values.push(
    end.status,
    end.outcome,
    jsonText(reason),
    jsonText(end.result),
    JSON.stringify(end.conditions),
    instantText(end.endedAt),
  )
  if (end.status !== 'escalated') return
  const { queue = 'support', priority = 'normal', assignee = null } = reason?.escalateTo ?? {}
  values.push(newId('escalation', now), queue, priority, assignee)
}

function pushRows(values: TextValue[], rows: readonly StepRow[], areChanged: boolean): void {
  if (formOf(rows) === 'json') {
    values.push(JSON.stringify(rows.map(toRecord)))
    return
  }
  for (const row of rows) {
    // In the order of `stepColumns`.
    values.push(
      String(row.ordinal),
      row.stepKey,
      row.iteration,
      row.kind,
      row.status,
      String(row.attempt),
      row.tool,
      jsonText(row.input),
      jsonText(row.output),
      jsonText(row.error),
      jsonText(row.attempts),
      instantText(row.startedAt),
      timeText(row.endedAt),
    )
    if (areChanged) values.push(exchangeText(row))
  }
}

function exchangeText({ exchange }: StepRow): string | null {
  return exchange === undefined ? null : JSON.stringify(exchange)
}

/** A row as a member of a JSON list. */
function toRecord(row: StepRow): { readonly [C in StepColumn]: unknown } {
  return {
    ordinal: row.ordinal,
    step_key: row.stepKey,
    iteration: row.iteration,
    kind: row.kind,
    status: row.status,
    attempt: row.attempt,
    tool: row.tool,
    input: row.input,
    output: row.output,
    error: row.error,
    attempts: row.attempts,
    exchange: row.exchange ?? null,
    started_at: instantText(row.startedAt),
    ended_at: timeText(row.endedAt),
  }
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}

function timeText(at: number | null): string | null {
  return at === null ? null : instantText(at)
}

let lastInstant = { at: Number.NaN, text: '' }

/** Most instants of a commit are the same millisecond, and making a text of one is a tenth of making a statement. */
function instantText(at: number): string {
  if (at !== lastInstant.at) lastInstant = { at, text: new Date(at).toISOString() }
  return lastInstant.text
}
