import { expect, test } from 'vitest'
import {
  parseScenarioFile,
  parseScenarios,
  scenarioLimits,
} from '../../src/domain/parse-scenarios.ts'

function problemsOf(value: unknown): readonly string[] {
  const parsed = parseScenarios(value)
  return 'problems' in parsed
    ? parsed.problems.map(({ path, message }) => `${path}: ${message}`)
    : []
}

const sound = { name: 'a', expect: { end: 'resolved' } }

test('a whole scenario is read in normal form', () => {
  const scenario = {
    name: 'whole',
    text: 'About',
    input: { a: 1 },
    ticket: { text: 'words', tags: ['x'] },
    context: { b: null },
    customerId: 'c-1',
    requester: 'ann',
    onBehalfOf: 'bob',
    startedAt: '2026-01-05T09:00:00Z',
    mode: 'guided',
    steps: {
      look: [
        { fails: 'timeout', message: 'late', after: '5s' },
        { output: null, after: '1m' },
      ],
      'notify[0]': { says: 'denied', by: 'ann', roles: ['agent'], groups: ['desk'], message: 'no' },
      ask: { answer: { a: 1 }, by: 'ann' },
      call: { outcome: 'resolved', output: [1] },
    },
    tools: { look: { output: 1 } },
    expect: {
      end: 'escalated',
      reason: 'rule_matched',
      text: 'a rule',
      path: ['look', 'notify[0]', 'notify[1.2]'],
      result: null,
      sent: { look: { a: 1 } },
    },
  }

  const parsed = parseScenarios([scenario])

  expect(parsed).toEqual({ scenarios: [scenario] })
})

test('what equals its default is left out, and reading again changes nothing', () => {
  const parsed = parseScenarios([
    { ...sound, mode: 'automatic', input: {}, context: {}, steps: {}, tools: {} },
  ])

  expect(parsed).toEqual({ scenarios: [sound] })
})

test('all problems come at once, each with its path', () => {
  const found = problemsOf([
    {
      name: '',
      nmae: 'x',
      ticket: { text: ' ', colour: 'red' },
      startedAt: 'tomorrow',
      mode: 'quick',
      steps: {
        'look[': { output: 1 },
        look: [{ output: 1, fails: 'timeout' }, { fails: 'badly' }, 7],
        ask: { answer: 1, message: 'no' },
        wait: {},
        late: { output: 1, after: '3 workdays' },
      },
      tools: [],
      expect: { end: 'done', reason: 'because', path: ['look', 'A'], sent: { 'B!': 1 }, why: 1 },
    },
    'scenario',
    { ...sound },
    { ...sound },
  ])

  expect(found).toEqual(
    expect.arrayContaining([
      "scenarios[0].name: found '', expected a text of 1 to 200 characters",
      "scenarios[0].nmae: is not a known field. Did you mean 'name'?",
      "scenarios[0].ticket.text: found ' ', expected a text of 1 to 1,000,000 characters",
      expect.stringMatching(/^scenarios\[0\]\.ticket\.colour: is not a known field/),
      "scenarios[0].startedAt: found 'tomorrow', expected a time such as 2026-01-05T09:00:00Z",
      "scenarios[0].mode: found 'quick', expected one of automatic or guided",
      expect.stringMatching(/^scenarios\[0\]\.steps\["look\["\]: found 'look\['/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.look\[0\]: found output and fails, expected/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.look\[1\]\.fails: found 'badly'/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.look\[2\]: found 7, expected an object with/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.ask\.message: is not a known field/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.wait: found none, expected/),
      expect.stringMatching(/^scenarios\[0\]\.steps\.late\.after: found '3 workdays'/),
      expect.stringMatching(/^scenarios\[0\]\.tools: found an empty list, expected an object/),
      expect.stringMatching(/^scenarios\[0\]\.expect\.end: found 'done'/),
      expect.stringMatching(/^scenarios\[0\]\.expect\.reason: found 'because'/),
      expect.stringMatching(/^scenarios\[0\]\.expect\.path\[1\]: found 'A'/),
      expect.stringMatching(/^scenarios\[0\]\.expect\.sent\["B!"\]: found 'B!'/),
      expect.stringMatching(/^scenarios\[0\]\.expect\.why: is not a known field/),
      expect.stringMatching(/^scenarios\[1\]: found 'scenario', expected a scenario/),
      "scenarios[3].name: 'a' is the name of scenarios[2] as well; give it one of its own",
    ]),
  )
})

test.each([
  ['no list', { name: 'a' }, /^scenarios: found an object, expected a list of scenarios/],
  ['nothing', undefined, /^scenarios: found null, expected a list/],
  ['a NUL', [{ ...sound, text: '\u0000' }], /^scenarios\[0\]\.text: contains a NUL character/],
  [
    'too many',
    Array.from({ length: scenarioLimits.count + 1 }, (_, index) => ({
      ...sound,
      name: `${index}`,
    })),
    /^scenarios: there are 201 scenarios, and the limit is 200/,
  ],
  [
    'too much',
    [{ ...sound, input: { a: 'x'.repeat(scenarioLimits.bytes) } }],
    /^scenarios: there are \d+ bytes of scenarios, and the limit is/,
  ],
])('refuses %s', (_what, value, message) => {
  expect(problemsOf(value)).toEqual([expect.stringMatching(message)])
})

test('names that objects have by themselves are ordinary ones', () => {
  const steps = JSON.parse('{"constructor": {"output": 1}}')

  const parsed = parseScenarios([{ ...sound, steps }])

  expect(parsed).toEqual({ scenarios: [{ ...sound, steps: { constructor: { output: 1 } } }] })
})

test('a file names its procedure, and nothing else', () => {
  expect(parseScenarioFile({ procedure: 'A_PLAYBOOK', scenarios: [sound] })).toEqual({
    procedureKey: 'A_PLAYBOOK',
    scenarios: [sound],
  })
  expect(parseScenarioFile({ procedure: 'a', scenarios: [{}], more: 1 })).toMatchObject({
    problems: [
      { path: 'procedure' },
      { path: 'more' },
      { path: 'scenarios[0].name' },
      { path: 'scenarios[0].expect' },
    ],
  })
  expect(parseScenarioFile([])).toMatchObject({ problems: [{ path: '' }] })
  expect(parseScenarioFile({ procedure: 'A_PLAYBOOK' })).toMatchObject({
    problems: [{ path: 'scenarios', message: 'is missing: expected a list of scenarios' }],
  })
})
