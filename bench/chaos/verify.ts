import type { CalledFrom, StepStatus } from '../../src/domain/execution.ts'
import { idempotencyKeyOf } from '../../src/executor/begin-step.ts'
import type { Client } from '../../src/library.ts'
import { isPoison, limitedTool, readWorld, type WorldCall } from './desk.ts'
import { readWords } from './people.ts'
import type { Admin } from './server.ts'
import { verifyWords, type WaitRow, type WordsVerdict } from './verify-words.ts'

/** What came of the runs. All of the first group must be 0. */
export interface Verdict extends WordsVerdict {
  /** Stored, and never ended. */
  readonly stuck: number
  /** Answered to the caller as stored, and not there. */
  readonly lost: number
  /** With more than one escalation, or with rows that say more than one end. */
  readonly endedTwice: number
  /** Effects of a tool that bears repeats, done under a key that is of no step, item or round of their run. */
  readonly effectsTwice: number
  /** Calls of a tool that bears none, made more than once for one step. */
  readonly unrepeatableTwice: number
  /** Runs that ended as if a call had been made that was not, or the other way round. */
  readonly untrue: number
  /** Runs that ended otherwise than they had to. */
  readonly unexpectedEnds: number
  /** Steps that call another run, and have none, or more than one, or one of another version than was pinned. */
  readonly callsWrong: number
  /** Limits of tools that were passed, or that count otherwise than the steps say. */
  readonly limitsWrong: number
  /** Runs whose record does not follow from its definition. */
  readonly replaysDisagree: number

  readonly executions: number
  readonly resolved: number
  /** Runs whose letter was in doubt, each with a person now. */
  readonly unknown: number
  /** Runs that killed their workers, each with a person now. */
  readonly exhausted: number
  readonly takeOvers: number
  /** Calls of writing tools. */
  readonly calls: number
  /** Runs that others have called, and of how many versions they were. */
  readonly called: number
  readonly calledVersions: number
  /** Steps by kind, each item and round counted. */
  readonly steps: Readonly<Record<string, number>>
  /** Ends by how the run ended, or why a person has it. */
  readonly ends: Readonly<Record<string, number>>
}

export function isClean(verdict: Verdict): boolean {
  const { stuck, lost, endedTwice, effectsTwice, unrepeatableTwice, untrue, unexpectedEnds } =
    verdict
  const {
    callsWrong,
    limitsWrong,
    replaysDisagree,
    wordsLost,
    wordsTwice,
    wordsWrong,
    wordsUntrue,
  } = verdict
  return [
    [stuck, lost, endedTwice, effectsTwice, unrepeatableTwice, untrue, unexpectedEnds],
    [callsWrong, limitsWrong, replaysDisagree, wordsLost, wordsTwice, wordsWrong, wordsUntrue],
  ].every((counts) => counts.every((count) => count === 0))
}

interface Row {
  readonly id: string
  readonly procedure_key: string
  readonly version_id: string
  readonly customer: string
  readonly mode: string
  readonly status: string
  readonly outcome: string | null
  readonly reason: string | null
  readonly take_overs: number
  readonly escalations: number
  readonly parent_id: string | null
  readonly parent_ordinal: number | null
  readonly root_id: string | null
  readonly call_path: CalledFrom['path'] | null
  readonly pins: Readonly<Record<string, { readonly versionId: string }>> | null
}

interface Step extends WaitRow {
  readonly ordinal: number
  readonly status: StepStatus
  readonly attempt: number
  readonly tool: string | null
}

