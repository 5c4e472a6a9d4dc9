import { describe, expect, it } from 'vitest'
import type { Definition } from '../../src/domain/definition.ts'
import type { StepRow } from '../../src/domain/execution.ts'
import type { Step } from '../../src/domain/step.ts'
import { apply, initialState } from '../../src/executor/apply.ts'
import { recordAttempt } from '../../src/executor/attempt.ts'
import { idempotencyKeyOf, type ToolCall } from '../../src/executor/begin-step.ts'
import { decide, maxRunSteps } from '../../src/executor/decide.ts'
import type { Plan } from '../../src/executor/plan.ts'
import { contractOf, definitionOf, planOf, startedAt, startOf, walk } from '../support/walk.ts'

const read = contractOf('look')
const write = contractOf('pay', { effect: 'write', requires: ['look'] })
const onceOnly = contractOf('wire', { effect: 'write', idempotent: false })
const tools = [read, write, onceOnly]

const look: Step = { key: 'look_up', action: 'Look', tool: 'look' }
const pay: Step = { key: 'pay_out', action: 'Pay', tool: 'pay' }

function run(
  parts: Partial<Definition> & Pick<Definition, 'steps'>,
  answers: Record<string, unknown> = {},
) {
  return walk(planOf(definitionOf(parts), tools), startOf({ amount: 7 }), (call) => ({
    output: answers[call.tool] ?? { state: 'ok' },
  }))
}

