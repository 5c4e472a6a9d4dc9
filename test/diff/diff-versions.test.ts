import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/diff/change.ts'
import { diffDefinitions, diffVersions } from '../../src/diff/diff-versions.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import type { Scenario } from '../../src/domain/scenario.ts'
import { dressed, fullDocument } from '../support/definitions.ts'
import { contractOf } from '../support/walk.ts'

const step = (key: string, more: JsonObject = {}): JsonObject => ({
  key,
  action: `Do ${key}`,
  compute: { a: '1' },
  ...more,
})
const playbook = (more: JsonObject): JsonObject => ({
  key: 'SOME_PLAYBOOK',
  name: 'Some',
  description: 'Some procedure.',
  ...more,
})

function changesOf(before: JsonObject, after: JsonObject): readonly Change[] {
  return diffDefinitions(requireDefinition(before), requireDefinition(after))
}

function changesOfSteps(before: readonly JsonObject[], after: readonly JsonObject[]) {
  return changesOf(playbook({ steps: before }), playbook({ steps: after }))
}

/** Each change in short: `moved step b`, `changed step a retry.maxAttempts`. */
function shorts(changes: readonly Change[]): readonly string[] {
  return changes.map(({ kind, of, name, field }) =>
    [kind, of, name ?? '', field].filter((word) => word !== '').join(' '),
  )
}

describe('a diff of definitions', () => {
  it('is empty when they say the same in another order of keys, with defaults and sequence', () => {
    const document = fullDocument()

    expect(
      changesOf(
        document,
        dressed(document, () => true),
      ),
    ).toEqual([])
  })

  it('tells of a field with what was there and what is', () => {
    const base = playbook({ policy: { refundLimit: 500 }, steps: [step('a')] })

    expect(changesOf(base, { ...base, policy: { refundLimit: 300 } })).toEqual([
      {
        kind: 'changed',
        of: 'definition',
        name: null,
        field: 'policy.refundLimit',
        beforePath: 'policy.refundLimit',
        afterPath: 'policy.refundLimit',
        before: 500,
        after: 300,
      },
    ])
  })

  it('tells of texts in lists one by one, and of their order', () => {
    const base = playbook({ issuePatterns: ['a a', 'b b', 'c c'], steps: [step('a')] })
    const less = changesOf(base, { ...base, issuePatterns: ['a a', 'c c', 'd d'] })
    const moved = changesOf(base, { ...base, issuePatterns: ['c c', 'a a', 'b b'] })

    expect(less).toMatchObject([
      { kind: 'removed', beforePath: 'issuePatterns[1]', afterPath: null, before: 'b b' },
      { kind: 'added', beforePath: null, afterPath: 'issuePatterns[2]', after: 'd d' },
    ])
    expect(moved).toMatchObject([
      { kind: 'moved', beforePath: 'issuePatterns[2]', afterPath: 'issuePatterns[0]' },
    ])
  })

  it('knows conditions by their text, or else by what they test', () => {
    const rule = (text: string, when: string) => ({ text, when })
    const base = playbook({
      escalationRules: [rule('One', 'true'), rule('Two', '1 == 1'), rule('Three', '2 == 2')],
      steps: [step('a')],
    })
    const after = {
      ...base,
      escalationRules: [rule('Three', '2 == 2'), rule('One', 'false'), rule('Zwei', '1 == 1')],
    }

    expect(shorts(changesOf(base, after))).toEqual([
      'moved definition escalationRules[0]',
      'changed definition escalationRules[1].when',
      'changed definition escalationRules[2].text',
    ])
  })

  it('tells of what an input demands', () => {
    const input = (pattern: string, required: string[]) => ({
      type: 'object',
      required,
      properties: { id: { type: 'string', pattern }, name: { type: 'string' } },
    })
    const base = playbook({ input: input('^A$', ['id']), steps: [step('a')] })

    const found = changesOf(base, { ...base, input: input('^B$', ['id', 'name']) })

    expect(shorts(found)).toEqual([
      'changed definition input.properties.id.pattern',
      'added definition input.required[1]',
    ])
  })
})

