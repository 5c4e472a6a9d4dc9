import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { isJsonObject, type Json } from '../../src/domain/json.ts'
import { parseDefinition, requireDefinition } from '../../src/domain/parse-definition.ts'
import type { ToolContract } from '../../src/domain/tool.ts'
import {
  type DemonstratedAction,
  type Demonstration,
  runOf,
} from '../../src/learning/demonstration.ts'
import { pathsOf, valueAt } from '../../src/learning/demonstration-arguments.ts'
import { type Generalised, generalise } from '../../src/learning/generalise.ts'
import { learnRules } from '../../src/learning/learn-rules.ts'
import { deskContracts, deskRun, twelveRuns } from '../support/demonstrations.ts'
import { contractOf, planOf, startOf, walk } from '../support/walk.ts'

const demonstrations = twelveRuns.map(({ demonstration }) => demonstration)

function learned(given: Parameters<typeof generalise>[0]): Generalised {
  const result = generalise(given)
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result
}

describe('twelve runs of a desk, two of them failures', () => {
  const { definition: draft, ...evidence } = learned({
    demonstrations,
    contracts: deskContracts,
  })
  const definition = requireDefinition(draft)

  it('become a playbook with a parameter, two ways, and a rule that was learned from the failures', () => {
    expect(draft).toMatchObject({
      key: 'CHARGED_TWICE_FOR_MY_ORDER_PLAYBOOK',
      issuePatterns: expect.arrayContaining(['charged twice for my order', 'was charged twice']),
      input: { required: ['transactionId'] },
      escalationRules: [
        {
          text: 'The result of check_gateway is not duplicate_capture',
          when: "steps.check_gateway.output.result != 'duplicate_capture'",
        },
        { text: 'The state of check_transaction is not captured_twice' },
        { text: 'The orderCreated of check_transaction is not true' },
      ],
    })
    expect(definition.steps.slice(3)).toMatchObject([
      {
        when: "steps.check_refund.output.state == 'none'",
        steps: [
          { tool: 'issue_refund', with: { transactionId: '{{input.transactionId}}' } },
          {
            tool: 'notify_customer',
            with: {
              message:
                'Refund of {{steps.check_transaction.output.amount}} for {{input.transactionId}}: {{steps.issue_refund.output.state}}.',
            },
          },
        ],
      },
      {
        when: "steps.check_refund.output.state == 'processing'",
        with: {
          message:
            'Refund for {{input.transactionId}} exists: {{steps.check_refund.output.state}}.',
        },
      },
    ])
  })

  it('tell what it was learned from, and how well one half foretells the other', () => {
    expect(evidence).toMatchObject({
      learnedFrom: { successes: 10, failures: 2, leftOut: 0 },
      agreement: {
        trainedOn: 6,
        heldOut: 6,
        agreed: 6,
        heldOutFailures: 1,
        agreedFailures: 1,
      },
      parameters: [
        {
          name: 'transactionId',
          stepKeys: ['check_transaction', 'check_gateway', 'check_refund', 'issue_refund'],
        },
      ],
      unknownTools: [],
      leftOutTools: [],
    })
    expect(evidence.guards.map(({ why, runs }) => [why, runs])).toEqual([
      ['failures', 2],
      ['never_seen', 0],
      ['never_seen', 0],
      ['runs_differ', 7],
      ['runs_differ', 3],
    ])
  })

  it('pass the checks without an error', () => {
    const findings = checkDefinition(definition, (name) => deskContracts.get(name))

    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it.each(twelveRuns.map((run) => [run.demonstration.id, run] as const))(
    'run again as the agent did, or go to a person: %s',
    (_id, { demonstration, transactionId, answers }) => {
      const plan = planOf(definition, [...deskContracts.values()])

      const { calls, end } = walk(plan, startOf({ transactionId }), ({ tool }) => ({
        output: answers.get(tool),
      }))

      const done = calls.map(({ tool, input }) => ({ tool, input }))
      const shown = demonstration.actions.map(({ tool, input }) => ({ tool, input }))
      if (demonstration.outcomeType === 'success') {
        expect([end.outcome, done]).toEqual(['resolved', shown])
      } else {
        expect([end.status, end.reason?.code]).toEqual(['escalated', 'rule_matched'])
        expect(done.map(({ tool }) => tool)).not.toContain('issue_refund')
      }
    },
  )

  it('are the same playbook in whatever order they come', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(demonstrations, { minLength: 12 }), (shuffled) => {
        expect(learned({ demonstrations: shuffled, contracts: deskContracts }).definition).toEqual(
          draft,
        )
      }),
      { numRuns: 20 },
    )
  })
})

