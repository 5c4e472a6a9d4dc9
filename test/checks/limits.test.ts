import { describe, expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { contractOf } from '../support/walk.ts'

const look = contractOf('look', {
  output: {
    type: 'object',
    required: ['ok'],
    additionalProperties: false,
    properties: { ok: { type: 'boolean' } },
  },
})
const properties = Object.fromEntries(
  Array.from({ length: 9 }, (_, n) => [`n${n}`, { type: 'number', source: 'caller' }]),
)

function check(steps: readonly object[], more: object = {}) {
  const definition = requireDefinition({
    key: 'LARGE_PLAYBOOK',
    name: 'Large',
    description: 'Large',
    internal: true,
    input: { type: 'object', properties, required: Object.keys(properties) },
    steps,
    completionConditions: [
      {
        text: 'C',
        when: Object.keys(properties)
          .map((n) => `input.${n} > 0`)
          .join('&&'),
      },
    ],
    ...more,
  })
  return checkDefinition(definition, () => look)
}

const rulesOf = (findings: ReturnType<typeof check>) => [
  ...new Set(findings.map((one) => one.rule)),
]

/** Conditions of up to 500 parts, in forms that a careless check would take for ever for. */
const bombs: { readonly [form: string]: string } = {
  'a chain of and': Array.from({ length: 80 }, (_, n) => `input.n${n % 9}>${n}`).join('&&'),
  'a chain of or': Array.from({ length: 80 }, (_, n) => `input.n${n % 9} > ${n}`).join('||'),
  'and inside or inside and': Array.from({ length: 70 }).reduce<string>(
    (inner, _, n) =>
      n % 2 === 0 ? `(${inner}||input.n${n % 9}>${n})` : `(${inner}&&input.n${n % 9}<${n})`,
    'input.n0 > 0',
  ),
  'a sum': `${Array.from({ length: 240 }, () => '1').join(' + ')} > 2`,
}

describe('a definition of 200 steps with expressions of 500 parts is checked, with', () => {
  test.each(Object.entries(bombs))('%s, as requirements', (_form, when) => {
    const steps = Array.from({ length: 200 }, (_, n) => ({
      key: `s${n}`,
      action: 'A',
      require: [{ text: 'R', when }],
    }))

    expect(rulesOf(check(steps))).not.toContain('expression-syntax')
  })

  test.each(Object.entries(bombs))('%s, as guards that read the step before', (_form, when) => {
    const steps = Array.from({ length: 200 }, (_, n) => ({
      key: `s${n}`,
      action: 'A',
      tool: 'look',
      when:
        n === 0
          ? when
          : `steps.s${n - 1}.status == 'completed' && steps.s${n - 1}.output.ok && (${when})`,
    }))

    // However little is kept of what was learned, a guard in the expression itself is understood.
    expect(rulesOf(check(steps))).not.toContain('unguarded-step')
  })
})

test.each([
  ['a pattern that repeats itself', "input.n0 > 0 && 'x'.matches('((a{1,100}){1,100}){1,100}')"],
  ['a pattern that looks back', "'x'.matches('(a)\\\\1')"],
  ['too many parts', Array.from({ length: 300 }, () => 'true').join('&&')],
  ['too deep', `${'('.repeat(300)}true${')'.repeat(300)}`],
  ['a long run of signs', `${'!'.repeat(5_000)}true`],
])('a bomb is told and not set off: %s', (_name, when) => {
  const findings = check([{ key: 's0', action: 'A', tool: 'look', when }])

  expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toContain(
    'expression-syntax steps[0].when',
  )
})

test('what is too much to be looked at is said, and the rest holds', () => {
  const many = Array.from({ length: 100 }, (_, n) => ({
    text: `R${n}`,
    when: `now > timestamp('2030-01-01T00:00:00Z') && ${Array.from({ length: 60 }, (_, k) => `input.n${k % 9} > ${k + n}`).join(' && ')}`,
  }))
  const steps = [
    ...Array.from({ length: 198 }, (_, n) => ({ key: `s${n}`, action: 'A', tool: 'look' })),
    { key: 'maybe', action: 'A', tool: 'look', when: 'input.n0 > 1' },
    { key: 'last', action: 'A', compute: { ok: 'steps.maybe.output.ok' } },
  ]

  const found = rulesOf(check(steps, { escalationRules: many }))

  expect(found).toContain('too-complex')
  expect(found).toContain('unguarded-step')
})

test('of very many findings of one rule the first hundred are told, and how many there are', () => {
  const values = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`v${n}`, `input.x${n}`]))

  const findings = check([{ key: 's0', action: 'A', compute: values }])

  const told = findings.filter(({ rule }) => rule === 'unknown-reference')
  expect(told).toHaveLength(101)
  expect(told.at(-1)?.message).toContain('and 50 more')
})
