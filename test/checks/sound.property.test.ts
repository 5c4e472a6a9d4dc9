import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { Finding } from '../../src/domain/finding.ts'
import type { Json } from '../../src/domain/json.ts'
import { parseDefinition } from '../../src/domain/parse-definition.ts'
import { contractOf, planOf, startOf, type Walked, walk } from '../support/walk.ts'

/** What the checks prove must hold of every run: here random playbooks are checked, and then run with random answers. */

const output = {
  type: 'object',
  required: ['state', 'ok'],
  additionalProperties: false,
  properties: { state: { enum: ['open', 'closed'] }, ok: { type: 'boolean' } },
}
const contracts = [
  contractOf('look', { output }),
  contractOf('pay', { output, requires: ['look'] }),
]
const findContract = (name: string) => contracts.find((one) => one.name === name)

const input = {
  type: 'object',
  required: ['a', 'b', 'kind'],
  properties: {
    a: { type: 'boolean' },
    b: { type: 'boolean' },
    kind: { enum: ['x', 'y', 'z'] },
  },
}

const stepCount = 9
const key = fc.integer({ min: 0, max: stepCount - 1 }).map((n) => `s${n}`)
const status = fc.constantFrom('completed', 'skipped', 'failed', 'pending')

const read = key.chain((one) =>
  fc.constantFrom(`steps.${one}.output.ok`, `steps.${one}.output.state == 'open'`),
)
const guardedRead = fc.tuple(key, fc.nat(4)).map(([one, form]) => {
  const value = `steps.${one}.output.ok`
  return [
    `(steps.${one}.status == 'completed' && ${value})`,
    `(has(steps.${one}.output) && ${value})`,
    `(steps.${one}.status != 'completed' || ${value})`,
    `(has(steps.${one}.output.state) ? ${value} : input.a)`,
    `(!(steps.${one}.status in ['skipped', 'failed', 'pending']) && ${value})`,
  ][form] as string
})

const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 3, arbitrary: fc.constantFrom('input.a', 'input.b', '!input.a', '!input.b') },
    { weight: 2, arbitrary: fc.constantFrom('x', 'y', 'z').map((k) => `input.kind == '${k}'`) },
    { weight: 1, arbitrary: fc.constantFrom("input.kind in ['x', 'y']", "input.kind != 'z'") },
    { weight: 2, arbitrary: fc.tuple(key, status).map(([k, s]) => `steps.${k}.status == '${s}'`) },
    { weight: 1, arbitrary: key.map((k) => `has(steps.${k}.output)`) },
    { weight: 4, arbitrary: guardedRead },
    { weight: 1, arbitrary: read },
    {
      weight: 1,
      arbitrary: fc.tuple(key, key).map(([k, l]) => `firstOf(steps.${k}, steps.${l}).ok`),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('condition'), tie('condition')).map(([a, b]) => `(${a} && ${b})`),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('condition'), tie('condition')).map(([a, b]) => `(${a} || ${b})`),
    },
    { weight: 1, arbitrary: tie('condition').map((a) => `!(${a})`) },
  ),
}))

type Draft = { readonly [field: string]: Json }
const when = fc.option(condition, { nil: undefined, freq: 2 })
const draft = (fields: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> =>
  fc
    .tuple(fields, when)
    .map(([step, guard]) => ({ ...step, ...(guard !== undefined && { when: guard }) }))

const { list } = fc.letrec<{ list: Draft[]; step: Draft }>((tie) => ({
  list: fc.array(tie('step'), { minLength: 1, maxLength: 4 }),
  step: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 5, arbitrary: draft(fc.constant({ tool: 'look' })) },
    {
      weight: 2,
      arbitrary: draft(fc.constant({ tool: 'look', required: false, onError: 'continue' })),
    },
    {
      weight: 2,
      arbitrary: draft(fc.constant({ tool: 'look', expect: 'output.ok', onError: 'declined' })),
    },
    { weight: 2, arbitrary: draft(fc.constant({ tool: 'pay' })) },
    { weight: 2, arbitrary: draft(condition.map((ok) => ({ compute: { ok, state: "'open'" } }))) },
    {
      weight: 2,
      arbitrary: draft(condition.map((one) => ({ require: [{ text: 'R', when: one }] }))),
    },
    { weight: 1, arbitrary: draft(fc.constant({ end: 'resolved' })) },
    { weight: 1, arbitrary: draft(tie('list').map((steps) => ({ steps }))) },
    {
      weight: 1,
      arbitrary: draft(
        fc.tuple(condition, tie('list')).map(([one, steps]) => ({
          require: [{ text: 'R', when: one }],
          otherwise: [...steps, { end: 'declined' }],
        })),
      ),
    },
    {
      weight: 3,
      arbitrary: draft(
        fc
          .tuple(
            fc.array(fc.tuple(condition, tie('list')), { minLength: 1, maxLength: 3 }),
            fc.oneof(fc.constantFrom<Json>('continue', 'escalated'), tie('list')),
          )
          .map(([choices, otherwise]) => ({
            choose: choices.map(([one, steps], n) => ({ text: `C${n}`, when: one, steps })),
            otherwise,
          })),
      ),
    },
  ),
}))

