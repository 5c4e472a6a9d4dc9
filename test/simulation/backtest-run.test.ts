import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunVerdict } from '../../src/domain/backtest.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { ExecutionRecord, ExecutionStart } from '../../src/domain/execution.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import type { Step } from '../../src/domain/step.ts'
import type { ToolContract } from '../../src/domain/tool.ts'
import { endFromOutside } from '../../src/executor/decide.ts'
import type { Plan } from '../../src/executor/plan.ts'
import { concludeApproval, concludeAsk, concludeCall } from '../../src/executor/waits.ts'
import { createBacktest } from '../../src/simulation/backtest-run.ts'
import type { PastRun } from '../../src/simulation/recorded-world.ts'
import { generatedRun, generatedTools } from '../support/generate-run.ts'
import {
  type Answer,
  contractOf,
  definitionOf,
  planOf,
  type Reply,
  startedAt,
  startOf,
  walk,
} from '../support/walk.ts'

const look = contractOf('look')
const put = contractOf('put', { effect: 'write' })
const tell = contractOf('tell', { effect: 'write' })
const contracts = [look, put, tell]

const planOfSteps = (
  steps: readonly Step[],
  parts: Partial<Definition> = {},
  of: readonly ToolContract[] = contracts,
) => planOf(definitionOf({ steps, ...parts }), of)

/** What the tools answer in the runs that are looked at: the same for the same input, at any time. */
const answer: Answer = (call, { input }) => ({ output: { of: call.tool, input, n: 90 } })

function pastRun(
  plan: Plan,
  { input = { id: 'a' }, answers = answer, reply }: PastOptions = {},
  start: ExecutionStart = startOf(input),
): PastRun {
  const { rows, end } = walk(plan, start, answers, undefined, startedAt, reply)
  const hashes = [...plan.tools].map(([name, { contractHash }]) => [name, contractHash])
  return { record: { start, rows, end }, plan, toolContracts: Object.fromEntries(hashes) }
}

interface PastOptions {
  readonly input?: JsonObject
  readonly answers?: Answer
  readonly reply?: Reply
}

const backtest = (plan: Plan, past: PastRun, hasTool = (_name: string) => true): RunVerdict =>
  createBacktest({ plan, hasTool, calendar: undefined })(past)

const call = (key: string, tool: string, more: Partial<Step> = {}): Step =>
  ({ key, action: key, tool, with: { id: '{{input.id}}' }, ...more }) as Step
const require_ = (limit: number): Step => ({
  key: 'eligible',
  action: 'Eligible',
  require: [{ text: 'within the limit', when: `steps.look.output.n <= ${limit}` }],
  otherwise: 'declined',
})

