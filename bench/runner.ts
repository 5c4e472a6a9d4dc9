/**
 * Processor time that the runner itself takes for an execution of six reads: no database, a journal that does nothing.
 * See docs/performance.md.
 *
 *   npm run bench:runner
 */
import { newId } from '../src/domain/ids.ts'
import { requireDefinition } from '../src/domain/parse-definition.ts'
import type { Principal } from '../src/domain/principal.ts'
import { createToolRegistry } from '../src/domain/tool-registry.ts'
import { initialState } from '../src/executor/apply.ts'
import { compilePlan } from '../src/executor/plan.ts'
import type { RunnerPorts } from '../src/executor/ports.ts'
import { runExecution } from '../src/executor/runner.ts'
import { accountStanding } from './executor/playbook.ts'

const rounds = 15
const executionsPerRound = 2_000
const durabilities = ['step', 'effect'] as const

const { tool, definition, inputOf } = accountStanding
const { contract, contractHash } = tool
const plan = compilePlan(
  requireDefinition(definition),
  new Map([[contract.name, { contract, contractHash }]]),
)
const committed = { flags: { cancelRequested: false, pauseRequested: false }, isLeft: false }
const ports: RunnerPorts = {
  journal: { commit: async () => committed },
  tools: createToolRegistry([tool]),
  clock: { now: () => Date.now() },
}
const requester: Principal = {
  id: 'bench',
  kind: 'service',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
}

async function runOne(durability: (typeof durabilities)[number], index: number): Promise<void> {
  const now = ports.clock.now()
  const start = {
    executionId: newId('execution', now),
    tenantId: 'default',
    requester,
    startedAt: now,
    input: inputOf(index),
    ticket: null,
  }
  const claim = { tenantId: 'default', executionId: start.executionId, fence: 1 }
  const { end } = await runExecution(ports, plan, initialState(plan, start), claim, durability)
  // An execution that ends early would look fast.
  if (end?.outcome !== 'resolved') throw new Error(`an execution ended as ${end?.status}`)
}

/** Microseconds of processor time per execution. */
async function measure(durability: (typeof durabilities)[number]): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < executionsPerRound; index++) await runOne(durability, index)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / executionsPerRound
}

const samples = new Map(durabilities.map((durability) => [durability, [] as number[]]))
for (let round = -2; round < rounds; round++) {
  for (const [durability, taken] of samples) {
    const micros = await measure(durability)
    // The first rounds are the warm-up.
    if (round >= 0) taken.push(micros)
  }
}
for (const [durability, taken] of samples) {
  const sorted = taken.sort((a, b) => a - b)
  const [least = 0, median = 0] = [sorted[0], sorted[sorted.length >> 1]]
  console.log(
    `${durability.padEnd(8)} ${median.toFixed(0)} µs of processor time per execution (least ${least.toFixed(0)})`,
  )
}
