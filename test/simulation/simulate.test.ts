import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { ExecutionStart } from '../../src/domain/execution.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { parseScenarioFile, parseScenarios } from '../../src/domain/parse-scenarios.ts'
import type { Observation, Scenario } from '../../src/domain/scenario.ts'
import type { Plan } from '../../src/executor/plan.ts'
import { replay } from '../../src/executor/replay.ts'
import { concludeAsk } from '../../src/executor/waits.ts'
import { runScenario, runScenarios } from '../../src/simulation/run-scenarios.ts'
import { startOfScenario } from '../../src/simulation/scenario-start.ts'
import { type SimulatedRun, simulate } from '../../src/simulation/simulate.ts'
import { findSimulationPlan } from '../../src/simulation/simulation-plan.ts'
import type { World } from '../../src/simulation/world.ts'
import { seedDefinitions } from '../support/app.ts'
import { deskRegistry } from '../support/desk.ts'
import { generatedRun, generatedTools } from '../support/generate-run.ts'
import { contractOf, definitionOf, planOf, startOf } from '../support/walk.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) =>
  readDocument(readFileSync(new URL(path, root), 'utf8'), { name: path }).value

function deskPlan(definition: Definition): Plan {
  const plan = findSimulationPlan(definition, (name) => deskRegistry.find(name))
  if (plan === undefined) throw new Error('it cannot be compiled')
  return plan
}

function scenariosIn(document: unknown): readonly Scenario[] {
  const parsed = parseScenarioFile(document)
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return parsed.scenarios
}

/** A scenario with these parts, as it comes out of a file. */
function scenarioOf(parts: Record<string, unknown>): Scenario {
  const parsed = parseScenarios([{ name: 'a', expect: { end: 'resolved' }, ...parts }])
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  const [scenario] = parsed.scenarios
  if (scenario === undefined) throw new Error('there is none')
  return scenario
}

function expectReplays(plan: Plan, start: ExecutionStart, run: SimulatedRun): void {
  const { agrees, divergence } = replay(plan, { start, rows: run.rows, end: run.end })
  expect({ agrees, divergence }).toEqual({ agrees: true, divergence: null })
}

const seedFiles = readdirSync(new URL('seeds/scenarios/', root))

describe.each(seedFiles)('the scenarios of seeds/scenarios/%s', (file) => {
  const scenarios = scenariosIn(read(`seeds/scenarios/${file}`))
  const plan = deskPlan(requireDefinition(read(`seeds/procedures/${file}`)))

  it('are as expected, and reach every step and branch', () => {
    const { scenarios: results, coverage } = runScenarios(plan, scenarios)

    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect(coverage.unreached).toEqual({ steps: [], branches: [] })
    expect(coverage.steps).toEqual({ total: plan.nodes.size, reached: plan.nodes.size })
  })

  it('replay as finished runs do', () => {
    for (const scenario of scenarios) {
      expectReplays(plan, startOfScenario(plan, scenario), runScenario(plan, scenario))
    }
  })
})

it('the demo has scenarios of each of its playbooks', () => {
  const keys = seedFiles.map((file) => Object(read(`seeds/scenarios/${file}`)).procedure)

  expect(keys.sort()).toEqual([...seedDefinitions().keys()].sort())
})

describe('the examples of docs/scenarios.md', () => {
  const page = readFileSync(new URL('docs/scenarios.md', root), 'utf8')
  const documents = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) =>
    Object(readDocument(text, { name: 'docs/scenarios.md' }).value),
  )
  const definitions = new Map([
    ...seedDefinitions(),
    ...documents.flatMap((one) => (one.key === undefined ? [] : [[one.key, one] as const])),
  ])

  it.each(documents.filter((one) => one.procedure !== undefined))(
    'run as the page says: $procedure',
    (document) => {
      const plan = deskPlan(requireDefinition(definitions.get(document.procedure)))

      const { scenarios } = runScenarios(plan, scenariosIn(document))

      expect(scenarios.filter(({ ok }) => !ok)).toEqual([])
      expect(scenarios.length).toBeGreaterThan(0)
    },
  )
})