describe('a diff of steps', () => {
  it('tells of a step that is added or removed, with what it says', () => {
    const found = changesOfSteps(
      [step('a'), step('b'), step('c')],
      [step('a'), step('d', { compute: { x: '2' } }), step('c')],
    )

    expect(found).toEqual([
      {
        kind: 'added',
        of: 'step',
        name: 'd',
        field: '',
        beforePath: null,
        afterPath: 'steps[1]',
        after: { key: 'd', action: 'Do d', compute: { x: '2' } },
        afterPlace: { step: null, branch: null, position: 2 },
      },
      expect.objectContaining({
        kind: 'removed',
        name: 'b',
        beforePath: 'steps[1]',
        afterPath: null,
        beforePlace: { step: null, branch: null, position: 2 },
      }),
    ])
  })

  it('tells of the fewest moves that explain an order', () => {
    const found = changesOfSteps(
      [step('a'), step('b'), step('c'), step('d')],
      [step('d'), step('a'), step('b'), step('c')],
    )

    expect(found).toMatchObject([
      {
        kind: 'moved',
        name: 'd',
        beforePath: 'steps[3]',
        afterPath: 'steps[0]',
        beforePlace: { position: 4 },
        afterPlace: { position: 1 },
      },
    ])
  })

  it('tells of a step that moved into a branch, and of nothing else', () => {
    const choose = (...steps: JsonObject[]): JsonObject => ({
      key: 'choice',
      action: 'Choose',
      choose: [{ text: 'Yes', when: 'true', steps }],
    })

    const found = changesOfSteps([step('a'), choose(step('b'))], [choose(step('b'), step('a'))])

    expect(found).toEqual([
      {
        kind: 'moved',
        of: 'step',
        name: 'a',
        field: '',
        beforePath: 'steps[0]',
        afterPath: 'steps[0].choose[0].steps[1]',
        beforePlace: { step: null, branch: null, position: 1 },
        afterPlace: { step: 'choice', branch: 'Yes', position: 2 },
      },
    ])
  })

  it('tells of a new step around others as added, and of those as moved', () => {
    const block: JsonObject = { key: 'block', action: 'Both', steps: [step('a'), step('b')] }

    expect(shorts(changesOfSteps([step('a'), step('b')], [block]))).toEqual([
      'added step block',
      'moved step a',
      'moved step b',
    ])
  })

  it('takes a step for renamed when all else is the same, and says what follows from it', () => {
    const reads = (key: string) =>
      step('r', { compute: { a: `steps.${key}.output.a` }, when: `has(steps.${key}.output)` })

    const found = changesOfSteps(
      [step('old'), reads('old')],
      [step('new', { action: 'Do old' }), reads('new')],
    )

    expect(found).toMatchObject([
      { kind: 'renamed', of: 'step', name: 'new', before: 'old', after: 'new' },
      { kind: 'changed', name: 'r', field: 'when', follows: true },
      { kind: 'changed', name: 'r', field: 'compute.a', follows: true },
    ])
    expect(found).toHaveLength(3)
  })

  it('takes no step for renamed that has another tool, or another action and another field', () => {
    const tool = (key: string, more: JsonObject): JsonObject => ({
      key,
      action: 'Look',
      tool: 'look',
      ...more,
    })

    expect(shorts(changesOfSteps([tool('a', {})], [tool('b', { tool: 'see' })]))).toEqual([
      'added step b',
      'removed step a',
    ])
    expect(
      shorts(changesOfSteps([tool('a', {})], [tool('b', { action: 'See', timeout: '5s' })])),
    ).toEqual(['added step b', 'removed step a'])
    expect(shorts(changesOfSteps([tool('a', {})], [tool('b', { timeout: '5s' })]))).toEqual([
      'renamed step b',
      'added step b timeout',
    ])
  })

  it('tells of branches: added, removed, moved, and of what their conditions are', () => {
    const branch = (text: string, when: string, key: string) => ({ text, when, steps: [step(key)] })
    const choose = (...choices: JsonObject[]): JsonObject => ({
      key: 'choice',
      action: 'Choose',
      choose: choices,
    })
    const [one, two, three] = [
      branch('One', '1 == 1', 'a'),
      branch('Two', '2 == 2', 'b'),
      branch('Three', '3 == 3', 'c'),
    ]

    const found = changesOfSteps(
      [choose(one, two)],
      [choose({ ...two, when: '2 == 3' }, one, three)],
    )
    const renamed = changesOfSteps([choose(one)], [choose({ ...one, text: 'Eins', when: 'true' })])

    expect(shorts(found)).toEqual([
      'moved step choice choose[0]',
      'changed step choice choose[0].when',
      'added step choice choose[2]',
      'added step c',
    ])
    expect(shorts(renamed)).toEqual([
      'changed step choice choose[0].text',
      'changed step choice choose[0].when',
    ])
  })

  it('tells of a step that is of another kind now', () => {
    const found = changesOfSteps([step('a')], [{ key: 'a', action: 'Do a', tool: 'look' }])

    expect(shorts(found)).toEqual(['added step a tool', 'removed step a compute'])
  })

  it('tells of an otherwise that is a word now, and of the steps that it was', () => {
    const require = (otherwise: JsonObject): JsonObject => ({
      key: 'r',
      action: 'Require',
      require: [{ text: 'x', when: 'true' }],
      ...otherwise,
    })
    const end = { key: 'e', action: 'End', end: 'declined' }

    expect(
      shorts(changesOfSteps([require({ otherwise: [end] })], [require({ otherwise: 'declined' })])),
    ).toEqual(['added step r otherwise', 'removed step e'])
  })
})

