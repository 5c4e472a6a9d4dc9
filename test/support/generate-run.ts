import fc from 'fast-check'
import type { Definition } from '../../src/domain/definition.ts'
import type { AttemptResult } from '../../src/domain/execution.ts'
import type { Step } from '../../src/domain/step.ts'
import { concludeApproval, concludeAsk } from '../../src/executor/waits.ts'
import { type Answer, contractOf, definitionOf, type Reply } from './walk.ts'

/** Tools of every kind that a run may meet. */
export const generatedTools = [
  contractOf('read_a'),
  contractOf('read_b', { requires: ['read_a'] }),
  contractOf('write_idem', { effect: 'write' }),
  contractOf('write_once', { effect: 'write', idempotent: false }),
]

export interface GeneratedRun {
  readonly definition: Definition
  readonly input: {
    readonly amount: number
    readonly flag?: boolean
    readonly list: readonly number[]
  }
  /** Says what each call does; the same call always does the same. */
  readonly answer: Answer
  /** Says what people do while the run waits. */
  readonly reply: Reply
}

const results: readonly AttemptResult[] = [
  'done',
  'refused',
  'failed',
  'error',
  'timeout',
  'interrupted',
  'invalid',
]

const condition = fc.constantFrom(
  'input.amount > 3',
  'input.amount <= 3',
  'has(input.flag)',
  'input.flag',
  'true',
  'false',
  "steps.k0.status == 'completed'",
  'has(steps.k1.output.n)',
  'steps.k1.output.n > 2',
  'now > timestamp("2026-05-04T09:00:00.030Z")',
)

type Draft = (key: () => string) => Step

const otherwise = fc.constantFrom('continue' as const, 'declined' as const, undefined)
const each = fc.constantFrom(
  undefined,
  undefined,
  { forEach: 'input.list' },
  { forEach: 'input.list', maxItems: 2 },
  { forEach: 'input.amount' },
)
const poll = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  otherwise.map((then) => ({
    poll: { every: '20m', until: 'output.n > 2', atMost: 3, ...(then && { otherwise: then }) },
  })),
)
const repeat = fc.oneof(
  fc.constant(undefined),
  fc
    .record({ until: fc.constantFrom('input.amount > 3', 'steps.k1.output.n > 2'), otherwise })
    .map(({ until, otherwise: then }) => ({
      repeat: { until, atMost: 2, ...(then && { otherwise: then }) },
    })),
)

const modifiers = fc.record(
  { when: condition, required: fc.constant(false as const) },
  { requiredKeys: [] },
)

const leaf: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        tool: fc.constantFrom(...generatedTools.map(({ name }) => name)),
        more: modifiers,
        onError: fc.constantFrom('continue' as const, 'declined' as const, undefined),
        retry: fc.option(fc.record({ maxAttempts: fc.integer({ min: 1, max: 3 }) }), {
          nil: undefined,
        }),
        expect: fc.constantFrom('output.n >= 0', 'output.n > 2', undefined),
        value: fc.constantFrom(
          '{{input.amount}}',
          'Nr {{input.amount}}',
          '{{input.flag}}',
          '{{input.flag or "-"}}',
          '{{item or "-"}}',
        ),
        each,
        poll,
      })
      .map(
        ({ tool, more, onError, retry, expect, value, each: every, poll: polled }): Draft =>
          (key) => ({
            key: key(),
            action: 'Call',
            tool,
            ...more,
            with: { value },
            ...(onError && { onError }),
            ...(retry && { retry }),
            ...(expect && { expect }),
            ...every,
            ...(tool.startsWith('read') && polled),
          }),
      ),
  },
  fc.record({ more: modifiers, onDeadline: otherwise, each }).map(
    ({ more, onDeadline, each: every }): Draft =>
      (key) => ({
        key: key(),
        action: 'Ask',
        ...more,
        ask: 'agent',
        message: 'What of {{item or "it"}}?',
        answer: { type: 'object' },
        deadline: '1h',
        remind: '20m',
        ...(onDeadline && { onDeadline }),
        ...every,
      }),
  ),
  fc.record({ more: modifiers, onDeadline: otherwise, onDenied: otherwise, each }).map(
    ({ more, onDeadline, onDenied, each: every }): Draft =>
      (key) => ({
        key: key(),
        action: 'Approve',
        ...more,
        approval: 'approver',
        show: { amount: '{{input.amount}}' },
        quorum: 2,
        deadline: '2h',
        ...(onDeadline && { onDeadline }),
        ...(onDenied && { onDenied }),
        ...every,
      }),
  ),
  fc
    .record({ more: modifiers, wait: fc.constantFrom({ for: '10m' }, { until: "'2026-05-05'" }) })
    .map(
      ({ more, wait }): Draft =>
        (key) => ({ key: key(), action: 'Wait', ...more, wait }),
    ),
  fc
    .record({
      more: modifiers,
      source: fc.constantFrom('input.amount + 0.1', 'input.flag', 'steps.k0.attempts'),
    })
    .map(
      ({ more, source }): Draft =>
        (key) => ({ key: key(), action: 'Compute', ...more, compute: { n: source } }),
    ),
  fc
    .record({
      more: modifiers,
      when: condition,
      otherwise: fc.constantFrom('declined' as const, undefined),
    })
    .map(
      ({ more, when, otherwise }): Draft =>
        (key) => ({
          key: key(),
          action: 'Require',
          ...more,
          require: [{ text: 'must hold', when }],
          ...(otherwise && { otherwise }),
        }),
    ),
  {
    weight: 1,
    arbitrary: fc
      .record({
        more: modifiers,
        end: fc.constantFrom('resolved' as const, 'declined' as const, 'escalated' as const),
      })
      .map(
        ({ more, end }): Draft =>
          (key) => ({ key: key(), action: 'End', ...more, end, text: 'Amount {{input.amount}}' }),
      ),
  },
)

