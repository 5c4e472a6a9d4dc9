import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOf } from '../../src/domain/canonical.ts'
import type { ExecutionEnd, StepRow } from '../../src/domain/execution.ts'
import { apply, type ExecutionState, initialState } from '../../src/executor/apply.ts'
import { decide } from '../../src/executor/decide.ts'
import type { Plan } from '../../src/executor/plan.ts'
import { replay } from '../../src/executor/replay.ts'
import { type GeneratedRun, generatedRun, generatedTools } from '../support/generate-run.ts'
import {
  contractOf,
  definitionOf,
  planOf,
  startOf,
  throughJsonb,
  type Walked,
  walk,
} from '../support/walk.ts'

function walkRun({ definition, input, answer, reply }: GeneratedRun): {
  readonly plan: Plan
  readonly walked: Walked
} {
  const plan = planOf(definition, generatedTools)
  return { plan, walked: walk(plan, startOf(input), answer, undefined, undefined, reply) }
}

describe('replay of any run', () => {
  it('agrees, live and after the values went through jsonb', () => {
    const ends = new Map<string, number>()
    fc.assert(
      fc.property(generatedRun, (run) => {
        const { plan, walked } = walkRun(run)
        const record = { start: startOf(run.input), rows: walked.rows, end: walked.end }

        const live = replay(plan, record)
        const loaded = replay(
          planOf(throughJsonb(run.definition), throughJsonb(generatedTools)),
          throughJsonb(record),
        )

        expect(live.divergence).toBeNull()
        expect(loaded.divergence).toBeNull()
        const how = walked.end.outcome ?? walked.end.reason?.code ?? ''
        ends.set(how, (ends.get(how) ?? 0) + 1)
      }),
      { numRuns: 500 },
    )

    // The generator is only worth something if it reaches many kinds of end.
    expect(ends.size).toBeGreaterThan(8)
  })

  it('decides the same from the same state, whatever ran in between', () => {
    fc.assert(
      fc.property(generatedRun, fc.nat(), (run, offset) => {
        const { plan, walked } = walkRun(run)
        const state =
          walked.states[offset % walked.states.length] ?? initialState(plan, startOf(run.input))
        const now = state.lastEndedAt + 5

        const once = decide(plan, state, now)
        const other = planOf(run.definition, generatedTools)
        const again = decide(other, { ...throughJsonb(state), nodes: other.nodes }, now)

        expect(hashOf(again)).toBe(hashOf(once))
      }),
    )
  })

  it('goes on from any prefix of its rows to the same end', () => {
    fc.assert(
      fc.property(generatedRun, fc.nat(), (run, offset) => {
        const { plan, walked } = walkRun(run)
        const cut = offset % (walked.states.length || 1)

        const resumed = walk(
          plan,
          startOf(run.input),
          run.answer,
          { ...throughJsonb(walked.states[cut] as ExecutionState), nodes: plan.nodes },
          walked.moments[cut],
          run.reply,
        )

        expect(resumed.end.status).toBe(walked.end.status)
        expect(resumed.end.reason?.code).toBe(walked.end.reason?.code)
        expect(resumed.end.result).toEqual(walked.end.result)
      }),
    )
  })

  it('takes a run that goes on for what it has come to, wherever it was cut off', () => {
    fc.assert(
      fc.property(generatedRun, fc.nat(), (run, offset) => {
        const { plan, walked } = walkRun(run)
        const cut = offset % walked.states.length
        const rows = new Map<number, StepRow>()
        for (const { last } of walked.states.slice(1, cut + 1)) {
          if (last !== undefined) rows.set(last.ordinal, last)
        }

        const record = { start: startOf(run.input), rows: [...rows.values()], end: null }
        const { divergence, state } = replay(plan, record)

        expect(divergence).toBeNull()
        const live = walked.states[cut]
        expect(hashOf(state.steps)).toBe(hashOf(live?.steps))
        expect(state.nextOrdinal).toBe(live?.nextOrdinal)
        expect(state.waiting).toEqual(live?.waiting)
      }),
      { numRuns: 500 },
    )
  })

  it('says so when any fact of the record was changed', () => {
    fc.assert(
      fc.property(generatedRun, fc.nat(), fc.constantFrom(...forgeries), (run, offset, forge) => {
        const { plan, walked } = walkRun(run)
        const forged = forge(walked.rows, walked.end, offset)
        fc.pre(forged !== undefined)

        expect(replay(plan, { start: startOf(run.input), ...forged }).agrees).toBe(false)
      }),
    )
  })
})