describe('decide', () => {
  it('walks the steps in order and resolves with the output of the last', () => {
    const { rows, end } = run({ steps: [look, pay] }, { pay: { paid: true } })

    expect(rows.map(({ ordinal, stepKey, status }) => [ordinal, stepKey, status])).toEqual([
      [1, 'look_up', 'completed'],
      [2, 'pay_out', 'completed'],
    ])
    expect(end).toMatchObject({
      status: 'completed',
      outcome: 'resolved',
      reason: null,
      result: { paid: true },
    })
  })

  it('escalates a tool whose required tool did not complete in the same run', () => {
    const { rows, end, calls } = run({ steps: [pay] })

    expect(calls).toEqual([])
    expect(rows[0]).toMatchObject({ status: 'failed', error: { code: 'tool_order' } })
    expect(end).toMatchObject({
      status: 'escalated',
      reason: { code: 'tool_order', stepKey: 'pay_out' },
    })
  })

  it('says what is missing before anything runs', () => {
    const { rows, end } = run({
      steps: [look],
      input: {
        type: 'object',
        required: ['amount', 'id'],
        properties: { amount: {}, id: { type: 'string' } },
      },
    })

    expect(rows).toEqual([])
    expect(end.reason).toMatchObject({ code: 'missing_input', fields: ['id'] })
  })

  it('refuses input that does not fit before anything runs', () => {
    const { end } = run({
      steps: [look],
      input: { type: 'object', properties: { amount: { type: 'string' } } },
    })

    expect(end.reason).toMatchObject({ code: 'input_invalid', fields: ['amount'] })
  })

  it.each([
    ['escalated', undefined, { status: 'escalated', outcome: null }],
    ['declined', 'declined' as const, { status: 'completed', outcome: 'declined' }],
  ])('ends %s on a precondition that does not hold', (_name, otherwise, expected) => {
    const { rows, end } = run({
      steps: [look],
      preconditions: [{ text: 'Small', when: 'input.amount < 5', ...(otherwise && { otherwise }) }],
    })

    expect(rows).toEqual([])
    expect(end).toMatchObject({
      ...expected,
      reason: { code: 'precondition_unmet', text: 'Small' },
    })
  })

  it('tests a rule as soon as the steps that it reads have ended, and before anything else', () => {
    const { rows, end } = run({
      steps: [look, pay],
      escalationRules: [
        { text: 'never', when: "steps.pay_out.output.state == 'ok'" },
        { text: 'odd', when: "steps.look_up.output.state == 'ok'" },
      ],
    })

    expect(rows.map(({ stepKey }) => stepKey)).toEqual(['look_up'])
    expect(end.reason).toMatchObject({ code: 'rule_matched', text: 'odd' })
    expect(end.conditions).toEqual([
      { kind: 'rule', text: 'never', verdict: 'not_reached' },
      { kind: 'rule', text: 'odd', verdict: 'matched' },
    ])
  })

  describe('calls a rule clear only when it was tested', () => {
    const [first, second] = [
      { text: 'first', when: "steps.look_up.output.state == 'odd'" },
      { text: 'second', when: "steps.look_up.output.state == 'even'" },
    ]
    const verdicts = ({ end }: ReturnType<typeof run>) =>
      end.conditions.filter(({ kind }) => kind === 'rule').map(({ verdict }) => verdict)

    it('not when it stands behind the one that matched', () => {
      const steps = [look]

      const odd = run({ steps, escalationRules: [first, second] }, { look: { state: 'odd' } })
      const even = run({ steps, escalationRules: [first, second] }, { look: { state: 'even' } })
      const neither = run({ steps, escalationRules: [first, second] })

      expect(verdicts(odd)).toEqual(['matched', 'not_reached'])
      expect(verdicts(even)).toEqual(['clear', 'matched'])
      expect(verdicts(neither)).toEqual(['clear', 'clear'])
    })

    it('not when it reads no step and stands behind the one that matched before step 1', () => {
      const ruled = run({
        steps: [look],
        escalationRules: [
          { text: 'big', when: 'input.amount > 5' },
          { text: 'bigger', when: 'input.amount > 50' },
        ],
      })

      expect(verdicts(ruled)).toEqual(['matched', 'not_reached'])
    })

    it('not when the one before it could not be evaluated', () => {
      const failing = { text: 'failing', when: 'steps.look_up.output.missing > 1' }

      expect(verdicts(run({ steps: [look], escalationRules: [failing, second] }))).toEqual([
        'failed',
        'not_reached',
      ])
    })

    it('not when a failure of its step had ended the run, but when it was tested before that', () => {
      const steps: readonly Step[] = [look, { ...pay, expect: 'output.paid' }]
      const escalationRules = [
        first,
        { text: 'failed', when: "steps.pay_out.status == 'failed'" },
        { text: 'late', when: "now > timestamp('2030-01-01T00:00:00Z')" },
        { text: 'both', when: "steps.pay_out.status == 'failed' && steps.look_up.attempts > 1" },
      ]

      const failed = run({ steps, escalationRules }, { pay: { paid: false } })

      expect(failed.end.reason).toMatchObject({ code: 'expectation_failed' })
      expect(verdicts(failed)).toEqual(['clear', 'not_reached', 'clear', 'not_reached'])
    })
  })

  it('tests a rule that reads no step before step 1', () => {
    const { rows, end } = run({
      steps: [look],
      escalationRules: [{ text: 'big', when: 'input.amount > 5' }],
    })

    expect(rows).toEqual([])
    expect(end.reason).toMatchObject({ code: 'rule_matched', text: 'big' })
  })

  it('hears a due rule before it declines', () => {
    const { end } = run({
      steps: [
        look,
        {
          key: 'ok',
          action: 'Check',
          require: [{ text: 'no', when: 'false' }],
          otherwise: 'declined',
        },
      ],
      escalationRules: [{ text: 'unmet', when: 'steps.ok.output.met == false' }],
    })

    expect(end.reason).toMatchObject({ code: 'rule_matched', text: 'unmet' })
  })

  it('never takes a failing expression for false', () => {
    const { end } = run({ steps: [{ ...look, when: 'input.nothing' }, pay] })

    expect(end.reason).toMatchObject({ code: 'expression_failed', stepKey: 'look_up' })
  })

  it('skips a step whose when is false, and resolves', () => {
    const { rows, end } = run({ steps: [{ ...look, when: 'input.amount > 100' }] })

    expect(rows[0]).toMatchObject({ status: 'skipped', output: null })
    expect(end.outcome).toBe('resolved')
  })

  it('escalates a template that resolves to nothing', () => {
    const { rows, end, calls } = run({ steps: [{ ...look, with: { id: 'Nr {{input.id}}' } }] })

    expect(calls).toEqual([])
    expect(rows[0]?.error?.code).toBe('template_unresolved')
    expect(end.reason?.code).toBe('template_unresolved')
  })

  it('goes through the chosen branch and on after it', () => {
    const { rows, end } = run({
      steps: [
        look,
        {
          key: 'by_state',
          action: 'Choose',
          choose: [
            { text: 'bad', when: "steps.look_up.output.state == 'bad'", steps: [pay] },
            {
              text: 'good',
              when: "steps.look_up.output.state == 'ok'",
              steps: [
                {
                  key: 'inside',
                  action: 'Block',
                  steps: [{ key: 'sum', action: 'Add', compute: { total: 'input.amount + 1' } }],
                },
              ],
            },
          ],
        },
        { key: 'after', action: 'Pay', tool: 'pay' },
      ],
    })

    expect(rows.map(({ stepKey, status, output }) => [stepKey, status, output])).toEqual([
      ['look_up', 'completed', { state: 'ok' }],
      ['by_state', 'completed', { chosen: 'good' }],
      ['inside', 'completed', null],
      ['sum', 'completed', { total: 8 }],
      ['after', 'completed', { state: 'ok' }],
    ])
    expect(end.outcome).toBe('resolved')
  })

  it.each([
    [undefined, 'escalated', 'no_branch'],
    ['continue' as const, 'completed', undefined],
    [
      [{ key: 'stop', action: 'Stop', end: 'declined' as const, text: 'No {{input.amount}}' }],
      'completed',
      'ended_by_step',
    ],
  ])('with no choice that holds and otherwise %j ends %s', (otherwise, status, code) => {
    const { end } = run({
      steps: [
        {
          key: 'pick',
          action: 'Pick',
          choose: [{ text: 'no', when: 'false', steps: [look] }],
          ...(otherwise && { otherwise }),
        },
      ],
    })

    expect([end.status, end.reason?.code]).toEqual([status, code])
  })

  it('ends where an end step says, after the completion conditions', () => {
    const parts = { steps: [{ key: 'stop', action: 'Stop', end: 'resolved' as const }, look] }

    expect(run(parts).end).toMatchObject({ outcome: 'resolved', reason: null })
    expect(
      run({
        ...parts,
        completionConditions: [{ text: 'looked', when: 'has(steps.look_up.output)' }],
      }).end,
    ).toMatchObject({ status: 'escalated', reason: { code: 'completion_unmet', text: 'looked' } })
  })

  it('evaluates the output of the definition at the end', () => {
    const { end } = run({
      steps: [look],
      output: { state: 'steps.look_up.output.state', twice: 'input.amount * 2' },
    })

    expect(end.result).toEqual({ state: 'ok', twice: 14 })
  })

  it('ends a run that is past its time limit before the next step', () => {
    const plan = planOf(definitionOf({ steps: [look], timeLimit: '1m' }), tools)

    const command = decide(plan, initialState(plan, startOf()), startedAt + 60_001)

    expect(command).toMatchObject({ kind: 'end', end: { reason: { code: 'deadline_passed' } } })
  })
})