const definition = fc
  .tuple(
    list,
    fc.array(condition, { maxLength: 2 }),
    fc.array(condition, { maxLength: 2 }),
    fc.option(condition, { nil: undefined }),
  )
  .map(([steps, rules, completion, result]): unknown => {
    let count = 0
    const named = (value: Json, isStep: boolean): Json => {
      if (Array.isArray(value)) return value.map((one: Json) => named(one, isStep))
      if (typeof value !== 'object' || value === null) return value
      const own = isStep ? { key: `s${count++}`, action: 'Do it' } : {}
      const members = Object.entries(value).map(([field, member]) => {
        const isTree = ['steps', 'otherwise', 'choose'].includes(field)
        return [field, isTree ? named(member, field !== 'choose') : member]
      })
      return { ...own, ...Object.fromEntries(members) }
    }
    return {
      key: 'RANDOM_PLAYBOOK',
      name: 'Random',
      description: 'Made by chance',
      internal: true,
      input,
      steps: named(steps, true),
      escalationRules: rules.map((one) => ({ text: 'R', when: one })),
      completionConditions: completion.map((one) => ({ text: 'C', when: one })),
      ...(result !== undefined && { output: { result } }),
    }
  })

/** What the outside does in a run. */
interface Outside {
  readonly a: boolean
  readonly b: boolean
  readonly kind: string
  /** For each step: what its tool answers, or that it fails. */
  readonly given: readonly ({ readonly state: string; readonly ok: boolean } | null)[]
}

const answers: fc.Arbitrary<Outside> = fc.record({
  a: fc.boolean(),
  b: fc.boolean(),
  kind: fc.constantFrom('x', 'y', 'z'),
  given: fc.array(
    fc.option(fc.record({ state: fc.constantFrom('open', 'closed'), ok: fc.boolean() }), {
      freq: 4,
    }),
    { minLength: 20, maxLength: 20 },
  ),
})

function run(checked: Definition, { a, b, kind, given }: Outside): Walked {
  return walk(planOf(checked, contracts), startOf({ a, b, kind }), (_call, row) => {
    const answer = given[Number(row.stepKey.slice(1)) % given.length]
    if (answer != null) return { output: answer }
    return { result: 'failed', code: 'tool_failed', message: 'not now', endedAt: 0 } as never
  })
}

/** What no run of a playbook without errors may end for. */
const disproved = ['expression_failed', 'template_unresolved', 'tool_order']
const texts = ['unguarded-step', 'later-step']

test('a playbook without errors never fails for what the checks are there to rule out', () => {
  let sound = 0
  fc.assert(
    fc.property(definition, fc.array(answers, { minLength: 6, maxLength: 6 }), (document, many) => {
      const parsed = parseDefinition(document)
      if ('problems' in parsed) return
      const findings = checkDefinition(parsed.definition, findContract)
      if (findings.some(({ severity }) => severity === 'error')) return
      sound += 1
      for (const one of many) {
        const { end } = run(parsed.definition, one)
        expect(disproved, JSON.stringify(end.reason)).not.toContain(end.reason?.code)
      }
    }),
    { numRuns: 1_500 },
  )
  // Enough of them are sound, or this would prove nothing.
  expect(sound).toBeGreaterThan(10)
})

test('what is told to be never reached, or never to hold, never is', () => {
  fc.assert(
    fc.property(definition, fc.array(answers, { minLength: 6, maxLength: 6 }), (document, many) => {
      const parsed = parseDefinition(document)
      if ('problems' in parsed) return
      const findings = checkDefinition(parsed.definition, findContract)
      const claims = findings.filter(({ rule }) => /^(?:unreachable|never-holds|rule)-?/.test(rule))
      if (claims.length === 0 || findings.some(({ rule }) => texts.includes(rule))) return
      for (const one of many) {
        const walked = run(parsed.definition, one)
        for (const claim of claims) expect(breaks(parsed.definition, walked, claim)).toBe(false)
      }
    }),
    { numRuns: 1_500 },
  )
})

/** Whether a run did what a finding says that none does. */
function breaks(checked: Definition, { rows, end }: Walked, { rule, path }: Finding): boolean {
  const links = path.split(/[.[\]]+/).filter((link) => link !== '')
  if (links[0] === 'escalationRules') {
    // Of a run that was escalated the record does not tell whether a rule was tested.
    const ofRules = end.conditions.filter(({ kind }) => kind === 'rule')
    const { verdict } = ofRules[Number(links[1])] ?? {}
    const isEscalated = end.status === 'escalated'
    return (
      verdict === 'matched' || (rule === 'rule-never-due' && verdict === 'clear' && !isEscalated)
    )
  }
  if (links[0] === 'completionConditions') {
    const { verdict } =
      end.conditions.filter(({ kind }) => kind === 'completion')[Number(links[1])] ?? {}
    return verdict === 'held'
  }
  let at: unknown = checked
  let step: { readonly key: string } | undefined
  let choice: string | undefined
  for (const link of links) {
    at = Object(at)[link]
    if (typeof Object(at).key === 'string') step = at as { readonly key: string }
    else if (typeof Object(at).text === 'string') choice = Object(at).text
  }
  const row = rows.find(({ stepKey }) => stepKey === step?.key)
  if (row === undefined) return false
  if (rule === 'unreachable-choice') return Object(row.output).chosen === choice
  if (rule === 'never-holds') return Object(row.output).met === true
  return rule === 'unreachable-step' && (links.at(-1) !== 'when' || row.status !== 'skipped')
}
