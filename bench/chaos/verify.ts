import type { Stepwarden } from '../../src/library.ts'
import { isPoison, readWorld } from './desk.ts'
import type { Admin } from './server.ts'

/** What came of the runs. All of the first group must be 0. */
export interface Verdict {
  /** Stored, and never ended. */
  readonly stuck: number
  /** Answered to the caller as stored, and not there. */
  readonly lost: number
  /** With more than one escalation, or with rows that say more than one end. */
  readonly endedTwice: number
  /** Effects of a tool that bears repeats, done under more than one key. */
  readonly effectsTwice: number
  /** Calls of a tool that bears none, made more than once for one run. */
  readonly unrepeatableTwice: number
  /** Runs that ended as if a call had been made that was not, or the other way round. */
  readonly untrue: number
  /** Runs that ended otherwise than they had to. */
  readonly unexpectedEnds: number
  /** Runs whose record does not follow from its definition. */
  readonly replaysDisagree: number

  readonly executions: number
  readonly resolved: number
  /** Runs whose letter was in doubt, each with a person now. */
  readonly unknown: number
  /** Runs that killed their workers, each with a person now. */
  readonly exhausted: number
  readonly takeOvers: number
  readonly calls: number
}

export function isClean(verdict: Verdict): boolean {
  const { stuck, lost, endedTwice, effectsTwice, unrepeatableTwice, untrue, unexpectedEnds } =
    verdict
  return (
    stuck + lost + endedTwice + effectsTwice + unrepeatableTwice + untrue + unexpectedEnds === 0 &&
    verdict.replaysDisagree === 0
  )
}

interface Row {
  readonly id: string
  readonly procedure_key: string
  readonly customer: string
  readonly status: string
  readonly outcome: string | null
  readonly reason: string | null
  readonly take_overs: number
  readonly escalations: number
  /** Steps that completed. */
  readonly done: readonly string[]
}

export async function verify(
  admin: Admin,
  client: ReturnType<Stepwarden['as']>,
  worldFile: string,
  started: ReadonlySet<string>,
): Promise<Verdict> {
  const { rows } = await admin.query<Row>(
    `SELECT e.id, e.procedure_key, e.input ->> 'customerId' AS customer, e.status, e.outcome,
       e.reason_code AS reason, e.take_over_count AS take_overs,
       (SELECT count(*)::int FROM escalations x WHERE x.execution_id = e.id) AS escalations,
       ARRAY(SELECT s.step_key FROM step_executions s
         WHERE s.execution_id = e.id AND s.status = 'completed' ORDER BY s.ordinal) AS done
     FROM executions e ORDER BY e.id`,
  )
  const world = readWorld(worldFile)
  const callsOf = new Map<string, { tool: string; key: string }[]>()
  for (const { tool, executionId, idempotencyKey } of world) {
    const calls = callsOf.get(executionId) ?? []
    calls.push({ tool, key: idempotencyKey })
    callsOf.set(executionId, calls)
  }

  const found = {
    stuck: 0,
    lost: [...started].filter((id) => !rows.some((row) => row.id === id)).length,
    endedTwice: 0,
    effectsTwice: 0,
    unrepeatableTwice: 0,
    untrue: 0,
    unexpectedEnds: 0,
    replaysDisagree: 0,
  }
  for (const row of rows) {
    const calls = callsOf.get(row.id) ?? []
    const letters = calls.filter(({ tool }) => tool === 'post_letter').length
    const payments = new Set(calls.flatMap(({ tool, key }) => (tool === 'pay_once' ? [key] : [])))
    const paid = row.done.filter((key) => key.startsWith('pay')).length
    const posted = row.done.includes('post')
    const isEnded = ['completed', 'escalated', 'cancelled'].includes(row.status)
    if (!isEnded) found.stuck += 1
    if (row.escalations > (row.status === 'escalated' ? 1 : 0)) found.endedTwice += 1
    if (payments.size > stepsThatPay(row.procedure_key)) found.effectsTwice += 1
    if (letters > 1) found.unrepeatableTwice += 1
    // What is recorded as done was done; a call that is recorded as not made may have been made only where that is open.
    if (payments.size < paid || (posted && letters !== 1)) found.untrue += 1
    if (row.outcome === 'resolved' && payments.size !== paid) found.untrue += 1
    if (!isExpectedEnd(row, posted)) found.unexpectedEnds += 1
    const { agrees } = await client.replayExecution({ executionId: row.id as never })
    if (!agrees) found.replaysDisagree += 1
  }
  const withReason = (reason: string) => rows.filter((row) => row.reason === reason).length
  return {
    ...found,
    executions: rows.length,
    resolved: rows.filter(({ outcome }) => outcome === 'resolved').length,
    unknown: withReason('outcome_unknown'),
    exhausted: withReason('recovery_exhausted'),
    takeOvers: rows.reduce((sum, row) => sum + row.take_overs, 0),
    calls: world.length,
  }
}

function stepsThatPay(procedureKey: string): number {
  return procedureKey === 'CHAOS_REPEATABLE' ? 2 : 1
}

/**
 * A run resolves, unless its letter is in doubt, or it kills whoever works on it. One that met five deaths by chance
 * is handed to a person as well.
 */
function isExpectedEnd(row: Row, posted: boolean): boolean {
  if (row.reason === 'recovery_exhausted') return row.take_overs > 5
  if (isPoison(row.customer)) return row.reason === 'outcome_unknown' && !posted
  if (row.outcome === 'resolved') return true
  return row.reason === 'outcome_unknown' && row.procedure_key === 'CHAOS_UNREPEATABLE' && !posted
}