const { draft } = fc.letrec<{ draft: Draft }>((tie) => {
  const list = fc.array(tie('draft'), { minLength: 1, maxLength: 3 })
  return {
    draft: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { weight: 4, arbitrary: leaf },
      {
        weight: 1,
        arbitrary: fc.record({ more: modifiers, steps: list, each, repeat }).map(
          ({ more, steps, each: every, repeat: repeated }): Draft =>
            (key) => ({
              key: key(),
              action: 'Block',
              ...more,
              ...every,
              ...repeated,
              steps: steps.map((make) => make(key)),
            }),
        ),
      },
      {
        weight: 1,
        arbitrary: fc
          .record({
            more: modifiers,
            choices: fc.array(fc.record({ when: condition, steps: list }), {
              minLength: 1,
              maxLength: 2,
            }),
            otherwise: fc.oneof(fc.constantFrom('continue' as const, undefined), list),
          })
          .map(
            ({ more, choices, otherwise }): Draft =>
              (key) => ({
                key: key(),
                action: 'Choose',
                ...more,
                choose: choices.map(({ when, steps }, index) => ({
                  text: `choice ${index}`,
                  when,
                  steps: steps.map((make) => make(key)),
                })),
                ...(otherwise !== undefined && {
                  otherwise:
                    typeof otherwise === 'string' ? otherwise : otherwise.map((make) => make(key)),
                }),
              }),
          ),
      },
    ),
  }
})

/** Any run: a definition of every kind of step, an input, and tools that answer, fail, time out or never come back. */
export const generatedRun: fc.Arbitrary<GeneratedRun> = fc
  .record({
    drafts: fc.array(draft, { minLength: 1, maxLength: 6 }),
    rules: fc.array(condition, { maxLength: 2 }),
    completion: fc.array(condition, { maxLength: 2 }),
    precondition: fc.constantFrom('true', 'input.amount > 0'),
    amount: fc.integer({ min: 0, max: 6 }),
    flag: fc.option(fc.boolean(), { nil: undefined }),
    list: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
    withOutput: fc.boolean(),
    script: fc.array(
      fc.record({
        result: fc.constantFrom('done' as const, ...results),
        n: fc.integer({ min: 0, max: 5 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ drafts, rules, completion, precondition, amount, flag, list, withOutput, script }) => {
    let count = 0
    const steps = drafts.map((make) => make(() => `k${count++}`))
    // The conditions read the first two steps, so there always are two.
    while (count < 2) steps.push({ key: `k${count++}`, action: 'Compute', compute: { n: '1' } })
    const definition = definitionOf({
      steps,
      preconditions: [{ text: 'pre', when: precondition }],
      escalationRules: rules.map((when, index) => ({ text: `rule ${index}`, when })),
      completionConditions: completion.map((when, index) => ({ text: `done ${index}`, when })),
      ...(withOutput && { output: { amount: 'input.amount' } }),
    })
    const answer: Answer = (call, row) => {
      const said = script[(row.ordinal * 7 + row.attempt) % script.length] ?? {
        result: 'done',
        n: 0,
      }
      // A process that dies at every attempt is given up by the runner after five; here it lives at the fourth.
      const isDone = said.result === 'done' || (said.result === 'interrupted' && row.attempt > 3)
      if (isDone) return { output: { n: said.n, list: [said.n, 0.1], b: null, a: 'ä' } }
      const { result } = said
      if (result === 'done') throw new Error('answered above')
      const code =
        result === 'timeout'
          ? 'tool_timeout'
          : result === 'invalid'
            ? 'output_invalid'
            : 'tool_failed'
      return { result, code, message: `${call.tool} ${result}`, endedAt: 0 }
    }
    const input = { amount, list, ...(flag !== undefined && { flag }) }
    return { definition, input, answer, reply: replyFrom(script) }
  })

type Script = readonly { readonly result: AttemptResult; readonly n: number }[]

/** The first who has something to say says it; the others wait until it is their turn, or too late. */
function replyFrom(script: Script): Reply {
  return (state, now) => {
    for (const row of state.waiting) {
      const heard = row.exchange?.filter(({ kind }) => kind === 'approved').length ?? 0
      const said = script[(row.ordinal * 5 + heard) % script.length]
      const node = state.nodes.get(row.stepKey)
      const at = Math.max(now, state.lastEndedAt)
      const by = { id: `person ${heard}`, kind: 'human' } as const
      if (node?.kind === 'ask' && said?.result === 'done') {
        return concludeAsk(row, { kind: 'answered', at, by }, { n: said.n })
      }
      if (node?.kind === 'approval' && said?.result === 'done') {
        return concludeApproval(node, row, { kind: 'approved', at, by, showHash: 'a' })
      }
      if (node?.kind === 'approval' && said?.result === 'refused') {
        return concludeApproval(node, row, { kind: 'denied', at, by, comment: 'no' })
      }
    }
    return undefined
  }
}
