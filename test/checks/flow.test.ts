import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import type { Definition } from '../../src/domain/definition.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { contractOf } from '../support/walk.ts'

const output = {
  type: 'object',
  required: ['state', 'amount', 'ok'],
  additionalProperties: false,
  properties: {
    state: { enum: ['none', 'open', 'closed'] },
    amount: { type: 'number' },
    ok: { type: 'boolean' },
    note: { type: 'string' },
  },
}
const tools = new Map(
  [
    contractOf('look', { output }),
    contractOf('pay', { output, effect: 'write', requires: ['look'] }),
  ].map((contract) => [contract.name, contract]),
)

const look = (key: string, more: object = {}) => ({ key, action: 'Look', tool: 'look', ...more })
const pay = (key: string, more: object = {}) => ({ key, action: 'Pay', tool: 'pay', ...more })
const end = (key: string, more: object = {}) => ({ key, action: 'End', end: 'declined', ...more })
const use = (key: string, when: string, more: object = {}) => ({
  key,
  action: 'Use',
  compute: { used: when },
  ...more,
})
const optional = { required: false, onError: 'continue' }

/** What the checks find, without the rules that are about words and kinds. */
function found(steps: readonly object[], more: object = {}): readonly string[] {
  const definition: Definition = requireDefinition({
    key: 'TEST_PLAYBOOK',
    name: 'Test',
    description: 'For tests',
    internal: true,
    input: {
      type: 'object',
      properties: {
        wanted: { type: 'boolean', source: 'caller' },
        size: { type: 'number', source: 'caller' },
        kind: { enum: ['a', 'b', 'c'], source: 'caller' },
        list: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
      },
      required: ['wanted', 'size', 'kind', 'list'],
    },
    steps,
    completionConditions: [{ text: 'Always', when: 'true' }],
    ...more,
  })
  const ignored = ['unused-input', 'no-deadline', 'approval-shows-nothing', 'never-resolves']
  return checkDefinition(definition, (name) => tools.get(name))
    .filter(({ rule }) => !ignored.includes(rule))
    .map(({ rule, path }) => `${rule} ${path}`)
}

const guards: readonly [name: string, guard: string][] = [
  ['a status', "steps.a.status == 'completed' && steps.a.output.ok"],
  ['has()', 'has(steps.a.output) && steps.a.output.ok'],
  ['has() of a part', 'has(steps.a.output.state) && steps.a.output.ok'],
  ['a status that is refused', "steps.a.status != 'completed' || steps.a.output.ok"],
  ['a status that is listed', "!(steps.a.status in ['skipped', 'failed']) && steps.a.output.ok"],
  ['a ternary', "steps.a.status == 'completed' ? steps.a.output.ok : false"],
  ['the same condition', 'input.wanted && steps.a.output.ok'],
  ['its opposite', '!input.wanted || steps.a.output.ok'],
]

test.each(guards)('a step that may be skipped can be read behind %s', (_name, guard) => {
  expect(found([look('a', { when: 'input.wanted' }), use('b', guard)])).toEqual([])
})

test.each([
  ['nothing', 'steps.a.output.ok'],
  ['the status of another', "steps.c.status == 'completed' && steps.a.output.ok"],
  ['a status on the wrong side', "steps.a.status == 'completed' || steps.a.output.ok"],
  ['a status that was skipped', "steps.a.status == 'skipped' && steps.a.output.ok"],
  ['another condition', 'input.size > 1 && steps.a.output.ok'],
])('a step that may be skipped cannot be read behind %s', (_name, guard) => {
  expect(found([look('a', { when: 'input.wanted' }), look('c'), use('b', guard)])).toEqual([
    'unguarded-step steps[2].compute.used',
  ])
})

test('a guard may stand in when, and holds for all of the step', () => {
  const guarded = { when: "steps.a.status == 'completed'" }

  expect(
    found([
      look('a', { when: 'input.wanted' }),
      use('b', 'steps.a.output.ok', guarded),
      { key: 'c', action: 'C', ...guarded, steps: [use('d', 'steps.a.output.ok')] },
      use('e', 'steps.a.output.ok', { when: 'input.wanted' }),
      use('f', 'steps.a.output.ok', { when: '!input.wanted' }),
    ]),
  ).toEqual(['unguarded-step steps[4].compute.used'])
})

test('a step that may fail must be guarded, and one that ends the run with it need not', () => {
  expect(found([look('a', optional), use('b', 'steps.a.output.ok')])).toEqual([
    'unguarded-step steps[1].compute.used',
  ])
  expect(found([look('a', { onError: 'declined' }), use('b', 'steps.a.output.ok')])).toEqual([])
  expect(
    found([
      look('a', optional),
      use('b', "steps.a.status == 'failed' && steps.a.error.code != 'tool_timeout'"),
    ]),
  ).toEqual([])
})