describe('a past run', () => {
  it('ends as it did under its own version, whatever was in it', () => {
    fc.assert(
      fc.property(generatedRun, ({ definition, input, answer: answers, reply }) => {
        const plan = planOf(definition, generatedTools)
        const past = pastRun(plan, { input, answers, reply })

        expect(backtest(plan, past)).toEqual({ kind: 'same' })
      }),
      { numRuns: 1_000 },
    )
  })

  it('ends as it did whatever else its steps are called, and wherever reads stand', () => {
    const before = planOfSteps([
      call('look', 'look'),
      call('more', 'look', { with: {} }),
      call('put', 'put'),
    ])
    const after = planOfSteps([
      call('first', 'look', { with: {} }),
      call('then', 'look'),
      call('change', 'put'),
    ])

    expect(backtest(after, pastRun(before))).toEqual({ kind: 'same' })
  })

  it('ends otherwise where a condition decides otherwise, and says from where on', () => {
    const steps = (limit: number) => [call('look', 'look'), require_(limit), call('put', 'put')]

    const verdict = backtest(planOfSteps(steps(80)), pastRun(planOfSteps(steps(100))))

    expect(verdict).toEqual({
      kind: 'different',
      before: { end: 'resolved', reason: null, text: null },
      after: { end: 'declined', reason: 'requirement_failed', text: 'within the limit' },
      differs: ['end', 'reason', 'result', 'writes'],
      step: { position: 2, before: 'eligible', after: 'eligible' },
    })
  })

  it('ends otherwise where it writes less, though it ends as resolved as before', () => {
    const output = { ok: 'true' }
    const before = planOfSteps([call('look', 'look'), call('put', 'put'), call('last', 'tell')], {
      output,
    })
    const after = planOfSteps([call('look', 'look'), call('put', 'put')], { output })

    expect(backtest(after, pastRun(before))).toMatchObject({
      kind: 'different',
      differs: ['writes'],
      step: { position: 3, before: 'last', after: null },
    })
  })

  it('ends otherwise where only its result is another one', () => {
    const steps = [call('look', 'look')]
    const [before, after] = ['1', '2'].map((n) => planOfSteps(steps, { output: { n } }))

    expect(backtest(after as Plan, pastRun(before as Plan))).toMatchObject({
      kind: 'different',
      differs: ['result'],
      step: null,
    })
  })

  it('ends otherwise where it is handed over to others', () => {
    const steps = (queue: string) => [
      { key: 'end', action: 'End', end: 'escalated', text: 'no', escalateTo: { queue } } as const,
    ]

    expect(backtest(planOfSteps(steps('b')), pastRun(planOfSteps(steps('a'))))).toMatchObject({
      kind: 'different',
      differs: ['reason'],
    })
  })

  it('is under the rules of today, whatever the rules of its own were', () => {
    const steps = [call('put', 'put', { retry: { maxAttempts: 2 } })]
    const plan = planOfSteps(steps, {}, [contractOf('put', { effect: 'write' })])
    const results = ['error', 'refused'] as const
    const answers: Answer = (_call, { attempt }) => {
      const result = results[attempt - 1] ?? 'refused'
      return { result, code: 'tool_failed', message: result, endedAt: 0 }
    }
    const past = pastRun(plan, { answers }, { ...startOf({ id: 'a' }), semanticsVersion: 1 })

    expect(past.record.end?.reason?.code).toBe('tool_failed')
    expect(backtest(plan, past)).toMatchObject({ after: { reason: 'outcome_unknown' } })
  })

  it('counts time as it passed then', () => {
    const slow: Answer = () => ({ output: { n: 1 } })
    const steps = (until: string): readonly Step[] => [
      call('look', 'look'),
      { key: 'rest', action: 'Rest', wait: { for: '2h' } },
      {
        key: 'end',
        action: 'End',
        when: `now < timestamp("${until}")`,
        end: 'declined',
        text: 'early',
      },
    ]
    const parts = { timeLimit: '1d' as const }
    const past = pastRun(planOfSteps(steps('2026-05-04T10:00:00Z'), parts), { answers: slow })

    expect(past.record.end?.outcome).toBe('resolved')
    expect(backtest(planOfSteps(steps('2026-05-04T11:00:00Z'), parts), past)).toMatchObject({
      kind: 'same',
    })
    expect(backtest(planOfSteps(steps('2026-05-04T12:00:00Z'), parts), past)).toMatchObject({
      kind: 'different',
      after: { end: 'declined' },
    })
  })
})

describe('a run that was ended from outside', () => {
  const steps = (limit: number) => [call('look', 'look'), require_(limit), call('put', 'put')]
  const cancelled = (count: number): PastRun => {
    const past = pastRun(planOfSteps(steps(100)))
    const rows = past.record.rows.slice(0, count)
    const endedAt = rows.at(-1)?.endedAt ?? startedAt
    const end = endFromOutside({ status: 'cancelled', reason: null }, endedAt)
    return { ...past, record: { ...past.record, rows, end } }
  }

  it.each([0, 1, 2])('after %d steps ends there again', (count) => {
    expect(backtest(planOfSteps(steps(100)), cancelled(count))).toEqual({ kind: 'same' })
  })

  it('ends otherwise where it would have ended before', () => {
    expect(backtest(planOfSteps(steps(80)), cancelled(2))).toMatchObject({
      kind: 'different',
      before: { end: 'cancelled' },
      after: { end: 'declined' },
    })
  })

  it('while it waited ends there again, unless the wait is over by then', () => {
    const ask = (deadline: '1h' | '3h'): readonly Step[] => [
      {
        key: 'ask',
        action: 'Ask',
        ask: 'agent',
        message: '?',
        answer: {},
        deadline,
        onDeadline: 'declined',
      },
    ]
    const plan = planOfSteps(ask('3h'))
    const whole = pastRun(plan, { reply: () => undefined })
    const [row] = whole.record.rows
    if (row === undefined) throw new Error('it asks')
    const end = endFromOutside({ status: 'cancelled', reason: null }, startedAt + 2 * 3_600_000)
    const open = { ...row, status: 'waiting', error: null, endedAt: null } as const
    const past = { ...whole, record: { ...whole.record, rows: [open], end } }

    expect(backtest(plan, past)).toEqual({ kind: 'same' })
    expect(backtest(planOfSteps(ask('1h')), past)).toMatchObject({ after: { end: 'declined' } })
  })
})

