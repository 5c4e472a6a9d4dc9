import type { ReasonCode } from '../domain/escalation.ts'
import type { Json } from '../domain/json.ts'
import type { Problem } from '../domain/problem.ts'
import type { End, Scenario } from '../domain/scenario.ts'
import type { Plan } from '../executor/plan.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { findMisfits } from './fit-scenario.ts'
import { type Difference, endOf, findDifferences, pathOf } from './judge-scenario.ts'
import { startOfScenario } from './scenario-start.ts'
import { createScenarioWorld } from './scenario-world.ts'
import { maxDecisions, type SimulatedRun, type Stop, simulate } from './simulate.ts'

/** What came of one scenario. */
export interface ScenarioResult {
  readonly name: string
  /** True when it fits the playbook, came to its end, and is in everything as it expects. */
  readonly ok: boolean
  /** What of it does not fit the playbook, by paths within the scenario; it is not run then. */
  readonly problems: readonly Problem[]
  readonly differences: readonly Difference[]
  /** Why it has no end; null for one that has, and for one that was not run. */
  readonly stop: Stop | null
  readonly end: End | null
  readonly reason: ReasonCode | null
  /** The text of the condition or rule that decided. */
  readonly text: string | null
  readonly path: readonly string[]
  readonly result: Json
}

export interface SimulationReport {
  /** True when every scenario is ok; also when there is none. */
  readonly ok: boolean
  readonly scenarios: readonly ScenarioResult[]
  readonly coverage: Coverage
}

/** Of all scenarios together: some seconds of a process, at most. */
const maxDecisionsTogether = 100_000

/** Runs scenarios of a playbook one by one, and says what they reach of it together. Nothing is called or written. */
export function runScenarios(plan: Plan, scenarios: readonly Scenario[]): SimulationReport {
  const runs: SimulatedRun[] = []
  let left = maxDecisionsTogether
  const results = scenarios.map((scenario): ScenarioResult => {
    const problems = findMisfits(plan, scenario)
    if (problems.length > 0) return { ...notRun, name: scenario.name, problems }
    const run = runScenario(plan, scenario, Math.min(left, maxDecisions))
    left = Math.max(0, left - run.rows.length)
    runs.push(run)
    return resultOf(scenario, run)
  })
  return {
    ok: results.every(({ ok }) => ok),
    scenarios: results,
    coverage: coverageOf(plan, runs),
  }
}

/** The run of one scenario that fits the playbook. */
export function runScenario(plan: Plan, scenario: Scenario, limit?: number): SimulatedRun {
  return simulate(plan, startOfScenario(plan, scenario), createScenarioWorld(scenario), limit)
}

const notRun: Omit<ScenarioResult, 'name' | 'problems'> = {
  ok: false,
  differences: [],
  stop: null,
  end: null,
  reason: null,
  text: null,
  path: [],
  result: null,
}

function resultOf(scenario: Scenario, run: SimulatedRun): ScenarioResult {
  const { rows, end, stop } = run
  const differences = findDifferences(scenario, run)
  return {
    name: scenario.name,
    // One that stopped has no end, and every scenario expects one.
    ok: differences.length === 0,
    problems: [],
    differences,
    stop,
    end: endOf(run),
    reason: end?.reason?.code ?? null,
    text: end?.reason?.text ?? null,
    path: pathOf(rows),
    result: end?.result ?? null,
  }
}