test('what a failure was is compared with what it can be', () => {
  const asks = (test: string) =>
    found([look('a', optional), use('b', `steps.a.status == 'failed' && steps.a.error.${test}`)])

  expect(asks("kind == 'refused'")).toEqual([])
  expect(asks("code in ['tool_failed', 'tool_timeout']")).toEqual([])
  expect(asks("kind == 'refussed'")).toEqual(['impossible-value steps[1].compute.used'])
  expect(asks("code == 'refused'")).toEqual(['impossible-value steps[1].compute.used'])
  expect(asks('sort == 1')).toEqual(['unknown-reference steps[1].compute.used'])
})

const branches = {
  key: 'way',
  action: 'Choose',
  choose: [
    { text: 'First', when: "input.kind == 'a'", steps: [look('a')] },
    { text: 'Second', when: "input.kind == 'b'", steps: [look('b')] },
    { text: 'Third', when: "input.kind == 'c'", steps: [look('c')] },
  ],
}

test.each([
  'firstOf(steps.a, steps.b, steps.c).ok',
  "steps.way.output.chosen == 'First' && steps.a.output.ok",
  "input.kind == 'b' && steps.b.output.ok",
  "input.kind != 'b' || steps.b.output.ok",
  "!(input.kind in ['a', 'b']) && steps.c.output.ok",
  "steps.a.status == 'pending' && steps.b.status == 'pending' && steps.c.output.ok",
  'steps.a.status == "completed" ? steps.a.output.ok : firstOf(steps.b, steps.c).ok',
])('after choices a branch can be read by %s', (when) => {
  expect(found([branches, use('use', when)])).toEqual([])
})

test.each([
  'firstOf(steps.a, steps.b).ok',
  "steps.way.output.chosen == 'First' && steps.b.output.ok",
  "input.kind != 'b' && steps.c.output.ok",
  'has(steps.a.output) || steps.b.output.ok',
])('after choices a branch cannot be read by %s', (when) => {
  expect(found([branches, use('use', when)])).toEqual(['unguarded-step steps[1].compute.used'])
})

test('a branch that ends the run leaves the others', () => {
  const choose = [
    { text: 'First', when: "input.kind == 'a'", steps: [look('a')] },
    { text: 'Other', when: "input.kind != 'a'", steps: [end('stop')] },
  ]

  expect(
    found([{ key: 'way', action: 'Choose', choose }, use('use', 'steps.a.output.ok')]),
  ).toEqual([])
})

test('a choice behind others knows that these did not hold', () => {
  const choose = (second: string) => [
    { text: 'Small', when: 'input.size < 10', steps: [use('a', 'true')] },
    { text: 'Second', when: second, steps: [use('b', 'true')] },
  ]
  const way = (second: string) => [{ key: 'way', action: 'Choose', choose: choose(second) }]

  expect(found(way('input.size >= 10'))).toEqual([])
  expect(found(way('input.size < 10'))).toEqual(['unreachable-choice steps[0].choose[1].when'])
})

test('a requirement holds for what follows', () => {
  const require = (key: string, when: string) => ({
    key,
    action: 'Require',
    require: [{ text: 'T', when }],
  })

  expect(
    found([
      look('a', { when: 'input.wanted' }),
      require('one', "steps.a.status == 'completed'"),
      use('b', 'steps.a.output.ok'),
      require('two', "input.kind == 'a'"),
      look('c', { when: "input.kind == 'b'" }),
    ]),
  ).toEqual(['unreachable-step steps[4].when'])
})

test('what a requirement does instead knows that it did not hold', () => {
  const otherwise = [use('b', 'steps.a.output.ok'), end('stop')]
  const require = [{ text: 'T', when: "steps.a.status != 'completed'" }]

  expect(found([look('a', optional), { key: 'req', action: 'R', require, otherwise }])).toEqual([])
})

test('an expectation and a computed condition are known later', () => {
  const steps = (when: string) => [
    look('a', { expect: 'output.ok' }),
    use('safe', "steps.a.output.state == 'none'"),
    look('b', { when: 'steps.safe.output.used' }),
    use('c', when),
  ]

  expect(found(steps("steps.a.output.state == 'none' && steps.b.output.ok"))).toEqual([])
  expect(found(steps('steps.safe.output.used && steps.b.output.ok'))).toEqual([])
  expect(found(steps("steps.a.output.state == 'open' && steps.b.output.ok"))).toEqual([
    'unguarded-step steps[3].compute.used',
  ])
  expect(
    found([look('a', { expect: 'output.ok' }), look('b', { when: '!steps.a.output.ok' })]),
  ).toEqual(['unreachable-step steps[1].when'])
})