describe('what was never observed is needed', () => {
  const base = [call('look', 'look'), call('put', 'put')]
  const needOf = (
    after: readonly Step[],
    { before = base, parts = {}, of = contracts, ...options }: NeedOptions = {},
  ) => {
    const verdict = backtest(planOfSteps(after, parts, of), pastRun(planOfSteps(before), options))
    if (verdict.kind !== 'unknown') throw new Error(JSON.stringify(verdict))
    return { ...verdict.need, at: verdict.step?.position ?? null }
  }
  interface NeedOptions extends PastOptions {
    readonly before?: readonly Step[]
    readonly parts?: Partial<Definition>
    readonly of?: readonly ToolContract[]
  }

  it('of a write that was not made', () => {
    const need = needOf([call('look', 'look'), call('tell_it', 'tell')])

    expect(need).toEqual({ why: 'never_made', step: 'tell_it', what: 'tell', at: null })
  })

  it('of a call with another input', () => {
    const need = needOf([call('look', 'look', { with: { id: 'b' } })])

    expect(need).toEqual({ why: 'other_input', step: 'look', what: 'look', at: null })
  })

  it('of a read after other writes', () => {
    const need = needOf([call('put', 'put'), call('look', 'look')])

    expect(need).toMatchObject({ why: 'other_writes', step: 'look' })
  })

  it('of a read once more', () => {
    const need = needOf([call('look', 'look'), call('again', 'look')])

    expect(need).toMatchObject({ why: 'more_calls', step: 'again' })
  })

  it('of a tool with another contract', () => {
    const need = needOf(base, {
      of: [look, contractOf('put', { effect: 'write', description: 'Other' })],
    })

    expect(need).toMatchObject({ why: 'other_contract', step: 'put', what: 'put' })
  })

  it('of a tool that is gone, pinned or not', () => {
    const past = pastRun(planOfSteps(base))

    expect(backtest(planOfSteps(base), past, (name) => name !== 'put')).toMatchObject({
      need: { why: 'tool_gone', step: 'put', what: 'put' },
    })
    expect(needOf(base, { of: [look] })).toMatchObject({
      why: 'tool_gone',
      step: 'put',
      what: 'put',
    })
  })

  it('of a call that the service kept back then', () => {
    const changed: Answer = () => ({
      ...{ result: 'refused', code: 'tool_changed', message: 'it is another one', endedAt: 0 },
    })

    expect(needOf(base, { answers: changed })).toMatchObject({ why: 'not_called', step: 'look' })
  })

  it('of an attempt more, and not of one less', () => {
    const fails: Answer = () => ({
      ...{ result: 'failed', code: 'tool_failed', message: 'no', endedAt: 0 },
    })
    const steps = (maxAttempts: number) => [call('look', 'look', { retry: { maxAttempts } })]
    const past = pastRun(planOfSteps(steps(2)), { answers: fails })

    expect(backtest(planOfSteps(steps(3)), past)).toMatchObject({
      need: { why: 'more_attempts', step: 'look' },
    })
    expect(backtest(planOfSteps(steps(1)), past)).toEqual({ kind: 'same' })
  })

  it('of an answer that is waited for longer, and not of one that is waited for less', () => {
    const late: Answer = () => ({
      ...{ result: 'timeout', code: 'tool_timeout', message: 'late', endedAt: 0 },
    })
    const steps = (timeout: '1s' | '10s' | '20s') => [call('look', 'look', { timeout })]
    const past = pastRun(planOfSteps(steps('10s')), { answers: late })

    expect(backtest(planOfSteps(steps('20s')), past)).toMatchObject({
      need: { why: 'longer_timeout', step: 'look' },
    })
    expect(backtest(planOfSteps(steps('1s')), past)).toEqual({ kind: 'same' })
  })

  it('of nothing where an answer came in time, and it times out where it would not have', () => {
    const plan = planOfSteps([call('look', 'look', { timeout: '10s' })])
    const past = pastRun(plan)
    const [row] = past.record.rows
    if (row === undefined) throw new Error('it looks')
    const rows = [{ ...row, endedAt: row.startedAt + 5_000 }]
    const slow = { ...past, record: { ...past.record, rows } }

    const within = (timeout: '3s' | '6s') =>
      backtest(planOfSteps([call('look', 'look', { timeout })]), slow)

    expect(within('6s')).toEqual({ kind: 'same' })
    expect(within('3s')).toMatchObject({ after: { end: 'escalated', reason: 'tool_timeout' } })
  })

  it('of input that the version of then had no place for, unless the ticket has it', () => {
    const parts = (pattern: string): Partial<Definition> => ({
      input: {
        type: 'object',
        required: ['order'],
        properties: { id: {}, order: { type: 'string', pattern } },
      },
    })
    const start = { ...startOf({ id: 'a' }), ticket: { text: 'Where is ORD-1234?' } }
    const past = pastRun(planOfSteps(base), {}, start)

    expect(backtest(planOfSteps(base, parts('^XXX-[0-9]{4}$')), past)).toMatchObject({
      need: { why: 'input_unknown', step: null, what: 'order' },
    })
    expect(backtest(planOfSteps(base, parts('^ORD-[0-9]{4}$')), past)).toEqual({ kind: 'same' })
  })

  it('and says where it goes another way before', () => {
    const steps = (limit: number): readonly Step[] => [
      call('look', 'look'),
      {
        ...require_(limit),
        otherwise: [call('say_no', 'tell'), { key: 'end', action: 'End', end: 'declined' }],
      } as Step,
      call('put', 'put'),
    ]

    expect(needOf(steps(80), { before: steps(100) })).toEqual({
      ...{ why: 'never_made', step: 'say_no', what: 'tell' },
      at: 2,
    })
  })
})