it('agrees with a run of version 1, which called a rule clear that was never tested', () => {
  const plan = planOf(
    definitionOf({
      steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
      escalationRules: [
        { text: 'matches', when: 'steps.known.output.known' },
        { text: 'untested', when: '!steps.known.output.known' },
      ],
    }),
  )
  const { rows, end } = walk(plan, startOf(), () => ({ output: null }))
  const [matched, untested] = end.conditions
  const conditions = [matched, { ...untested, verdict: 'clear' }] as ExecutionEnd['conditions']
  const record = { start: startOf(), rows, end: { ...end, conditions } }

  expect(untested?.verdict).toBe('not_reached')
  expect(replay(plan, { ...record, start: { ...record.start, semanticsVersion: 1 } }).agrees).toBe(
    true,
  )
  expect(replay(plan, { ...record, start: { ...record.start, semanticsVersion: 2 } }).agrees).toBe(
    false,
  )
  const forged = [{ ...matched, verdict: 'clear' }, untested] as ExecutionEnd['conditions']
  const other = {
    ...record,
    start: { ...record.start, semanticsVersion: 1 },
    end: { ...end, conditions: forged },
  }
  expect(replay(plan, other).agrees).toBe(false)
})

type Forgery = (
  rows: readonly StepRow[],
  end: ExecutionEnd,
  offset: number,
) => { readonly rows: readonly StepRow[]; readonly end: ExecutionEnd } | undefined

const forgeries: readonly Forgery[] = [
  // A decided output; what people answer and other runs come to is observed.
  (rows, end, offset) => {
    const index = offset % (rows.length || 1)
    const row = rows[index]
    if (
      row === undefined ||
      row.tool !== null ||
      row.status !== 'completed' ||
      ['steps', 'ask', 'call'].includes(row.kind)
    )
      return undefined
    return { rows: rows.with(index, { ...row, output: { forged: true } }), end }
  },
  // The input that was sent.
  (rows, end, offset) => {
    const index = offset % (rows.length || 1)
    const row = rows[index]
    if (row === undefined || row.input === null) return undefined
    return { rows: rows.with(index, { ...row, input: { value: 'forged' } }), end }
  },
  // A step that never was.
  (rows, end) => {
    const last = rows.at(-1)
    return last && { rows: [...rows, { ...last, ordinal: last.ordinal + 1 }], end }
  },
  // A step that is gone. One that still waited when another had ended the run may as well not have been asked yet, and
  // where time has ended a run, its time limit may have done so before the step.
  (rows, end) => {
    const isEnded = rows.length > 0 && rows.at(-1)?.status !== 'waiting'
    const isOpenToTime = end.status === 'cancelled' || end.reason?.code === 'deadline_passed'
    return isEnded && !isOpenToTime ? { rows: rows.slice(0, -1), end } : undefined
  },
  // Another outcome.
  (rows, end) =>
    end.outcome === 'resolved'
      ? { rows, end: { ...end, outcome: 'declined' } }
      : { rows, end: { ...end, status: 'completed', outcome: 'resolved', reason: null } },
]

describe('replay', () => {
  const plan = planOf(definitionOf({ steps: [{ key: 'look_up', action: 'Look', tool: 'look' }] }), [
    contractOf('look'),
  ])

  it('agrees with a run that is still going, as far as it has come', () => {
    const { rows } = walk(plan, startOf(), () => ({ output: { ok: true } }))

    expect(replay(plan, { start: startOf(), rows, end: null })).toMatchObject({ agrees: true })
    expect(replay(plan, { start: startOf(), rows: [], end: null })).toMatchObject({
      agrees: true,
      decisions: 0,
    })
  })

  it('takes a running step for an attempt whose answer is not known', () => {
    const command = decide(plan, initialState(plan, startOf()), startOf().startedAt)
    if (command.kind !== 'callTool') throw new Error('expected a call')

    const { agrees, state } = replay(plan, { start: startOf(), rows: [command.row], end: null })

    expect(agrees).toBe(true)
    expect(state.last).toEqual(command.row)
    // No run ends, and no step begins, while one is running.
    const { end } = walk(plan, startOf(), () => ({ output: {} }))
    const next = { ...command.row, ordinal: 2 }
    expect(replay(plan, { start: startOf(), rows: [command.row], end }).agrees).toBe(false)
    expect(replay(plan, { start: startOf(), rows: [command.row, next], end: null }).agrees).toBe(
      false,
    )
    expect(apply(state, command.row).nextOrdinal).toBe(2)
  })

  it('takes a cancel as an observation', () => {
    const { rows, end } = walk(plan, startOf(), () => ({ output: { ok: true } }))

    const cancelled = {
      ...end,
      status: 'cancelled' as const,
      outcome: null,
      result: null,
      conditions: [],
    }

    expect(replay(plan, { start: startOf(), rows, end: cancelled }).agrees).toBe(true)
    // It says nothing of the definition, so whatever it claims besides is forged.
    const forged = { ...cancelled, result: { issued: true } }
    expect(replay(plan, { start: startOf(), rows, end: forged }).agrees).toBe(false)
  })
})