test('the whole example of docs/language.md runs to its end', () => {
  const page = readFileSync(new URL('docs/language.md', root), 'utf8')
  const text = /```yaml complete\n(.*?)```/s.exec(page)?.[1] ?? ''
  const refund = (state: string) => ({ output: { state, etaBusinessDays: 2 } })
  const scenario = {
    name: 'It arrives',
    input: { transactionId: 'TXN-A-001', others: ['TXN-A-002', 'TXN-A-003'] },
    steps: {
      how_much: { answer: { amount: 250 } },
      approve: { says: 'approved' },
      'look_up[0]': refund('processing'),
      'look_up[1]': { fails: 'refused' },
      submitted: [refund('submitted'), refund('processing')],
      look_again: [refund('processing'), refund('refunded')],
      tell: { output: { notified: true, message: 'sent' } },
    },
    expect: {
      end: 'resolved',
      sent: {
        tell: {
          message: 'Your refund has arrived. A credit of 250 USD follows, and 1 more refunds.',
        },
      },
    },
  }

  const plan = deskPlan(requireDefinition(readDocument(text, { name: 'docs/language.md' }).value))
  const { scenarios } = runScenarios(
    plan,
    scenariosIn({ procedure: 'CREDIT_FOR_DELAY', scenarios: [scenario] }),
  )

  expect(scenarios).toMatchObject([{ ok: true, differences: [], stop: null, problems: [] }])
})

describe('a simulated run', () => {
  it('replays, whatever its playbook and its world', () => {
    fc.assert(
      fc.property(generatedRun, ({ definition, input, answer, reply }) => {
        const plan = planOf(definition, generatedTools)
        const start = startOf(input)
        const world: World = {
          call: (row, call, at) => {
            const answered = answer(call, row)
            return 'result' in answered
              ? { ...answered, endedAt: at + 7 }
              : { result: 'done', output: answered.output as never, endedAt: at + 7 }
          },
          wait: (row, _node, { state }) => {
            const at = Math.max(row.startedAt, state.lastEndedAt) + row.ordinal * 500_000
            const replied = reply({ ...state, waiting: [row] } as never, at)
            return replied === undefined ? { kind: 'nothing' } : { kind: 'said', at, row: replied }
          },
        }

        const run = simulate(plan, start, world)

        expect(run.stop).toBeNull()
        expectReplays(plan, start, run)
      }),
      { numRuns: 500 },
    )
  })

  it('replays for any results of the demo’s playbooks', () => {
    const seeds = [...seedDefinitions().values()].map((document) =>
      deskPlan(requireDefinition(document)),
    )
    const result: fc.Arbitrary<Observation> = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          output: fc.constantFrom<never>(...(seedOutputs() as never[])),
          after: fc.constantFrom('0s', '2s', '3h'),
        }),
      },
      fc.record({
        fails: fc.constantFrom('refused', 'failed', 'timeout', 'unknown', 'invalid'),
      }),
    )
    const results = fc.dictionary(
      fc.constantFrom(...seeds.flatMap((plan) => [...plan.tools.keys()])),
      fc.oneof(result, fc.array(result, { maxLength: 4 })),
    )
    fc.assert(
      fc.property(fc.constantFrom(...seeds), results, (plan, tools) => {
        const scenario: Scenario = {
          name: 'any',
          input: { transactionId: 'TXN-A-001' },
          tools,
          expect: { end: 'resolved' },
        }

        const run = runScenario(plan, scenario)

        expectReplays(plan, startOfScenario(plan, scenario), run)
        expect(run.end === null).toBe(run.stop !== null)
      }),
      { numRuns: 500 },
    )
  })

  it('is the same each time, and leaves plan and scenario as they were', () => {
    const [file = ''] = seedFiles
    const [scenario] = scenariosIn(read(`seeds/scenarios/${file}`))
    const plan = deskPlan(requireDefinition(read(`seeds/procedures/${file}`)))
    if (scenario === undefined) throw new Error('there is a first one')
    const before = JSON.stringify(scenario)

    expect(runScenario(plan, scenario)).toEqual(runScenario(plan, scenario))
    expect(JSON.stringify(scenario)).toBe(before)
  })
})