describe('what people said', () => {
  const by = (id: string) => ({ id, kind: 'human' }) as const
  const ask = (more: object = {}): Step =>
    ({
      ...{ key: 'ask', action: 'Ask', ask: 'agent', message: 'How much?', deadline: '5h' },
      answer: { type: 'integer' },
      ...more,
    }) as Step
  const approval = (more: object = {}): Step =>
    ({
      ...{
        key: 'approve',
        action: 'Approve',
        approval: 'approver',
        show: '{{input.id}}',
        deadline: '5h',
      },
      ...more,
    }) as Step
  /** After two hours. */
  const replies =
    (answerOf: Json, ...approvers: readonly string[]): Reply =>
    ({ waiting: [row], nodes }, now) => {
      const node = row && nodes.get(row.stepKey)
      const at = (row?.startedAt ?? 0) + 2 * 3_600_000
      if (row === undefined || now > at) return undefined
      if (node?.kind === 'ask')
        return concludeAsk(row, { kind: 'answered', at, by: by('ann') }, answerOf)
      const heard = row.exchange?.length ?? 0
      const who = approvers[heard]
      if (node?.kind !== 'approval' || who === undefined) return undefined
      return concludeApproval(node, row, { kind: 'approved', at, by: by(who), showHash: 'x' })
    }
  const parts = { timeLimit: '3d' } as const
  const verdictOf = (before: Step, after: Step, reply: Reply) =>
    backtest(planOfSteps([after], parts), pastRun(planOfSteps([before], parts), { reply }))

  it('is said again, as long after the question as it was', () => {
    expect(verdictOf(ask(), ask({ key: 'other', deadline: '3h' }), replies(7))).toEqual({
      kind: 'same',
    })
    expect(verdictOf(ask(), ask({ deadline: '1h' }), replies(7))).toMatchObject({
      after: { end: 'escalated', reason: 'deadline_passed' },
    })
  })

  it.each([
    ['another question', ask({ message: 'How many?' }), 'never_asked'],
    ['others', ask({ ask: 'approver' }), 'never_asked'],
    ['another form', ask({ answer: { type: 'string' } }), 'other_answer'],
  ])('is not known for %s', (_what, after, why) => {
    expect(verdictOf(ask(), after, replies(7))).toMatchObject({ need: { why, step: 'ask' } })
  })

  it('is not known where words that did not fit might fit now', () => {
    const unfit: Reply = (state, now) => {
      const answered = replies(7)(state, now)
      const said = { kind: 'unfit', at: now, by: by('ann'), text: 'seven', problems: [] } as const
      return answered && { ...answered, exchange: [said, ...(answered.exchange ?? [])] }
    }

    expect(verdictOf(ask(), ask(), unfit)).toEqual({ kind: 'same' })
    expect(verdictOf(ask(), ask({ answer: {} }), unfit)).toMatchObject({
      need: { why: 'other_answer', step: 'ask' },
    })
  })

  it('is not known beyond the deadline of then', () => {
    const silent: Reply = () => undefined

    expect(verdictOf(ask(), ask({ deadline: '6h' }), silent)).toMatchObject({
      need: { why: 'no_answer', step: 'ask' },
    })
    expect(verdictOf(ask(), ask({ deadline: '4h' }), silent)).toEqual({ kind: 'same' })
  })

  it('is not known of a second yes, nor of one by somebody who may not', () => {
    const reply = replies(0, 'bea')

    expect(verdictOf(approval(), approval(), reply)).toEqual({ kind: 'same' })
    expect(verdictOf(approval(), approval({ quorum: 2 }), reply)).toMatchObject({
      need: { why: 'no_answer', step: 'approve' },
    })
    expect(verdictOf(approval(), approval({ show: 'all' }), reply)).toMatchObject({
      need: { why: 'never_asked', step: 'approve' },
    })
    expect(verdictOf(approval(), approval(), replies(0, 'ann'))).toMatchObject({
      need: { why: 'other_people', step: 'approve' },
    })
  })
})

