import { describe, expect, it } from 'vitest'
import { parseScenarios } from '../../src/domain/parse-scenarios.ts'
import type { Scenario } from '../../src/domain/scenario.ts'
import type { Step } from '../../src/domain/step.ts'
import { runScenarios } from '../../src/simulation/run-scenarios.ts'
import { contractOf, definitionOf, planOf } from '../support/walk.ts'

const look = contractOf('look', {
  output: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
})
const put = contractOf('put', { effect: 'write' })

const steps: readonly Step[] = [
  {
    key: 'look',
    action: 'Look',
    tool: 'look',
    with: { id: '{{input.id}}' },
    onError: 'continue',
    required: false,
  },
  {
    key: 'each',
    action: 'Put each',
    tool: 'put',
    forEach: 'input.list',
    with: { item: '{{item}}' },
  },
  {
    key: 'ask',
    action: 'Ask',
    when: "input.id == 'a'",
    ask: 'agent',
    message: 'Is it {{input.id}}?',
    answer: { type: 'boolean' },
    deadline: '1h',
    onDeadline: 'continue',
    required: false,
  },
  {
    key: 'must',
    action: 'Must',
    require: [
      { text: 'it has a name', when: "input.id != ''" },
      { text: 'it is short', when: 'size(input.id) < 3' },
    ],
    otherwise: 'declined',
  },
  {
    key: 'branch',
    action: 'Branch',
    choose: [
      {
        text: 'an a',
        when: "input.id == 'a'",
        steps: [{ key: 'stop', action: 'Stop', end: 'resolved', text: 'It is {{input.id}}' }],
      },
    ],
    otherwise: 'continue',
  },
]
const plan = planOf(
  definitionOf({
    steps,
    escalationRules: [{ text: 'it is a b', when: "input.id == 'b'" }],
  }),
  [look, put],
)

function run(...parts: Record<string, unknown>[]) {
  const parsed = parseScenarios(
    parts.map((part, index) => ({ name: `s${index}`, expect: { end: 'resolved' }, ...part })),
  )
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return runScenarios(plan, parsed.scenarios satisfies readonly Scenario[])
}

const world = {
  look: { output: { n: 1 } },
  each: { output: 'put' },
  ask: { answer: true },
}
const sound = { input: { id: 'a', list: [1, 2] }, steps: world }
const path = ['look', 'each', 'each[0]', 'each[1]', 'ask', 'must', 'branch', 'stop']

describe('a scenario is held against its run', () => {
  it('and is ok when all is as expected', () => {
    const expect_ = {
      end: 'resolved',
      path,
      result: { text: 'It is a' },
      sent: { look: { id: 'a' }, 'each[1]': { item: 2 }, ask: 'Is it a?' },
    }

    const { ok, scenarios } = run({ ...sound, expect: expect_ })

    expect(scenarios).toEqual([
      {
        name: 's0',
        ok: true,
        problems: [],
        differences: [],
        stop: null,
        end: 'resolved',
        reason: null,
        text: null,
        path,
        result: { text: 'It is a' },
      },
    ])
    expect(ok).toBe(true)
  })

  it.each([
    [
      'end',
      { end: 'declined' },
      { what: 'end', step: null, expected: 'declined', found: 'resolved' },
    ],
    [
      'first step of the path',
      { end: 'resolved', path: ['look', 'ask', 'must'] },
      { what: 'path', step: 'each', position: 2, expected: 'ask', found: 'each' },
    ],
    [
      'path that ends too early',
      { end: 'resolved', path: [...path, 'more'].map((one) => (one === 'more' ? 'look' : one)) },
      { what: 'path', step: 'look', position: 9, expected: 'look', found: null },
    ],
    [
      'path that goes on',
      { end: 'resolved', path: path.slice(0, -1) },
      { what: 'path', step: 'stop', position: 8, expected: null, found: 'stop' },
    ],
    [
      'result',
      { end: 'resolved', result: null },
      { what: 'result', step: null, expected: null, found: { text: 'It is a' } },
    ],
    [
      'reason',
      { end: 'resolved', reason: 'rule_matched' },
      { what: 'reason', step: null, expected: 'rule_matched', found: null },
    ],
    [
      'text',
      { end: 'resolved', text: 'it is a b' },
      { what: 'text', step: null, expected: 'it is a b', found: null },
    ],
    [
      'what was sent',
      { end: 'resolved', sent: { look: { id: 'b' } } },
      { what: 'sent', step: 'look', expected: { id: 'b' }, found: { id: 'a' } },
    ],
    [
      'what was never sent',
      { end: 'resolved', sent: { 'each[7]': 1 } },
      { what: 'sent', step: 'each[7]', expected: 1, found: null },
    ],
  ])('and differs in the %s', (_what, expect_, difference) => {
    const { ok, scenarios } = run({ ...sound, expect: expect_ })

    expect(scenarios[0]?.differences).toEqual([difference])
    expect(ok).toBe(false)
  })

  it('and says the reason and the text of what decided', () => {
    const { scenarios } = run({
      input: { id: 'b', list: [] },
      expect: { end: 'escalated', reason: 'rule_matched', text: 'it is a b', path: [] },
    })

    expect(scenarios[0]).toMatchObject({ ok: true, reason: 'rule_matched', text: 'it is a b' })
  })

  it('and fails when it stops, whatever it expects', () => {
    const { scenarios } = run({ ...sound, steps: {}, expect: { end: 'escalated' } })

    expect(scenarios[0]).toMatchObject({ ok: false, end: null, stop: { kind: 'missing' } })
  })
})

