import type { ExecutionEnd, ExecutionStart, StepRow } from '../domain/execution.ts'
import { placeOf } from '../domain/scenario.ts'
import { apply, type ExecutionState, initialState } from '../executor/apply.ts'
import { type Command, concludeAttempt, decide } from '../executor/decide.ts'
import type { Plan } from '../executor/plan.ts'
import type { Word, World } from './world.ts'

/** Why a simulated run did not come to an end. */
export interface Stop {
  /**
   * `missing`: nobody has said what comes of a step. `refused`: what was said could not be. `endless`: it waits for
   * something that never comes. `too_long`: it took more steps than a simulation takes.
   */
  readonly kind: 'missing' | 'refused' | 'endless' | 'too_long'
  readonly stepKey: string
  readonly iteration: string
  readonly message: string
}

export interface SimulatedRun {
  /** By ordinal, as a real run would record them. */
  readonly rows: readonly StepRow[]
  /** Null for a run that stopped. */
  readonly end: ExecutionEnd | null
  readonly stop: Stop | null
}

/** A loop of 1,000 items over ten steps has half as many; a longer run would keep its process from all else. */
export const maxDecisions = 20_000

/**
 * Runs a plan to its end, or to where the world is not known, by the functions that a real run is decided by. Nothing is
 * called or written, and no time passes: the clock jumps to the next moment at which something happens.
 *
 * Pure, apart from what `world` does: the same plan, start and answers give the same run. It stops after `limit` decisions.
 */
export function simulate(
  plan: Plan,
  start: ExecutionStart,
  world: World,
  limit = maxDecisions,
): SimulatedRun {
  const rows: StepRow[] = []
  let state = initialState(plan, start)
  // What has happened moves on the state's own clock; this one moves on what is waited for.
  let now = start.startedAt
  const stopped = (stop: Stop): SimulatedRun => ({ rows, end: null, stop })
  for (let commands = 0; commands < limit; commands += 1) {
    const begunAt = Math.max(now, world.beginsAt?.(state) ?? now)
    // While something waits, time passes only for what is begun: an answer may come first, or a deadline.
    if (state.waiting.length === 0) now = begunAt
    let command = decide(plan, state, now)
    if (begunAt > now && 'row' in command && command.row.ordinal >= state.nextOrdinal) {
      now = begunAt
      command = decide(plan, state, now)
    }
    if (command.kind === 'end') return { rows, end: command.end, stop: null }
    if (command.kind === 'wait') {
      const next = nextMoment({ state, rows }, command, world)
      if ('stop' in next) return stopped(next.stop)
      now = Math.max(now, next.at)
      if (next.row === undefined) continue
      rows[next.row.ordinal - 1] = next.row
      state = apply(state, next.row)
      continue
    }
    let { row } = command
    if (command.kind === 'callTool') {
      now = Math.max(now, command.call.notBefore)
      const observation = world.call(row, command.call, now)
      if (observation === undefined) return stopped(missingResult(row))
      row = concludeAttempt(plan, state, row, observation)
    }
    rows[row.ordinal - 1] = row
    state = apply(state, row)
  }
  const { stepKey = plan.first.key, iteration = '' } = state.last ?? {}
  const message = `It has no end after ${limit} decisions, which is as far as a simulation goes.`
  return stopped({ kind: 'too_long', stepKey, iteration, message })
}

/** When something happens next, and the row of what was said then, if it is somebody's word. */
type NextMoment = { readonly at: number; readonly row?: StepRow } | { readonly stop: Stop }

/** Of what waits together the word that comes first; time, where it ends a wait before or in the same moment. */
function nextMoment(
  run: { readonly state: ExecutionState; readonly rows: readonly StepRow[] },
  { until }: Extract<Command, { readonly kind: 'wait' }>,
  world: World,
): NextMoment {
  let first: Extract<Word, { readonly kind: 'said' }> | undefined
  let open: { readonly row: StepRow; readonly from: number } | undefined
  for (const row of run.state.waiting) {
    const node = run.state.nodes.get(row.stepKey)
    if (node === undefined) throw new TypeError(`step ${row.stepKey} is not in the definition`)
    if (node.kind === 'wait') continue
    const word = world.wait(row, node, run)
    // Whatever else is known of what waits with it: nobody knows what would come first.
    if (word === undefined) return { stop: missingResult(row) }
    if (word.kind === 'refused')
      return { stop: { ...at(row), kind: 'refused', message: word.message } }
    if (word.kind === 'said' && (first === undefined || word.at < first.at)) first = word
    if (word.kind === 'unknown' && (open === undefined || word.from < open.from)) {
      open = { row, from: word.from }
    }
  }
  const isWordFirst = first !== undefined && (until === null || first.at < until)
  const next = isWordFirst ? first : until === null ? undefined : { at: until }
  if (open !== undefined && (next === undefined || next.at > open.from)) {
    return { stop: missingResult(open.row) }
  }
  if (next !== undefined) return next
  const [row] = run.state.waiting
  if (row === undefined) throw new TypeError('a run that waits has something that it waits for')
  const message = `Nothing ever comes to '${placeOf(row)}', and it has no deadline.`
  return { stop: { ...at(row), kind: 'endless', message } }
}

function at({ stepKey, iteration }: StepRow): Pick<Stop, 'stepKey' | 'iteration'> {
  return { stepKey, iteration }
}

function missingResult(row: StepRow): Stop {
  const place = placeOf(row)
  const attempt = row.attempt > 1 ? `, attempt ${row.attempt}` : ''
  const message = `Nothing says what comes to '${place}'${attempt}. ${needed(row)}`
  return { ...at(row), kind: 'missing', message }
}

function needed({ kind, tool, status }: StepRow): string {
  switch (kind) {
    case 'ask':
      return 'It needs an answer, or says: nothing.'
    case 'approval':
      return 'It needs says: approved, denied or nothing.'
    case 'call':
      return 'It needs the outcome of the run that it calls.'
    default:
      return status === 'waiting'
        ? 'It needs the word of an agent, says: approved or denied.'
        : `It needs the output of ${tool ?? 'its tool'}, or fails.`
  }
}
