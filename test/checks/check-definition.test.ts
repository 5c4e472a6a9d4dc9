import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { Step } from '../../src/domain/step.ts'
import { contractOf, definitionOf } from '../support/walk.ts'

const output = {
  type: 'object',
  required: ['state', 'note'],
  additionalProperties: false,
  properties: {
    state: { type: 'string', enum: ['open', 'closed'] },
    note: { type: ['string', 'null'] },
  },
}
const input = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: { id: { type: 'string' } },
}
const tools = new Map(
  [
    contractOf('look', { input, output }),
    contractOf('pay', { effect: 'write', requires: ['look'], input, output }),
    contractOf('wire', { effect: 'write', idempotent: false, input, output }),
  ].map((contract) => [contract.name, contract]),
)

const look: Step = { key: 'look_up', action: 'Look', tool: 'look', with: { id: '{{input.id}}' } }

const valid: Definition = definitionOf({
  issuePatterns: ['a pattern', 'b pattern', 'c pattern', 'd pattern'],
  input: {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' }, size: { type: 'number' } },
  },
  policy: { limit: 3 },
  steps: [look],
  completionConditions: [
    { text: 'done', when: "steps.look_up.output.state == 'open' || policy.limit > 2" },
  ],
})

function findings(parts: Partial<Definition>) {
  return checkDefinition({ ...valid, ...parts }, (name) => tools.get(name)).map(
    ({ rule, severity, path }) => `${severity} ${rule} ${path}`,
  )
}

function withStep(step: Record<string, unknown>): readonly string[] {
  return findings({
    steps: [look, { key: 'second', action: 'Second', ...step } as unknown as Step],
  })
}

const secret = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    pin: { type: 'string', sensitive: true },
    cards: { type: 'array', items: { type: 'string', sensitive: true } },
    owner: { type: 'object', sensitive: true, properties: { name: { type: 'string' } } },
  },
}

describe('a reply', () => {
  const show: Step = { key: 'shown', action: 'Show', tool: 'show' }
  const contract = contractOf('show', { input: { type: 'object' }, output: secret })
  const found = (text: string) =>
    checkDefinition(
      { ...valid, input: secret, steps: [show], replies: { resolved: text } },
      (name) => (name === 'show' ? contract : undefined),
    ).flatMap(({ rule, severity, path }) =>
      rule === 'unsayable-value' ? [`${severity} ${path}`] : [],
    )

  it.each([
    '{{ticket.text}}',
    'You say: {{ticket.text or "-"}}',
    ...['input', 'steps.shown.output'].flatMap((root) => [
      `PIN {{${root}.pin}}`,
      `Cards {{${root}.cards}}`,
      `Card {{${root}.cards[3]}}`,
      `Owner {{${root}.owner.name}}`,
    ]),
  ])('may not read %s', (text) => {
    expect(found(text)).toEqual(['error replies.resolved'])
  })

  it.each(['{{input.id}}', '{{steps.shown.output.id}}', '{{ticket.id}}', 'Fine.'])(
    'may read %s',
    (text) => {
      expect(found(text)).toEqual([])
    },
  )
})