describe('a called procedure', () => {
  const called = (more: object = {}): Step =>
    ({
      ...{ key: 'sub', action: 'Call', call: 'SUB_PLAYBOOK', with: { id: '{{input.id}}' } },
      ...more,
    }) as Step
  const pin = {
    versionId: 'ver_0123456789abcdefghjkm',
    versionNumber: 3,
    definitionHash: 'a',
  } as const
  const start: ExecutionStart = { ...startOf({ id: 'a' }), pins: { SUB_PLAYBOOK: pin } }
  const reply: Reply = ({ waiting: [row] }, now) =>
    row && concludeCall(row, { outcome: 'resolved', result: 5, message: '', endedAt: now + 60_000 })
  const past = (steps: readonly Step[]) => pastRun(planOfSteps(steps), { reply }, start)

  it('ends as it did then, and what it did counts as a write', () => {
    const steps = [called(), call('look', 'look')]

    expect(backtest(planOfSteps(steps), past(steps))).toEqual({ kind: 'same' })
    expect(backtest(planOfSteps([call('look', 'look'), called()]), past(steps))).toMatchObject({
      need: { why: 'other_writes', step: 'look' },
    })
  })

  it('is needed where it was called with something else, or not at all', () => {
    expect(backtest(planOfSteps([called({ with: { id: 'b' } })]), past([called()]))).toMatchObject({
      need: { why: 'other_input', step: 'sub', what: 'SUB_PLAYBOOK' },
    })
    expect(
      backtest(planOfSteps([called({ call: 'OTHER_PLAYBOOK' })]), past([called()])),
    ).toMatchObject({ need: { why: 'never_made', step: 'sub', what: 'OTHER_PLAYBOOK' } })
  })
})

describe('a guided run', () => {
  const write = (id: string): readonly Step[] => [call('put', 'put', { with: { id } })]
  const start = { ...startOf({ id: 'a' }), mode: 'guided' } as const
  const reply =
    (kind: 'approved' | 'denied'): Reply =>
    ({ waiting: [row] }, at) =>
      row && {
        ...row,
        exchange: [...(row.exchange ?? []), { kind, at, by: { id: 'ann', kind: 'human' } }],
      }

  it.each(['approved', 'denied'] as const)('is %s as it was, where the same is sent', (kind) => {
    const past = pastRun(planOfSteps(write('a')), { reply: reply(kind) }, start)

    expect(backtest(planOfSteps(write('a')), past)).toEqual({ kind: 'same' })
    expect(backtest(planOfSteps(write('b')), past)).toMatchObject({
      need: { why: 'other_input', step: 'put' },
    })
  })
})

it('tells no text into which a value was put', () => {
  const end = (text: string): readonly Step[] => [
    { key: 'end', action: 'End', end: 'declined', text },
  ]

  const verdict = backtest(
    planOfSteps(end('Now {{input.id}}')),
    pastRun(planOfSteps(end('Then {{input.id}}'))),
  )

  expect(verdict).toMatchObject({
    before: { text: null },
    after: { text: null },
    differs: ['reason', 'result'],
  })
})

it('leaves the record as it was', () => {
  const plan = planOfSteps([call('look', 'look'), call('put', 'put')])
  const past = pastRun(plan)
  const before: ExecutionRecord = structuredClone(past.record)

  backtest(plan, past)

  expect(past.record).toEqual(before)
})