/** Outputs that fit one or the other tool of the desk; the rest is what a tool outside its contract would answer. */
function seedOutputs(): readonly unknown[] {
  const states = ['none', 'processing', 'refunded', 'failed']
  return [
    ...['failed', 'captured', 'captured_twice', 'unknown'].map((state) => ({
      ...{ state, amount: '29.00 USD', amountValue: 29, currency: 'USD', orderCreated: true },
      ...{ result: 'captured', reference: null, etaBusinessDays: 2, issued: true, reason: null },
      ...{ notified: true, message: 'sent' },
    })),
    ...states.map((state) => ({ state, etaBusinessDays: null, result: 'unavailable' })),
    null,
  ]
}

const look = contractOf('look')
const put = contractOf('put', { effect: 'write', idempotent: false })
const limited = contractOf('limited', {
  effect: 'write',
  limits: [{ per: 'customer', every: 'day', atMost: 1 }],
})

function run(steps: Definition['steps'], parts: Record<string, unknown>) {
  const plan = planOf(definitionOf({ steps }), [look, put, limited])
  const scenario = scenarioOf(parts)
  const simulated = runScenario(plan, scenario)
  expectReplays(plan, startOfScenario(plan, scenario), simulated)
  return simulated
}

const lookStep = { key: 'look', action: 'Look', tool: 'look' } as const
const askStep = { key: 'ask', action: 'Ask', ask: 'agent', message: '?', answer: {} } as const
const approveStep = { key: 'yes', action: 'Ok', approval: 'approver', show: 1 } as const

