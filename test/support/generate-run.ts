import fc from 'fast-check'
import type { Definition } from '../../src/domain/definition.ts'
import type { AttemptResult } from '../../src/domain/execution.ts'
import type { Step } from '../../src/domain/step.ts'
import { type Answer, contractOf, definitionOf } from './walk.ts'

/** Tools of every kind that a run may meet. */
export const generatedTools = [
  contractOf('read_a'),
  contractOf('read_b', { requires: ['read_a'] }),
  contractOf('write_idem', { effect: 'write' }),
  contractOf('write_once', { effect: 'write', idempotent: false }),
]

export interface GeneratedRun {
  readonly definition: Definition
  readonly input: { readonly amount: number; readonly flag?: boolean }
  /** Says what each call does; the same call always does the same. */
  readonly answer: Answer
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
        ),
      })
      .map(
        ({ tool, more, onError, retry, expect, value }): Draft =>
          (key) => ({
            key: key(),
            action: 'Call',
            tool,
            ...more,
            with: { value },
            ...(onError && { onError }),
            ...(retry && { retry }),
            ...(expect && { expect }),
          }),
      ),
  },
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
        arbitrary: fc.record({ more: modifiers, steps: list }).map(
          ({ more, steps }): Draft =>
            (key) => ({
              key: key(),
              action: 'Block',
              ...more,
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
    withOutput: fc.boolean(),
    script: fc.array(
      fc.record({
        result: fc.constantFrom('done' as const, ...results),
        n: fc.integer({ min: 0, max: 5 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ drafts, rules, completion, precondition, amount, flag, withOutput, script }) => {
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
    return { definition, input: { amount, ...(flag !== undefined && { flag }) }, answer }
  })