test('a value that was asked for may be read after it', () => {
  const note = { key: 'tell', action: 'T', end: 'resolved', text: 'Note: {{steps.a.output.note}}' }

  expect(found([look('a'), note])).toEqual(['unguarded-value steps[1].text'])
  expect(found([look('a'), { ...note, when: 'has(steps.a.output.note)' }])).toEqual([])
  expect(
    found([
      look('a'),
      { key: 'r', action: 'R', require: [{ text: 'T', when: 'has(steps.a.output.note)' }] },
      note,
    ]),
  ).toEqual([])
})

test('the order of tools is held on every way', () => {
  const guarded = { when: 'input.wanted' }

  expect(found([look('a'), pay('b')])).toEqual([])
  expect(found([pay('b'), look('a')])).toEqual(['tool-order steps[0].tool'])
  expect(found([look('a', guarded), pay('b')])).toEqual(['tool-order steps[1].tool'])
  expect(found([look('a', guarded), pay('b', guarded)])).toEqual([])
  expect(found([look('a', optional), pay('b')])).toEqual(['tool-order steps[1].tool'])
  expect(found([look('a', optional), pay('b', { when: "steps.a.status == 'completed'" })])).toEqual(
    [],
  )
  expect(found([branches, pay('p')])).toEqual([])
})

test('nothing comes behind what always ends the run', () => {
  const choose = [
    { text: 'A', when: 'input.wanted', steps: [end('one')] },
    { text: 'B', when: '!input.wanted', steps: [end('two')] },
  ]

  expect(found([{ key: 'way', action: 'W', choose }, look('late'), look('later')])).toEqual([
    'unreachable-step steps[1]',
  ])
  expect(found([end('stop', { when: 'input.wanted' }), look('a')])).toEqual([])
})

test('a rule is tested where the steps that it reads have ended', () => {
  const rule = (when: string) => ({ escalationRules: [{ text: 'Rule', when }] })

  expect(found([branches], rule('steps.a.output.ok'))).toEqual([])
  expect(found([look('a', { when: 'input.wanted' })], rule('steps.a.output.ok'))).toEqual([
    'unguarded-step escalationRules[0].when',
  ])
  expect(
    found(
      [look('a', { when: 'input.wanted' })],
      rule("steps.a.status == 'completed' && steps.a.output.ok"),
    ),
  ).toEqual([])
  expect(found([branches], rule('steps.a.output.ok && steps.b.output.ok'))).toEqual([
    'rule-never-due escalationRules[0].when',
  ])
  expect(found([look('a'), look('b')], rule("steps.a.status == 'skipped'"))).toEqual([
    'rule-never-matches escalationRules[0].when',
  ])
})

test('what a rule hands over is not there afterwards', () => {
  const rule = { escalationRules: [{ text: 'Odd', when: "steps.a.output.state == 'none'" }] }
  const choose = [
    { text: 'Open', when: "steps.a.output.state == 'open'", steps: [use('b', 'true')] },
    { text: 'Closed', when: "steps.a.output.state == 'closed'", steps: [use('c', 'true')] },
  ]
  const steps = [look('a'), { key: 'way', action: 'W', choose }]

  expect(found(steps, rule)).toEqual([])
  expect(found(steps)).toEqual(['choice-missing steps[1].choose'])
})

test('conditions and results at the end are read where the run resolves', () => {
  const completion = (when: string) => ({ completionConditions: [{ text: 'C', when }] })
  const steps = [look('a', { when: 'input.wanted' }), end('stop', { when: '!input.wanted' })]

  expect(found(steps, completion('steps.a.output.ok'))).toEqual([])
  expect(found([steps[0] ?? {}], completion('steps.a.output.ok'))).toEqual([
    'unguarded-step completionConditions[0].when',
  ])
  expect(found([branches], completion("steps.a.status == 'failed'"))).toEqual([
    'never-holds completionConditions[0].when',
  ])
  expect(found([branches], { output: { ok: 'steps.a.output.ok' } })).toEqual([
    'unguarded-step output.ok',
  ])
  expect(found([branches], { output: { ok: 'firstOf(steps.a, steps.b, steps.c).ok' } })).toEqual([])
})

test('rounds are read inside of a loop, and the whole outside', () => {
  const loop = {
    key: 'each',
    action: 'Each',
    forEach: 'input.list',
    steps: [look('a', { with: { id: '{{item.id or "none"}}' } }), use('b', 'steps.a.output.ok')],
  }

  expect(found([loop, use('c', 'steps.each.items.all(one, one.status == "completed")')])).toEqual(
    [],
  )
  expect(found([loop, use('c', 'steps.a.output.ok')])).toEqual([
    'inside-loop steps[1].compute.used',
  ])
  expect(found([loop, pay('p')])).toEqual(['tool-order steps[1].tool'])
})

