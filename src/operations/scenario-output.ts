import { z } from 'zod'
import { hashOf } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import type { ReasonCode } from '../domain/escalation.ts'
import { parseScenarios } from '../domain/parse-scenarios.ts'
import { ends, type Scenario } from '../domain/scenario.ts'
import type { Difference } from '../simulation/judge-scenario.ts'
import type { SimulationReport } from '../simulation/run-scenarios.ts'
import type { Stop } from '../simulation/simulate.ts'
import { anyJson } from './shapes.ts'

/** A list of scenarios as it comes in; `requireScenarios` reads it. */
export const scenarioList = z
  .unknown()
  .describe('A list of scenarios, as under `scenarios` in a scenario file')

const problem = z.object({ path: z.string(), message: z.string() })

const place = z.object({ step: z.string().nullable(), branch: z.string() })

const count = z.object({ total: z.int(), reached: z.int() })

/** `SimulationReport` of src/simulation/run-scenarios.ts. */
export const simulationReport = z.object({
  ok: z.boolean().describe('True when every scenario is as expected'),
  scenarios: z.array(
    z.object({
      name: z.string(),
      ok: z.boolean(),
      problems: z.array(problem).describe('What of it does not fit the playbook; it was not run'),
      differences: z
        .array(z.custom<Difference>().meta({ type: 'object' }))
        .describe('In what it is not as expected'),
      stop: z
        .custom<Stop | null>()
        .meta({ type: ['object', 'null'] })
        .describe('Why it came to no end'),
      end: z.enum(ends).nullable(),
      reason: z.custom<ReasonCode | null>().meta({ type: ['string', 'null'] }),
      text: z.string().nullable(),
      path: z.array(z.string()).describe('The steps that ran, in order'),
      result: anyJson,
    }),
  ),
  coverage: z.object({
    steps: count,
    branches: count,
    unreached: z.object({ steps: z.array(z.string()), branches: z.array(place) }),
  }),
})

/** The same report as plain lists, which is what goes out. */
export function toReportOutput(report: SimulationReport): z.infer<typeof simulationReport> {
  const { steps, branches, unreached } = report.coverage
  return {
    ok: report.ok,
    scenarios: report.scenarios.map((one) => ({
      ...one,
      problems: [...one.problems],
      differences: [...one.differences],
      path: [...one.path],
    })),
    coverage: {
      steps,
      branches,
      unreached: { steps: [...unreached.steps], branches: [...unreached.branches] },
    },
  }
}

/** @throws ServiceError `SCENARIOS_INVALID` with every problem. */
export function requireScenarios(value: unknown): readonly Scenario[] {
  const parsed = parseScenarios(value)
  if ('problems' in parsed) {
    throw new ServiceError('SCENARIOS_INVALID', { problems: parsed.problems })
  }
  return parsed.scenarios
}

/** What a list of scenarios is known by in the audit log. */
export function scenariosHash(scenarios: readonly Scenario[]): string {
  return hashOf(scenarios)
}