describe('a scenario', () => {
  it('stops where nobody says what comes, and names the step and the attempt', () => {
    const steps = [{ ...lookStep, retry: { maxAttempts: 3 } }]

    const { stop, end, rows } = run(steps, { steps: { look: [{ fails: 'timeout' }] } })

    expect(end).toBeNull()
    expect(rows).toHaveLength(1)
    expect(stop).toMatchObject({ kind: 'missing', stepKey: 'look', iteration: '' })
    expect(stop?.message).toBe(
      "Nothing says what comes to 'look', attempt 2. It needs the output of look, or fails.",
    )
  })

  it('gives the entries of a list to attempts and rounds in turn', () => {
    const steps = [{ ...lookStep, forEach: '[1, 2]', retry: { maxAttempts: 2 } }]

    const { rows, end } = run(steps, {
      steps: { look: [{ fails: 'failed' }, { output: 'a' }, { output: 'b' }] },
    })

    expect(end?.result).toEqual(['a', 'b'])
    expect(rows.map(({ attempt }) => attempt)).toEqual([0, 2, 1])
  })

  it('prefers what is said of a round, then of a step, then of its tool', () => {
    const steps = [
      { ...lookStep, forEach: '[1, 2]' },
      { ...lookStep, key: 'again' },
    ]

    const { rows } = run(steps, {
      steps: { 'look[1]': { output: 'round' }, look: { output: 'step' } },
      tools: { look: { output: 'tool' } },
    })

    expect(rows.slice(1).map(({ output }) => output)).toEqual(['step', 'round', 'tool'])
  })

  it.each([
    ['refused', 'tool_failed'],
    ['failed', 'tool_failed'],
    ['timeout', 'outcome_unknown'],
    ['unknown', 'outcome_unknown'],
    ['invalid', 'output_invalid'],
  ])('lets a write fail as %s, which ends as %s', (fails, code) => {
    const { end } = run([{ ...lookStep, tool: 'put' }], { steps: { look: { fails } } })

    expect(end?.reason?.code).toBe(code)
  })

  it('takes the time that its calls and pauses take', () => {
    const retry = { maxAttempts: 2, delay: '10s' }
    const steps = [
      { ...lookStep, retry, timeout: '5s' },
      { ...lookStep, key: 'again' },
    ]

    const { rows } = run(steps, {
      steps: { look: [{ fails: 'timeout' }, { output: 1, after: '2s' }] },
      tools: { look: { output: 1, after: '3s' } },
    })

    const [start = 0] = rows.map(({ startedAt }) => startedAt)
    expect(rows.map(({ endedAt }) => ((endedAt ?? 0) - start) / 1_000)).toEqual([17, 20])
  })

  it('waits for no result longer than the step does', () => {
    const { rows, end } = run([{ ...lookStep, timeout: '5s' }], {
      steps: { look: { output: 1, after: '6s' } },
    })

    expect(end?.reason?.code).toBe('tool_timeout')
    expect((rows[0]?.endedAt ?? 0) - (rows[0]?.startedAt ?? 0)).toBe(5_000)
  })

  it('is told of limits, and counts none', () => {
    const steps = [{ ...lookStep, tool: 'limited', onError: 'continue' } as const]
    const [customerId, full, free] = ['c-1', { fails: 'limited' }, { output: 1 }]

    const beyond = run(steps, { customerId, steps: { look: full } })
    const nobody = run(steps, { steps: { look: free } })
    const within = run(steps, { customerId, steps: { look: free } })

    expect(beyond.end?.reason?.code).toBe('limit_exceeded')
    expect(nobody.end?.reason?.code).toBe('limit_exceeded')
    expect(within.end?.outcome).toBe('resolved')
  })

  it('jumps over a wait, and to an answer after it', () => {
    const steps = [{ key: 'rest', action: 'Rest', wait: { for: '3 workdays' } }, askStep]

    const { rows } = run(steps, {
      startedAt: '2026-01-02T09:00:00Z',
      steps: { ask: { answer: 1, after: '2h' } },
    })

    expect(rows.map(({ endedAt }) => new Date(endedAt ?? 0).toISOString())).toEqual([
      '2026-01-07T09:00:00.000Z',
      '2026-01-07T11:00:00.000Z',
    ])
  })

  it('hears of several who are asked at once the first one first', () => {
    const steps = [{ ...askStep, forEach: '[1, 2]' }]

    const { rows } = run(steps, {
      steps: {
        ask: [
          { answer: 'late', after: '2h' },
          { answer: 'early', after: '1h' },
        ],
      },
    })

    expect(rows[0]?.output).toEqual(['late', 'early'])
    expect((rows[1]?.endedAt ?? 0) - (rows[2]?.endedAt ?? 0)).toBe(3_600_000)
  })

  it('lets a deadline pass where nobody speaks, and where somebody speaks too late', () => {
    const steps = [{ ...askStep, deadline: '1h', remind: '30m', onDeadline: 'declined' } as const]

    const silent = run(steps, { steps: { ask: { says: 'nothing' } } })
    const late = run(steps, { steps: { ask: { answer: 1, after: '1h' } } })

    expect(silent.end?.reason?.code).toBe('deadline_passed')
    expect(silent.rows[0]?.exchange?.map(({ kind }) => kind)).toEqual(['reminded'])
    expect(late.end?.reason?.code).toBe('deadline_passed')
  })

  it('lets a deadline pass over several approvals, some of which have some of their quorum', () => {
    const approval = { ...approveStep, quorum: 2, deadline: '2h', onDeadline: 'continue' } as const
    const nothing = { says: 'nothing' }
    const some = [{ says: 'approved', after: '1h' }, nothing]

    const { rows } = run([{ ...approval, forEach: '[1, 2, 3]' }, lookStep], {
      steps: { 'yes[0]': some, 'yes[1]': nothing, 'yes[2]': some, look: { output: 1 } },
    })

    expect(rows.slice(1, 4).map(({ status }) => status)).toEqual(Array(3).fill('expired'))
  })

  it('stops where it would wait for ever', () => {
    const { stop } = run([askStep], { steps: { ask: { says: 'nothing' } } })

    expect(stop).toMatchObject({ kind: 'endless', stepKey: 'ask' })
  })

  it('takes each yes of a quorum from another person', () => {
    const steps = [{ ...approveStep, quorum: 2 }]

    const anybody = run(steps, { steps: { yes: { says: 'approved' } } })
    const twice = run(steps, { steps: { yes: { says: 'approved', by: 'bea' } } })

    expect(anybody.end?.result).toEqual({ approvedBy: ['approver 1', 'approver 2'] })
    expect(twice.stop).toMatchObject({ kind: 'refused', stepKey: 'yes' })
  })

  it.each([
    ['the requester', { requester: 'bea', steps: { yes: { says: 'approved', by: 'bea' } } }],
    ['for whom it is', { onBehalfOf: 'bea', steps: { yes: { says: 'approved', by: 'bea' } } }],
    ['one of another role', { steps: { yes: { says: 'approved', roles: ['agent'] } } }],
  ])('takes no yes of %s', (_who, parts) => {
    expect(run([approveStep], parts).stop?.kind).toBe('refused')
  })

  it('takes no yes of somebody who has spoken at a step under notBy', () => {
    const steps = [askStep, { ...approveStep, notBy: ['ask'] }]

    const { stop } = run(steps, {
      steps: { ask: { answer: 1, by: 'bea' }, yes: { says: 'approved', by: 'bea' } },
    })

    expect(stop?.message).toMatch(/^bea cannot speak at 'yes': /)
  })

  it('takes no answer of somebody who is not asked', () => {
    const { stop } = run([{ ...askStep, ask: 'group:desk' }], {
      steps: { ask: { answer: 1, groups: ['other'] } },
    })

    expect(stop?.kind).toBe('refused')
  })

  it('confirms the writes of a guided run, unless it says no', () => {
    const steps = [{ ...lookStep, tool: 'put' }]

    const confirmed = run(steps, { mode: 'guided', steps: { look: { output: 1 } } })
    const denied = run(steps, { mode: 'guided', steps: { look: { says: 'denied' } } })

    expect(confirmed.end?.outcome).toBe('resolved')
    expect(confirmed.rows[0]?.exchange).toMatchObject([{ kind: 'approved' }])
    expect(denied.end?.reason?.code).toBe('approval_denied')
  })

  it.each([
    [{ outcome: 'declined', output: 7 }, { outcome: 'declined', output: 7 }, null],
    [{ outcome: 'escalated', message: 'no' }, null, 'child_escalated'],
  ])('takes %j for the end of a called run', (outcome, result, code) => {
    const steps = [{ key: 'call', action: 'Call', call: 'OTHER' }]

    const { end } = run(steps, { steps: { call: outcome } })

    expect(end?.result ?? null).toEqual(result)
    expect(end?.reason?.code ?? null).toBe(code)
  })

  it('reads its input from context and ticket, as a start does', () => {
    const plan = deskPlan(requireDefinition(seedDefinitions().get('REFUND_DELAY_PLAYBOOK')))

    const start = startOfScenario(plan, scenarioOf({ ticket: { text: 'Where is TXN-A-001?' } }))

    expect(start.input).toEqual({ transactionId: 'TXN-A-001' })
  })

  it('stops a run that is longer than anybody would read', () => {
    const plan = planOf(definitionOf({ steps: [{ ...lookStep, forEach: 'range(50)' }] }), [look])
    const scenario = scenarioOf({ steps: { look: { output: 1 } } })

    const { stop, end, rows } = runScenario(plan, scenario, 20)

    expect(end).toBeNull()
    expect(rows).toHaveLength(20)
    expect(stop).toMatchObject({ kind: 'too_long', stepKey: 'look', iteration: '18' })
    expect(runScenario(plan, scenario).end?.outcome).toBe('resolved')
  })
})

describe('what is said in a recorded run', () => {
  it('can come from any world', () => {
    const plan = planOf(definitionOf({ steps: [askStep] }))
    const by = { id: 'ann', kind: 'human' } as const

    const { end } = simulate(plan, startOf(), {
      call: () => undefined,
      wait: (row) => {
        const at = row.startedAt + 5
        return { kind: 'said', at, row: concludeAsk(row, { kind: 'answered', at, by }, 'yes') }
      },
    })

    expect(end?.result).toBe('yes')
  })
})