describe('a time limit', () => {
  const free = contractOf('send', { effect: 'write' })
  const send: Step = { key: 'send_out', action: 'Send', tool: 'send' }
  const limited = (step: Step) =>
    planOf(definitionOf({ steps: [step], timeLimit: '1m' }), [read, free])
  /** Each attempt fails like this, in as much time as it is given, or as the tool takes. */
  const walkFailing = (plan: Plan, result: 'failed' | 'error' | 'timeout', takesMs: number) => {
    const calls: ToolCall[] = []
    let state = initialState(plan, startOf())
    let now = startedAt
    for (let count = 0; count < 50; count += 1) {
      const command = decide(plan, state, now)
      if (command.kind === 'end') return { end: command.end, calls, now, rows: [state.last] }
      if (command.kind === 'wait') throw new Error('nothing of it waits')
      let { row } = command
      if (command.kind === 'callTool') {
        const { call } = command
        calls.push(call)
        now = Math.max(now, call.notBefore) + Math.min(takesMs, call.timeoutMs)
        row = recordAttempt(row, { result, code: 'tool_failed', message: 'no', endedAt: now })
      }
      state = apply(state, row)
    }
    throw new Error('it does not end')
  }
  const retry = { maxAttempts: 20, delay: '1s', backoff: 1 }

  it('cuts a read off where it ends, and ends the run there', () => {
    const { end, calls, now } = walkFailing(limited(look), 'timeout', 3_600_000)
    const long = walkFailing(limited({ ...look, timeout: '10m' }), 'timeout', 3_600_000)

    expect(calls.map(({ timeoutMs }) => timeoutMs)).toEqual([30_000])
    expect(end.reason?.code).toBe('tool_failed')
    expect(now).toBe(startedAt + 30_000)
    expect(long.calls).toHaveLength(1)
    expect(long.now - startedAt - 60_000).toBeLessThan(10)
    expect(long.end.reason).toMatchObject({ code: 'deadline_passed', stepKey: 'look_up' })
  })

  it('begins no attempt after it, neither of a read nor of a write that was certainly not made', () => {
    for (const step of [look, send]) {
      const { end, calls, rows } = walkFailing(limited({ ...step, retry }), 'failed', 20_000)

      expect(calls).toHaveLength(3)
      expect(end.reason).toMatchObject({ code: 'deadline_passed', stepKey: step.key })
      expect(end.reason?.message).toContain('time limit of 1m ended at this step. no')
      expect(rows).toMatchObject([{ status: 'failed', error: { code: 'deadline_passed' } }])
    }
  })

  it('finds out all the same what a write came to', () => {
    const { end, calls } = walkFailing(limited({ ...send, retry }), 'error', 20_000)

    expect(calls).toHaveLength(20)
    expect(calls.every(({ timeoutMs }) => timeoutMs === 30_000)).toBe(true)
    expect(end.reason?.code).toBe('outcome_unknown')
  })

  it('ends a run whose last step completes after it', () => {
    const plan = limited(send)
    const takes = (ms: number) => {
      const row = { ...newRow(plan), status: 'completed', endedAt: startedAt + ms } as const
      return decide(plan, apply(initialState(plan, startOf()), row), startedAt + ms)
    }

    expect(takes(60_000)).toMatchObject({ kind: 'end', end: { outcome: 'resolved' } })
    expect(takes(60_001)).toMatchObject({
      kind: 'end',
      end: { outcome: null, reason: { code: 'deadline_passed' } },
    })
  })

  function newRow(plan: Plan): StepRow {
    const command = decide(plan, initialState(plan, startOf()), startedAt)
    if (command.kind !== 'callTool') throw new Error('a tool is called first')
    return { ...command.row, output: { ok: true } }
  }
})