export async function verify(
  admin: Admin,
  client: Pick<Client, 'replayExecution'>,
  files: { readonly worldFile: string; readonly wordsFile: string },
  started: ReadonlySet<string>,
  tell: (what: string, of: object) => void,
): Promise<Verdict> {
  const { rows } = await admin.query<Row>(
    `SELECT e.id, e.procedure_key, e.version_id, e.input ->> 'customerId' AS customer, e.mode, e.status, e.outcome,
       e.reason_code AS reason, e.take_over_count AS take_overs, e.parent_id, e.parent_ordinal, e.root_id, e.call_path,
       e.pins, (SELECT count(*)::int FROM escalations x WHERE x.execution_id = e.id) AS escalations
     FROM executions e ORDER BY e.id`,
  )
  const world = readWorld(files.worldFile)
  const callsOf = groupBy(world, ({ executionId }) => executionId)
  const childrenOf = groupBy(rows, ({ parent_id }) => parent_id ?? '')
  const byId = new Map(rows.map((row) => [row.id, row]))

  const found = {
    stuck: 0,
    lost: [...started].filter((id) => !byId.has(id)).length,
    endedTwice: 0,
    effectsTwice: 0,
    unrepeatableTwice: 0,
    untrue: 0,
    unexpectedEnds: 0,
    callsWrong: 0,
    limitsWrong: await countWrongLimits(admin, tell),
    replaysDisagree: 0,
  }
  const kinds: Record<string, number> = {}
  const ends: Record<string, number> = {}
  const waits: WaitRow[] = []
  for (const row of rows) {
    const { rows: steps } = await admin.query<Step>(
      `SELECT execution_id, ordinal, step_key, iteration, kind, status, attempt, tool, input, output, exchange
       FROM step_executions WHERE execution_id = $1 ORDER BY ordinal`,
      [row.id],
    )
    for (const { kind } of steps) kinds[kind] = (kinds[kind] ?? 0) + 1
    waits.push(...steps.filter((step) => isForPeople(row, step)))
    const end = row.reason ?? row.outcome ?? row.status
    ends[end] = (ends[end] ?? 0) + 1
    const count = (what: keyof typeof found, times: number, more: object = {}): void => {
      found[what] += times
      if (times > 0) tell(what, { ...row, ...more })
    }
    count('stuck', isEnded(row) ? 0 : 1)
    count('endedTwice', row.escalations > (row.status === 'escalated' ? 1 : 0) ? 1 : 0)
    const effects = compareEffects(row, steps, callsOf.get(row.id) ?? [])
    count('effectsTwice', effects.strange)
    count('unrepeatableTwice', effects.repeated)
    count('untrue', effects.untrue)
    count('callsWrong', wrongCalls(row, steps, childrenOf.get(row.id) ?? []))
    const caller = row.parent_id === null ? undefined : byId.get(row.parent_id)
    count('unexpectedEnds', isExpectedEnd(row, caller, effects.posted) ? 0 : 1)
    const { agrees, divergence } = await client.replayExecution({ executionId: row.id as never })
    count('replaysDisagree', agrees ? 0 : 1, { divergence })
  }
  const called = rows.filter(({ parent_id }) => parent_id !== null)
  return {
    ...found,
    ...verifyWords(readWords(files.wordsFile), waits, tell),
    executions: rows.length,
    resolved: ends.resolved ?? 0,
    unknown: ends.outcome_unknown ?? 0,
    exhausted: ends.recovery_exhausted ?? 0,
    takeOvers: rows.reduce((sum, row) => sum + row.take_overs, 0),
    calls: world.length,
    called: called.length,
    calledVersions: new Set(called.map(({ version_id }) => version_id)).size,
    steps: kinds,
    ends,
  }
}

function isEnded({ status }: Row): boolean {
  return ['completed', 'escalated', 'cancelled'].includes(status)
}

/** The row of a loop is of the same kind, and waits for nobody itself. */
function isForPeople({ mode }: Row, { kind, attempt, exchange, input }: Step): boolean {
  if (kind === 'tool') return mode === 'guided' && (exchange !== null || attempt === 0)
  return (kind === 'ask' || kind === 'approval') && 'from' in Object(input ?? {})
}

const effectTools: readonly string[] = ['pay_once', 'post_letter', limitedTool]

/** Holds what is counted of limits against the steps: each counts unless all its attempts were certainly not made. */
async function countWrongLimits(
  admin: Admin,
  tell: (what: string, of: object) => void,
): Promise<number> {
  const { rows } = await admin.query<{
    subject: string
    used: string
    due: string
    beyond: boolean
  }>(
    `WITH counted AS (
       SELECT s.input ->> 'customerId' AS customer, (s.input ->> 'amount')::numeric AS amount
       FROM step_executions s
       WHERE s.tool = $1 AND s.status NOT IN ('skipped', 'waiting') AND s.attempt > 0
         AND (s.status = 'completed' OR s.attempt > jsonb_array_length(coalesce(s.attempts, '[]'))
           OR jsonb_path_exists(s.attempts, '$[*] ? (@.result != "refused" && @.result != "failed")'))
     ), due AS (
       SELECT customer AS subject, count(*)::numeric AS due FROM counted GROUP BY customer
       UNION ALL SELECT '', coalesce(sum(amount), 0) FROM counted
     ), used AS (
       SELECT subject, sum(used) AS used, bool_or(used > at_most) AS beyond
       FROM limit_counters WHERE tool = $1 GROUP BY subject
     )
     SELECT subject, coalesce(used, 0)::text AS used, coalesce(due, 0)::text AS due, coalesce(beyond, false) AS beyond
     FROM due FULL JOIN used USING (subject)`,
    [limitedTool],
  )
  const wrong = rows.filter(({ used, due, beyond }) => beyond || Number(used) !== Number(due))
  for (const row of wrong) tell('limitsWrong', row)
  return wrong.length
}