describe('a scenario that could never be', () => {
  it('is told with every reason, and is not run', () => {
    const { scenarios } = run({
      ...sound,
      steps: {
        lok: { output: 1 },
        'look[0]': { output: { n: 1 } },
        look: [
          { output: { n: 'many' } },
          { answer: 1 },
          { says: 'approved' },
          { fails: 'limited' },
        ],
        ask: [{ answer: 'yes' }, { says: 'approved' }, { output: 1 }],
        must: { output: 1 },
      },
      tools: { putt: { output: 1 }, look: { output: { n: 1.5 } } },
      expect: { end: 'resolved', text: 'it is', path: ['look', 'none'], sent: { must: 1 } },
    })

    expect(scenarios[0]?.path).toEqual([])
    expect(scenarios[0]?.problems.map((one) => `${one.path}: ${one.message}`)).toEqual([
      "steps.ask[0].answer: found 'yes', expected true or false",
      "steps.ask[1]: 'ask' asks: expected answer, or says: nothing",
      "steps.ask[2]: 'ask' asks: expected answer, or says: nothing",
      "steps.lok: there is no step 'lok'. Did you mean 'look'?",
      "steps.look[0].output.n: found 'many', expected a whole number",
      "steps.look[1]: 'look' runs a tool: expected output or fails",
      "steps.look[2]: 'look' runs a tool: says is for scenarios with mode: guided",
      "steps.look[3]: 'look' runs a tool that has no limits",
      `steps["look[0]"]: 'look[0]' names a round in 1 of the loops around 'look', and there are none`,
      "steps.must: 'must' (require) asks nothing of the outside; remove it",
      'tools.look.output.n: found 1.5, expected a whole number',
      "tools.putt: no step runs a tool 'putt'. Did you mean 'put'?",
      "expect.path[1]: there is no step 'none'.",
      "expect.sent.must: 'must' (require) sends nothing",
    ])
  })

  it('expects no text that nothing has, unless an end may make it', () => {
    const other = planOf(
      definitionOf({ steps: [{ key: 'one', action: 'One', compute: { a: '1' } }] }),
    )
    const parsed = parseScenarios([{ name: 'a', expect: { end: 'escalated', text: 'other' } }])

    const [scenario] = 'scenarios' in parsed ? runScenarios(other, parsed.scenarios).scenarios : []

    expect(scenario?.problems).toEqual([
      { path: 'expect.text', message: "no condition or rule has the text 'other'." },
    ])
  })
})

describe('the coverage', () => {
  it('of no run lists everything', () => {
    const { coverage } = run()

    expect(coverage).toEqual({
      steps: { total: 6, reached: 0 },
      branches: { total: 14, reached: 0 },
      unreached: {
        steps: ['look', 'each', 'ask', 'must', 'branch', 'stop'],
        branches: [
          { step: 'look', branch: 'onError: continue' },
          { step: 'each', branch: 'a list with items' },
          { step: 'each', branch: 'an empty list' },
          { step: 'ask', branch: 'when holds' },
          { step: 'ask', branch: 'when does not hold' },
          { step: 'ask', branch: 'onDeadline: continue' },
          { step: 'must', branch: "'it has a name' holds" },
          { step: 'must', branch: "'it has a name' does not hold" },
          { step: 'must', branch: "'it is short' holds" },
          { step: 'must', branch: "'it is short' does not hold" },
          { step: 'branch', branch: "'an a' is chosen" },
          { step: 'branch', branch: 'otherwise' },
          { step: null, branch: "rule 'it is a b' matches" },
          { step: null, branch: "rule 'it is a b' does not match" },
        ],
      },
    })
  })

  it('is of all runs together', () => {
    const silent = { ...world, look: { fails: 'refused' }, ask: { says: 'nothing' } }
    const { coverage } = run(
      sound,
      { ...sound, input: { id: 'a', list: [] }, steps: silent },
      { ...sound, input: { id: 'cc', list: [] } },
      { ...sound, input: { id: '', list: [] } },
      { ...sound, input: { id: 'long', list: [] } },
      { ...sound, input: { id: 'b', list: [] } },
    )

    expect(coverage.unreached).toEqual({ steps: [], branches: [] })
    expect(coverage.branches).toEqual({ total: 14, reached: 14 })
  })

  it('counts no failure as passed over that has ended the run', () => {
    const unknown = { ...world, look: { fails: 'invalid' } }
    const step = { key: 'look', action: 'Put', tool: 'put', onError: 'continue' } as const
    const other = planOf(definitionOf({ steps: [step] }), [put])
    const parsed = parseScenarios([
      { name: 'a', steps: { look: unknown.look }, expect: { end: 'escalated' } },
    ])

    const report = 'scenarios' in parsed ? runScenarios(other, parsed.scenarios) : undefined

    expect(report?.scenarios[0]).toMatchObject({ ok: true, reason: 'output_invalid' })
    expect(report?.coverage.unreached.branches).toEqual([
      { step: 'look', branch: 'onError: continue' },
    ])
  })
})