describe('one run', () => {
  const [first] = demonstrations
  const one = learned({
    demonstrations: [{ ...(first as Demonstration), id: null }],
    contracts: deskContracts,
    name: 'Double charge',
    key: 'DOUBLE_CHARGE',
  })

  it('is generalised by what recurs in it', () => {
    expect(one.definition).toMatchObject({
      key: 'DOUBLE_CHARGE',
      name: 'Double charge',
      issuePatterns: ['I was charged twice for'],
      input: { required: ['transactionId'] },
    })
    expect(requireDefinition(one.definition).steps.at(-1)).toMatchObject({
      with: {
        message:
          'Refund of {{steps.check_transaction.output.amount}} for {{input.transactionId}}: {{steps.issue_refund.output.state}}.',
      },
    })
    expect([one.agreement, one.guards]).toEqual([null, []])
  })
})

describe('runs that differ', () => {
  const look = contractOf('look', {
    output: {
      type: 'object',
      required: ['amount'],
      properties: { amount: { type: 'number' }, note: { type: 'string' } },
    },
  })
  const pay = contractOf('pay', { effect: 'write' })
  const contracts = new Map([look, pay].map((one) => [one.name, one]))
  const action = (tool: string, input: Json = {}, outputSummary = ''): DemonstratedAction => ({
    tool,
    input,
    outputSummary,
  })
  const demonstrated = (
    id: string,
    actions: readonly DemonstratedAction[],
    outcomeType: Demonstration['outcomeType'] = 'success',
  ): Demonstration => ({ id, situation: 'Pay it', actions, outcome: '', outcomeType, score: 1 })

  it('in a figure have it as a named constant', () => {
    const paid = (amount: number) => [action('look', {}, `amount: ${amount}`), action('pay')]
    const { definition } = learned({
      contracts,
      demonstrations: [
        demonstrated('a', paid(30)),
        demonstrated('b', paid(100)),
        demonstrated('c', paid(180), 'failure'),
        demonstrated('d', paid(70)),
      ],
    })

    expect(definition).toMatchObject({
      policy: { mostAmount: 100 },
      escalationRules: [
        {
          text: 'The amount of look is above 100',
          when: 'steps.look.output.amount > policy.mostAmount',
        },
      ],
    })
  })

  it('with nothing that tells when a write is done have a person asked', () => {
    const looked = action('look', {}, 'amount: 5')
    const { definition, agreement } = learned({
      contracts,
      demonstrations: ['a', 'b', 'c', 'd'].map((id, at) =>
        demonstrated(id, at % 2 === 0 ? [looked, action('pay')] : [looked]),
      ),
    })

    expect(requireDefinition(definition).steps).toMatchObject([
      { key: 'look' },
      { key: 'decide_pay', ask: 'agent', answer: { required: ['goAhead'] } },
      { key: 'pay', when: 'steps.decide_pay.output.goAhead' },
    ])
    expect(agreement).toMatchObject({ agreed: 0 })
  })

  it('in a read that nothing tells the need of leave it out, and say so', () => {
    const paying = action('pay', {}, '')
    const { definition, leftOutTools } = learned({
      contracts,
      demonstrations: ['a', 'b'].map((id, at) =>
        demonstrated(id, at === 0 ? [action('look'), paying] : [paying]),
      ),
    })

    expect(requireDefinition(definition).steps.map(({ key }) => key)).toEqual(['pay'])
    expect(leftOutTools).toEqual(['look'])
  })

  it('leave to a person what was never seen before a write, and what comes of the write as it is', () => {
    const output = {
      type: 'object',
      required: ['state'],
      properties: { state: { type: 'string', enum: ['good', 'bad'] } },
    }
    const tools = [contractOf('look', { output }), contractOf('pay', { effect: 'write', output })]
    const actions = [action('look', {}, 'state: good'), action('pay', {}, 'state: good')]
    const { definition } = learned({
      contracts: new Map(tools.map((one) => [one.name, one])),
      demonstrations: ['a', 'b', 'c'].map((id) => demonstrated(id, actions)),
    })

    expect(definition.escalationRules).toEqual([
      { text: 'The state of look is not good', when: "steps.look.output.state != 'good'" },
    ])
  })

  it('need one of several ways only where every run has taken one', () => {
    const output = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } }
    const tools = ['pay', 'give'].map((name) => contractOf(name, { effect: 'write' }))
    const contractsOf = new Map(
      [contractOf('look', { output }), ...tools].map((one) => [one.name, one]),
    )
    const ways = (way: (n: number) => readonly string[]) =>
      learned({
        contracts: contractsOf,
        demonstrations: [1, 2, 3, 4, 5, 6].map((n) =>
          demonstrated(`${n}`, [
            action('look', {}, `n: ${n}`),
            ...way(n).map((tool) => action(tool)),
          ]),
        ),
      }).definition.completionConditions

    expect(ways((n) => (n < 4 ? ['pay'] : ['give']))).toHaveLength(2)
    expect(ways((n) => (n < 3 ? ['pay'] : n > 5 ? ['give'] : []))).toHaveLength(1)
  })

  it('agree with what was held back only where the values do', () => {
    const { agreement } = learned({
      contracts,
      demonstrations: ['a', 'b', 'c', 'd'].map((id, at) =>
        demonstrated(id, [action('pay', { to: at % 2 === 0 ? 'desk' : 'shop' })]),
      ),
    })

    expect(agreement).toMatchObject({ heldOut: 2, agreed: 0 })
  })

  it('by a tool that nobody has have a person do what it did', () => {
    const { definition, unknownTools } = learned({
      contracts,
      demonstrations: [
        demonstrated('a', [action('Call the bank!', { iban: 'DE00{{1}}' }, 'they agreed')]),
      ],
    })

    expect(unknownTools).toEqual(['Call the bank!'])
    expect(requireDefinition(definition).steps).toMatchObject([
      { key: 'call_the_bank_', ask: 'agent', deadline: '1d' },
    ])
  })

  it('keep what a schema calls sensitive out of the playbook', () => {
    const secret = contractOf('pay', {
      effect: 'write',
      input: { type: 'object', properties: { pin: { type: 'string', sensitive: true } } },
    })
    const { definition } = learned({
      contracts: new Map([['pay', secret]]),
      demonstrations: ['a', 'b'].map((id) => demonstrated(id, [action('pay', { pin: '4711' })])),
    })

    expect(JSON.stringify(definition)).not.toContain('4711')
    expect(definition.input).toMatchObject({ properties: { pin: { sensitive: true } } })
  })

  it('from failures alone teach nothing, and all that is wrong is told at once', () => {
    const many = Array.from({ length: 5_000 }, () => action('look'))
    const different = many.map((one, at) => ({ ...one, input: { at } }))

    expect(
      generalise({ contracts, demonstrations: [demonstrated('a', different, 'failure')] }),
    ).toEqual({
      problems: [
        {
          path: 'demonstrations[0].actions',
          message:
            'It has 5000 actions, and a playbook has at most 200 steps. Give the part that is to be repeated.',
        },
        {
          path: 'demonstrations',
          message:
            'None of the 1 runs has succeeded, so nothing says how it is done. Give at least one that has.',
        },
      ],
    })
  })
})

