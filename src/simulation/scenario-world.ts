import { speaksFor, whyNotApproving, whyNotAsked } from '../domain/asked.ts'
import { durationMs } from '../domain/duration.ts'
import type { AttemptResult, Said, StepRow } from '../domain/execution.ts'
import { isJsonObject } from '../domain/json.ts'
import { type Principal, roles } from '../domain/principal.ts'
import {
  isList,
  type Observation,
  type Observations,
  placeOf,
  type Scenario,
  type SpeakerFields,
  type ToolFailure,
} from '../domain/scenario.ts'
import type { ToolObservation } from '../executor/attempt.ts'
import type { ApprovalNode, PlanNode } from '../executor/plan.ts'
import { concludeApproval, concludeAsk, concludeCall } from '../executor/waits.ts'
import type { RunSoFar, Word, World } from './world.ts'

const results: Readonly<Record<ToolFailure, Exclude<AttemptResult, 'done'>>> = {
  refused: 'refused',
  failed: 'failed',
  timeout: 'timeout',
  unknown: 'error',
  invalid: 'invalid',
  // As the runner records it: the tool is never called.
  limited: 'refused',
}

const codes: Readonly<Record<ToolFailure, string>> = {
  refused: 'tool_failed',
  failed: 'tool_failed',
  timeout: 'tool_timeout',
  unknown: 'tool_failed',
  invalid: 'output_invalid',
  limited: 'limit_exceeded',
}

/** What a scenario says of the outside, for one run: its lists are used up as they are read. */
export function createScenarioWorld(scenario: Scenario): World {
  return new ScenarioWorld(scenario)
}

class ScenarioWorld implements World {
  readonly #scenario: Scenario
  /** How many entries of each list were taken. */
  readonly #taken = new Map<Observations, number>()
  /** What comes next to each wait, by its ordinal and the number of words that it has heard. */
  readonly #next = new Map<string, Observation>()

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  call(
    row: StepRow,
    call: { readonly timeoutMs: number },
    at: number,
  ): ToolObservation | undefined {
    const taken = this.#take(row)
    if (taken === undefined) return undefined
    const isDone = 'output' in taken && !('outcome' in taken)
    if (!isDone && !('fails' in taken)) return undefined
    const { timeoutMs } = call
    const tookMs = afterMs(taken)
    // Whatever would come after the time-out, nobody waits for it.
    const isLate = tookMs > timeoutMs
    if (isDone && !isLate) return { result: 'done', output: taken.output, endedAt: at + tookMs }
    const fails = isLate || !('fails' in taken) ? 'timeout' : taken.fails
    const { message = `The scenario says: ${fails}.` } = 'fails' in taken ? taken : {}
    const isWaitedFor = isLate || (fails === 'timeout' && taken.after === undefined)
    const endedAt = at + (isWaitedFor ? timeoutMs : tookMs)
    return { result: results[fails], code: codes[fails], message, endedAt }
  }

  wait(row: StepRow, node: PlanNode, run: RunSoFar): Word | undefined {
    const heard = row.exchange?.filter(({ kind }) => kind !== 'reminded') ?? []
    const place = `${row.ordinal}/${heard.length}`
    const next = this.#next.get(place) ?? this.#firstFor(row, node)
    if (next === undefined) return undefined
    this.#next.set(place, next)
    if ('says' in next && next.says === 'nothing') return { kind: 'nothing' }
    const before = heard.at(-1)?.at ?? row.startedAt
    const at = Math.max(row.startedAt + afterMs(next), before, run.state.lastEndedAt)
    return this.#wordOf(row, node, next, at, run)
  }