describe('attempts', () => {
  const failing = (
    result: 'refused' | 'failed' | 'error' | 'timeout' | 'interrupted',
    upTo: number,
    steps: Step[],
  ) =>
    walk(planOf(definitionOf({ steps }), tools), startOf(), (_call, row) =>
      row.attempt <= upTo
        ? {
            result,
            code: result === 'timeout' ? 'tool_timeout' : 'tool_failed',
            message: result,
            endedAt: 0,
          }
        : { output: { ok: true } },
    )
  const retry = { maxAttempts: 3, delay: '1s' }

  it('repeats a read until it answers, with growing delays, and counts attempts from 1', () => {
    const { rows, calls, end } = failing('error', 2, [{ ...look, retry }])

    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(rows[0]).toMatchObject({
      status: 'completed',
      attempt: 3,
      attempts: [{ attempt: 1 }, { attempt: 2 }],
    })
    const [first, second, third] = [calls[0], calls[1], calls[2]].map(
      (call) => call?.notBefore ?? 0,
    )
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(2_000)
    expect(end.outcome).toBe('resolved')
  })

  it('never repeats a refusal', () => {
    const { calls, end } = failing('refused', 1, [{ ...look, retry }])

    expect(calls).toHaveLength(1)
    expect(end.reason?.code).toBe('tool_failed')
  })

  it('use one idempotency key, which no other step, pass or execution has', () => {
    const { rows } = failing('failed', 2, [{ ...look, retry }, pay])
    const [first, second] = rows as [StepRow, StepRow]
    const start = startOf()
    const key = idempotencyKeyOf(start, first)
    const again: StepRow = { ...first, attempt: 2 }

    expect(idempotencyKeyOf(start, again)).toBe(key)
    expect(idempotencyKeyOf(start, second)).not.toBe(key)
    expect(idempotencyKeyOf(start, { ...first, iteration: '2' })).not.toBe(key)
    expect(idempotencyKeyOf({ ...start, executionId: 'exec_2' }, first)).not.toBe(key)
  })

  it.each(['error', 'timeout', 'interrupted'] as const)(
    'escalates a write that is not idempotent after %s as unknown, whatever onError says',
    (result) => {
      const { calls, end, rows } = failing(result, 1, [
        {
          key: 'wire_out',
          action: 'Wire',
          tool: 'wire',
          required: false,
          onError: 'continue',
          retry,
        },
      ])

      expect(calls).toHaveLength(1)
      expect(rows[0]?.error?.code).toBe('outcome_unknown')
      expect(end.reason).toMatchObject({ code: 'outcome_unknown', stepKey: 'wire_out' })
    },
  )

  it('repeats an idempotent write that was interrupted, without counting it against maxAttempts', () => {
    const { calls, end } = failing('interrupted', 1, [look, pay])

    expect(calls.filter(({ tool }) => tool === 'pay')).toHaveLength(2)
    expect(end.outcome).toBe('resolved')
  })

  it('ends an idempotent write whose attempts are used up without an answer as unknown', () => {
    const { end } = failing('timeout', 9, [{ key: 'pay_out', action: 'Pay', tool: 'wire', retry }])

    expect(end.reason?.code).toBe('outcome_unknown')
  })

  it.each([
    ['continue' as const, 'completed', 'resolved', undefined],
    ['declined' as const, 'completed', 'declined', 'tool_failed'],
    [undefined, 'escalated', null, 'tool_failed'],
  ])('with onError %s a failed read ends the run %s', (onError, status, outcome, code) => {
    const { end } = failing('failed', 1, [
      { ...look, required: false, ...(onError && { onError }) },
    ])

    expect([end.status, end.outcome, end.reason?.code]).toEqual([status, outcome, code])
  })

  it('fails a step whose expectation does not hold, and keeps what came', () => {
    const { rows, end } = walk(
      planOf(definitionOf({ steps: [{ ...look, expect: 'output.ok' }] }), tools),
      startOf(),
      () => ({ output: { ok: false } }),
    )

    expect(rows[0]).toMatchObject({
      status: 'failed',
      output: { ok: false },
      error: { code: 'expectation_failed' },
    })
    expect(end.reason?.code).toBe('expectation_failed')
  })
})

it('a run has only so many steps, however its loops multiply', () => {
  const steps = ['a', 'b'].map((key) => ({ key, action: key, compute: { n: '1' } }))
  const plan = planOf(definitionOf({ steps }))
  const state = initialState(plan, startOf())
  const first = decide(plan, state, startedAt)
  if (first.kind !== 'record') throw new Error('expected a row')
  const after = (ordinal: number) =>
    decide(plan, apply(state, { ...first.row, ordinal }), startedAt)

  expect(after(maxRunSteps - 1)).toMatchObject({ kind: 'record', row: { stepKey: 'b' } })
  expect(after(maxRunSteps)).toMatchObject({
    kind: 'end',
    end: { status: 'escalated', reason: { code: 'loop_exhausted', stepKey: 'b' } },
  })
})