it('teaches a playbook that there is the rules that were learned from failures', () => {
  const stepKeyOf = (tool: string) => (tool === 'check_gateway' ? 'ask_gateway' : undefined)

  expect(learnRules({ demonstrations, contracts: deskContracts, stepKeyOf })).toEqual({
    rules: [
      {
        text: 'The result of ask_gateway is not duplicate_capture',
        when: "steps.ask_gateway.output.result != 'duplicate_capture'",
      },
    ],
    policy: {},
    failures: [2],
  })
  expect(
    learnRules({ demonstrations, contracts: deskContracts, stepKeyOf: () => undefined }).rules,
  ).toEqual([])
})

describe('whatever was done', () => {
  const names = ['look', 'pay', 'tell', 'постучать', 'a b', '__proto__']
  const contracts = new Map<string, ToolContract>(
    [
      contractOf('look', {
        output: {
          type: 'object',
          properties: { state: { type: 'string', enum: ['a', 'b'] }, n: { type: 'number' } },
        },
      }),
      contractOf('pay', { effect: 'write', idempotent: false }),
      contractOf('tell', { effect: 'write' }),
    ].map((one) => [one.name, one]),
  )
  const value: fc.Arbitrary<Json> = fc.oneof(
    fc.constantFrom('x-1', 'x-2', 'Ann', 'Refund x-1 done', 'a', '{{x}}', '支払い', ''),
    fc.integer({ min: 0, max: 30 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer(), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('id', '__proto__', 'q q'), fc.constantFrom('x-1', 7)),
  )
  const action = fc.record({
    tool: fc.constantFrom(...names),
    input: fc.oneof(
      fc.dictionary(fc.constantFrom('id', 'text', 'constructor', 'deep'), value, { maxKeys: 3 }),
      value,
    ),
    outputSummary: fc.oneof(
      fc.constantFrom('state: a', 'state: b, n: 4', 'n: 9', '{"state":"a","n":-1}', 'b', '{'),
      fc.string(),
    ),
  })
  const run = fc.record({
    id: fc.constant(null),
    situation: fc.constantFrom('Help x-1', 'Help me with x-2', 'Bitte x-1', '请帮我处理退款', ''),
    actions: fc.array(action, { minLength: 1, maxLength: 8 }),
    outcome: fc.string(),
    outcomeType: fc.constantFrom('success', 'success', 'failure', 'partial_success'),
    score: fc.constant(0),
  })

  it('is a definition that can be read, or a problem that is told', () => {
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 8 }), (some) => {
        const result = generalise({ demonstrations: some as readonly Demonstration[], contracts })

        if ('problems' in result) {
          expect(result.problems.length).toBeGreaterThan(0)
          return
        }
        const parsed = parseDefinition(result.definition)
        expect('problems' in parsed ? parsed.problems : []).toEqual([])
        const { agreement, learnedFrom } = result
        expect(agreement?.agreed ?? 0).toBeLessThanOrEqual(agreement?.heldOut ?? 0)
        expect(learnedFrom.successes + learnedFrom.failures + learnedFrom.leftOut).toBe(some.length)
      }),
      { numRuns: 500 },
    )
  })

  it('runs again as it did, of what was done once with tools that there are', () => {
    const known = action.filter(
      ({ tool, input }) =>
        contracts.has(tool) && isJsonObject(input) && !JSON.stringify(input).includes('__proto__'),
    )
    fc.assert(
      fc.property(fc.array(known, { minLength: 1, maxLength: 6 }), (actions) => {
        const demonstration = { ...deskRun(0).demonstration, actions }
        const { definition } = learned({ contracts, demonstrations: [demonstration] })
        const seen = runOf(demonstration, true, contracts).actions
        const plan = planOf(requireDefinition(definition), [...contracts.values()])
        const { steps } = requireDefinition(definition)
        const input = new Map<string, Json>()
        for (const [at, step] of steps.entries()) {
          const given: Json = ('with' in step && step.with) || {}
          for (const path of pathsOf([given])) {
            const text = JSON.stringify(valueAt(given, path))
            const name = /^"\{\{input\.(\w+)\}\}"$/.exec(text)?.[1]
            if (name !== undefined && !input.has(name)) {
              input.set(name, valueAt(seen[at]?.input ?? {}, path) ?? null)
            }
          }
        }
        let at = -1

        const { calls } = walk(plan, startOf(Object.fromEntries(input)), () => {
          at += 1
          return { output: Object.fromEntries(seen[at]?.facts ?? []) }
        })

        expect(calls.map(({ tool, input: given }) => [tool, given])).toEqual(
          seen.map(({ tool, input: given }) => [tool, given]),
        )
      }),
      { numRuns: 1_000 },
    )
  })
})