test('a repeated block leaves its last round, and its until reads it', () => {
  const block = (until: string, more: object = {}) => ({
    key: 'try',
    action: 'Try',
    repeat: { until, atMost: 3, ...more },
    steps: [look('a')],
  })
  const then = look('z', { when: "steps.a.output.state == 'open'" })

  expect(found([block('steps.a.output.ok'), use('c', 'steps.a.output.ok'), pay('p')])).toEqual([])
  expect(found([block('input.wanted')])).toEqual(['loop-until steps[0].repeat.until'])
  expect(found([block("steps.a.output.state == 'closed'"), then])).toEqual([
    'unreachable-step steps[1].when',
  ])
  const goesOn = { ...block("steps.a.output.state == 'closed'", { otherwise: 'continue' }) }
  expect(found([{ ...goesOn, required: false }, then])).toEqual([])
  expect(found([goesOn])).toEqual(['continue-required steps[0].repeat.otherwise'])
})

test('a tool that is polled in vain has failed, and must be guarded where the run goes on', () => {
  const poll = (more: object) =>
    look('a', { poll: { every: '1m', atMost: 3, until: 'output.ok', ...more }, required: false })

  expect(found([poll({}), look('b', { when: '!steps.a.output.ok' })])).toEqual([
    'unreachable-step steps[1].when',
  ])
  expect(found([poll({ otherwise: 'continue' }), use('b', 'steps.a.output.ok')])).toEqual([
    'unguarded-step steps[1].compute.used',
  ])
})

test('an ask and an approval that go on unanswered must be guarded', () => {
  const ask = { key: 'a', action: 'A', ask: 'agent', message: 'Well?', answer: { type: 'string' } }
  const goesOn = { required: false, deadline: '1d', onDeadline: 'continue' }
  const uses = use('b', "steps.a.output == 'yes'")

  expect(found([{ ...ask }, uses])).toEqual([])
  expect(found([{ ...ask, ...goesOn }, uses])).toEqual(['unguarded-step steps[1].compute.used'])
})

const noted = { with: { text: '{{steps.a.output.note}}' } }
const required = (when: string) => ({
  key: 'r',
  action: 'Require',
  require: [{ text: 'It holds', when }],
})
/** The findings of what is sent; a condition may be told of itself. */
const sent = (steps: readonly object[]) => found(steps).filter((one) => one.includes('.with'))

test.each([
  ['has()', 'has(steps.a.output.note)'],
  ['has() among others', 'has(steps.a.output.note) && steps.a.output.ok'],
  ['has() and a comparison', "has(steps.a.output.note) && steps.a.output.note != 'x'"],
  ['a refusal of its opposite', '!!has(steps.a.output.note)'],
  ['a ternary', 'has(steps.a.output.note) ? steps.a.output.ok : false'],
])(
  'a value that may be absent can be sent behind %s, in when or required before',
  (_name, when) => {
    expect(found([look('a'), pay('b', { when, ...noted })])).toEqual([])
    expect(found([look('a'), required(when), pay('b', noted)])).toEqual([])
    expect(found([look('a'), required(when), look('c'), pay('b', noted)])).toEqual([])
  },
)

test.each([
  ['compared with a text', "steps.a.output.note == 'x'"],
  ['found to be another text', "steps.a.output.note != 'x'"],
  ['found not to be another text', "!(steps.a.output.note != 'x')"],
  ['looked up in a list', "steps.a.output.note in ['x', 'y']"],
  ['compared with another value', 'steps.a.output.note != steps.c.output.note'],
  ['calculated with', "steps.a.output.note + 'x' != 'yx'"],
])('a value that was %s is there, or the run would have ended', (_name, when) => {
  const before = [look('a'), look('c')]

  expect(sent([...before, pay('b', { when, ...noted })])).toEqual([])
  expect(sent([...before, required(when), pay('b', noted)])).toEqual([])
})

test('a value of a round can be sent behind what was asked of it in the round', () => {
  const over = { forEach: 'input.list', with: { text: '{{item.id}}' } }

  expect(found([look('a'), pay('b', { ...over, when: 'has(item.id)' })])).toEqual([])
  expect(found([look('a'), pay('b', { ...over, when: "item.id != 'x'" })])).toEqual([
    'unguarded-value steps[1].when',
  ])
})

test.each([
  ['nothing', 'true'],
  ['another value', 'has(steps.c.output.note)'],
  ['one of two', 'has(steps.a.output.note) || steps.a.output.ok'],
  ['the opposite', '!has(steps.a.output.note)'],
  ['a comparison that is not always made', "steps.a.output.ok || steps.a.output.note == 'x'"],
  [
    'a question for null that is not always asked',
    'steps.a.output.ok || steps.a.output.note != null',
  ],
])('a value that may be absent cannot be sent behind %s', (_name, when) => {
  const before = [look('a'), look('c')]

  expect(sent([...before, pay('b', { when, ...noted })])).toEqual([
    'unguarded-value steps[2].with.text',
  ])
})