  #wordOf(
    row: StepRow,
    node: PlanNode,
    next: Observation,
    at: number,
    run: RunSoFar,
  ): Word | undefined {
    const said = (made: StepRow): Word => ({ kind: 'said', at, row: made })
    if (node.kind === 'call' && 'outcome' in next) {
      const { outcome, output: result = null, message = 'It was escalated.' } = next
      const end = {
        outcome: outcome === 'escalated' ? null : outcome,
        result,
        message,
        endedAt: at,
      }
      return said(concludeCall(row, end))
    }
    if (node.kind === 'ask' && 'answer' in next) {
      const speaker = speakerOf(next, node.step.ask, 'answerer')
      if (!speaksFor(node.step.ask, speaker)) {
        return refused(row, speaker, whyNotAsked(node.step.ask))
      }
      const by = { id: speaker.id, kind: speaker.kind }
      return said(concludeAsk(row, { kind: 'answered', at, by }, next.answer))
    }
    if (node.kind === 'approval' && 'says' in next) return judged(row, node, next, at, run)
    if (node.kind === 'tool') return confirmed(row, next, at)
    return undefined
  }

  /** The entry for a wait. The write of a guided run is confirmed where its entry says nothing of a word. */
  #firstFor(row: StepRow, node: PlanNode): Observation | undefined {
    if (node.kind !== 'tool') return this.#take(row)
    const next = this.#peek(row)
    if (next === undefined) return undefined
    return 'says' in next ? this.#take(row) : { says: 'approved' }
  }

  #peek(row: StepRow): Observation | undefined {
    const source = this.#sourceOf(row)
    if (source === undefined || !isList(source)) return source
    return source[this.#taken.get(source) ?? 0]
  }

  #take(row: StepRow): Observation | undefined {
    const source = this.#sourceOf(row)
    if (source === undefined || !isList(source)) return source
    const taken = this.#taken.get(source) ?? 0
    this.#taken.set(source, taken + 1)
    return source[taken]
  }

  /** What is said of the round, else of the step, else of its tool. */
  #sourceOf(row: StepRow): Observations | undefined {
    const { steps = {}, tools = {} } = this.#scenario
    return (
      member(steps, placeOf(row)) ??
      member(steps, row.stepKey) ??
      (row.tool === null ? undefined : member(tools, row.tool))
    )
  }
}

function member(
  observations: { readonly [name: string]: Observations },
  name: string,
): Observations | undefined {
  return Object.hasOwn(observations, name) ? observations[name] : undefined
}

function afterMs({ after }: Observation): number {
  return after === undefined ? 0 : durationMs(after)
}

/** A person of the roles and groups that are given; without any, one who is asked. */
function speakerOf({ by, ...given }: SpeakerFields, from: string, standard: string): Principal {
  const group = from.startsWith('group:') ? [from.slice('group:'.length)] : []
  const asked = from === 'customer' ? 'agent' : from
  return {
    id: by ?? standard,
    kind: 'human',
    roles: given.roles ?? roles.filter((role) => role === asked),
    groups: given.groups ?? group,
    tenantId: '',
  }
}

function judged(
  row: StepRow,
  node: ApprovalNode,
  { says, message, ...speaking }: Extract<Observation, { readonly says: string }>,
  at: number,
  { state, rows }: RunSoFar,
): Word {
  const { approval, notBy = [] } = node.step
  const exchange = row.exchange ?? []
  const heard = exchange.filter(({ kind }) => kind === 'approved').length
  const speaker = speakerOf(speaking, approval, `approver ${heard + 1}`)
  const { requester, onBehalfOf } = state.start
  const why = whyNotApproving(approval, speaker, {
    requesters: [requester.id, ...(onBehalfOf === undefined ? [] : [onBehalfOf])],
    others: rows
      .filter(({ stepKey }) => notBy.includes(stepKey))
      .flatMap((other) => other.exchange ?? []),
    exchange,
  })
  if (why !== undefined) return refused(row, speaker, why)
  const by = { id: speaker.id, kind: speaker.kind }
  const comment = message !== undefined && { comment: message }
  const showHash = isJsonObject(row.input) ? String(row.input.showHash) : ''
  const said =
    says === 'denied'
      ? ({ kind: 'denied', at, by, ...comment } as const)
      : ({ kind: 'approved', at, by, showHash, ...comment } as const)
  return { kind: 'said', at, row: concludeApproval(node, row, said) }
}

/** An agent's word on a write of a guided run; what follows from it is decided when the run goes on. */
function confirmed(row: StepRow, next: Observation, at: number): Word | undefined {
  if (!('says' in next)) return undefined
  const speaker = speakerOf(next, 'agent', 'agent')
  if (!speaksFor('agent', speaker) && !speaksFor('admin', speaker)) {
    return refused(row, speaker, 'an agent or an admin confirms it')
  }
  const by = { id: speaker.id, kind: speaker.kind }
  const comment = next.message !== undefined && { comment: next.message }
  const said: Said = { kind: next.says === 'denied' ? 'denied' : 'approved', at, by, ...comment }
  return { kind: 'said', at, row: { ...row, exchange: [...(row.exchange ?? []), said] } }
}

function refused(row: StepRow, { id }: Principal, why: string): Word {
  return { kind: 'refused', message: `${id} cannot speak at '${placeOf(row)}': ${why}.` }
}