describe('a diff of versions', () => {
  const definition = requireDefinition(playbook({ steps: [step('old')] }))
  const renamed = requireDefinition(playbook({ steps: [step('new', { action: 'Do old' })] }))
  const scenario = (name: string, key: string, end: 'resolved' | 'declined'): Scenario => ({
    name,
    steps: { [key]: { output: { a: 1 } } },
    expect: { end, path: [key] },
  })

  it('tells of scenarios by their names, and of one with a new name by all else', () => {
    const [one, two] = [scenario('one', 'old', 'resolved'), scenario('two', 'old', 'declined')]

    const found = diffVersions(
      { definition, scenarios: [one, two] },
      { definition, scenarios: [{ ...two, name: 'zwei' }, scenario('one', 'old', 'declined')] },
    )

    expect(shorts(found)).toEqual([
      'renamed scenario zwei',
      'moved scenario zwei',
      'changed scenario one expect.end',
    ])
  })

  it('lets scenarios follow the new key of a step', () => {
    const found = diffVersions(
      { definition, scenarios: [scenario('one', 'old', 'resolved')] },
      { definition: renamed, scenarios: [scenario('one', 'new', 'resolved')] },
    )

    expect(found).toMatchObject([
      { kind: 'renamed', of: 'step' },
      { kind: 'renamed', of: 'scenario', field: 'steps.new', follows: true },
      { kind: 'changed', of: 'scenario', field: 'expect.path[0]', follows: true },
    ])
    expect(found).toHaveLength(3)
  })

  it('tells which part of a pinned contract is another one', () => {
    const look = contractOf('look', { effect: 'read' })
    const versions = (contracts: ReadonlyMap<string, typeof look>) => ({
      definition,
      scenarios: [],
      contracts,
    })

    const found = diffVersions(
      versions(new Map([['look', look]])),
      versions(
        new Map([
          ['look', { ...look, effect: 'write', states: ['done'] }],
          ['see', contractOf('see', { effect: 'read' })],
        ]),
      ),
    )

    expect(shorts(found)).toEqual([
      'changed tool look effect',
      'added tool look states[0]',
      'added tool see',
    ])
    expect(diffVersions({ definition, scenarios: [] }, versions(new Map()))).toEqual([])
  })
})