describe('checkDefinition', () => {
  it('finds nothing in a sound definition', () => {
    expect(findings({})).toEqual([])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a tool that is not there', { tool: 'lok' }, 'error tool-unknown steps[1].tool'],
    ['a missing argument', { tool: 'look' }, 'error missing-field steps[1].with'],
    [
      'an extra argument',
      { tool: 'look', with: { id: 'x', more: 1 } },
      'error unknown-field steps[1].with.more',
    ],
    [
      'an argument of a wrong type',
      { tool: 'look', with: { id: '{{input.size}}' } },
      'error expression-type steps[1].with.id',
    ],
    [
      'an unknown name',
      { compute: { n: 'input.sise' } },
      'error unknown-reference steps[1].compute.n',
    ],
    [
      'a step that does not exist',
      { compute: { n: 'steps.lok_up.status' } },
      'error unknown-reference steps[1].compute.n',
    ],
    ['itself', { compute: { n: 'steps.second.output.n' } }, 'error later-step steps[1].compute.n'],
    [
      'a condition that is no condition',
      { when: 'input.size', compute: { n: '1' } },
      'error expression-type steps[1].when',
    ],
    [
      'a value that never is',
      { when: "steps.look_up.output.state == 'opne'", compute: { n: '1' } },
      'error impossible-value steps[1].when',
    ],
    ['a syntax error', { compute: { n: '1 +' } }, 'error expression-syntax steps[1].compute.n'],
    [
      'a template error',
      { tool: 'look', with: { id: '{{input.id' } },
      'error template-syntax steps[1].with.id',
    ],
    [
      'a retry that could do it twice',
      { tool: 'wire', with: { id: 'x' }, retry: { maxAttempts: 2 } },
      'error retry-not-idempotent steps[1].retry',
    ],
    [
      'a value that may be null',
      { compute: { n: "steps.look_up.output.note + 'x'" } },
      'warning unguarded-value steps[1].compute.n',
    ],
    ['prose', { require: [{ text: 'be nice' }] }, 'warning prose-only steps[1].require[0]'],
  ])('finds %s', (_name, step, expected) => {
    expect(withStep(step)).toContain(expected)
  })

  it('finds a tool before the tools that it requires, and not after them', () => {
    const pay: Step = { key: 'pay_out', action: 'Pay', tool: 'pay', with: { id: 'x' } }

    expect(findings({ steps: [pay, look] })).toEqual(['error tool-order steps[0].tool'])
    expect(findings({ steps: [look, pay] })).toEqual([])
  })

  it('finds choices that cannot be told apart', () => {
    const choice = { text: 'same', when: 'input.id == "a"', steps: [{ ...look, key: 'inner' }] }
    const other = { text: 'same', when: 'input.id == "b"', steps: [{ ...look, key: 'other' }] }

    expect(withStep({ choose: [choice, other] })).toEqual([
      'error choice-repeated steps[1].choose[1].text',
    ])
  })

  it('finds steps after the end', () => {
    expect(
      findings({
        steps: [look, { key: 'stop', action: 'Stop', end: 'resolved' }, { ...look, key: 'late' }],
      }),
    ).toEqual(['error unreachable-step steps[2]'])
  })

  it('says what a definition as a whole lacks', () => {
    const { completionConditions: _none, ...without } = valid

    const found = checkDefinition(
      {
        ...without,
        issuePatterns: ['one'],
        escalationRules: [{ text: 'odd' }],
        policy: { unused: 1 },
      },
      (name) => tools.get(name),
    )

    expect(found.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      'few-patterns issuePatterns',
      'loose-pattern issuePatterns[0]',
      'unused-policy policy.unused',
      'no-completion-condition completionConditions',
      'prose-only escalationRules[0]',
    ])
  })

  it('finds examples of what it is not for that it claims itself', () => {
    const found = checkDefinition(
      {
        ...valid,
        issuePatterns: ['Refund is late', 'b pattern', 'c pattern', '2 d'],
        examples: {
          match: ['Where is my money?'],
          noMatch: [
            'My REFUND IS LATE again',
            'where is my money? ',
            'Change my 2 D number',
            'Where is my parcel?',
          ],
        },
      },
      (name) => tools.get(name),
    )

    expect(found.map(({ rule, severity, path }) => `${severity} ${rule} ${path}`)).toEqual([
      'warning example-contradicted examples.noMatch[0]',
      'warning example-contradicted examples.noMatch[1]',
    ])
    expect(found.map(({ message }) => message)).toEqual([
      expect.stringContaining("holds the issue pattern 'Refund is late'"),
      expect.stringContaining('stands under examples.match as well'),
    ])
  })

  it('gives line and column within the expression', () => {
    const [finding] = checkDefinition(
      {
        ...valid,
        steps: [look, { key: 'second', action: 'Second', compute: { n: '1 +\n  input.sise' } }],
      },
      (name) => tools.get(name),
    )

    expect(finding).toMatchObject({ line: 2, column: 9 })
  })
})

describe('when a case is due', () => {
  const own = (from: string) =>
    findings({ due: { after: '2d', from } }).filter((finding) => finding.includes('due'))

  it('may be counted from what is there when a run starts', () => {
    expect(own('has(ticket.createdAt) ? ticket.createdAt : execution.startedAt')).toEqual([])
  })

  it('is counted from no step, since none has run', () => {
    expect(own('steps.look_up.output.note')).toContainEqual(
      expect.stringMatching(/^error .* due.from$/),
    )
  })

  it('is counted from no text that may be missing', () => {
    expect(own('ticket.createdAt')).toContainEqual(expect.stringMatching(/ due.from$/))
  })
})