/** Holds what was done in the world against the steps that are recorded. */
function compareEffects(row: Row, steps: readonly Step[], calls: readonly WorldCall[]) {
  const start = {
    executionId: row.id,
    ...(row.root_id !== null && {
      calledFrom: {
        rootId: row.root_id,
        parentId: row.parent_id,
        parentOrdinal: row.parent_ordinal,
        path: row.call_path ?? [],
      },
    }),
  }
  const keyOf = ({ step_key: stepKey, iteration }: Step) =>
    idempotencyKeyOf(start as never, { stepKey, iteration } as never)
  const writes = steps.filter(({ tool }) => effectTools.includes(tool ?? ''))
  const known = new Map(writes.map((step) => [keyOf(step), step]))
  const strange = new Set(calls.flatMap((call) => (known.has(call.idempotencyKey) ? [] : [call])))
  const letters = groupBy(
    calls.filter(({ tool }) => tool === 'post_letter'),
    ({ idempotencyKey }) => idempotencyKey,
  )
  const done = new Set(calls.map(({ idempotencyKey }) => idempotencyKey))
  let untrue = 0
  for (const [key, { status, tool }] of known) {
    // What is recorded as done was done; what is not, may have been done only where that is open.
    if (status === 'completed' && !done.has(key)) untrue += 1
    if (status !== 'completed' && done.has(key) && row.outcome === 'resolved') untrue += 1
    if (status === 'skipped' && done.has(key)) untrue += 1
    if (tool === 'post_letter' && status === 'denied' && done.has(key)) untrue += 1
  }
  return {
    strange: strange.size,
    repeated: [...letters.values()].filter((same) => same.length > 1).length,
    untrue,
    posted: writes.some(({ tool, status }) => tool === 'post_letter' && status === 'completed'),
  }
}

/** Each step that has called was answered by exactly one run, of the version that the root had pinned. */
function wrongCalls(row: Row, steps: readonly Step[], children: readonly Row[]): number {
  const calls = steps.filter(({ kind, input }) => kind === 'call' && 'versionId' in Object(input))
  let wrong = 0
  for (const { ordinal, status, input } of calls) {
    const own = children.filter(({ parent_ordinal }) => parent_ordinal === ordinal)
    // One that still waits when its run has ended may not have come to call.
    if (own.length > 1 || (own.length === 0 && status !== 'waiting')) wrong += 1
    const { versionId, procedure } = Object(input)
    if (row.pins?.[procedure]?.versionId !== versionId) wrong += 1
    if (own.some(({ version_id }) => version_id !== versionId)) wrong += 1
  }
  const ordinals = calls.map(({ ordinal }) => ordinal)
  return wrong + children.filter((one) => !ordinals.includes(one.parent_ordinal ?? 0)).length
}

const expectedReasons: Readonly<Record<string, readonly string[]>> = {
  CHAOS_PEOPLE: ['approval_denied', 'deadline_passed'],
  CHAOS_CALLS: ['child_escalated'],
  CHAOS_CALLED: ['ended_by_step'],
  CHAOS_LIMITED: ['limit_exceeded', 'tool_failed'],
}

/**
 * A run resolves, unless its letter is in doubt, somebody says no, or it kills whoever works on it. One that met five
 * deaths by chance is handed to a person as well, and one whose caller has ended before it is cancelled.
 */
function isExpectedEnd(row: Row, caller: Row | undefined, posted: boolean): boolean {
  const { reason } = row
  if (reason === 'recovery_exhausted') return row.take_overs > 5
  if (isPoison(row.customer)) return reason === 'outcome_unknown' && !posted
  if (row.outcome === 'resolved') return true
  if (row.status === 'cancelled') return caller !== undefined && caller.outcome !== 'resolved'
  if (row.mode === 'guided' && reason === 'approval_denied') return true
  if (reason !== null && expectedReasons[row.procedure_key]?.includes(reason)) return true
  return reason === 'outcome_unknown' && row.procedure_key === 'CHAOS_UNREPEATABLE' && !posted
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}
