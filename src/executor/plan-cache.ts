import type { Definition } from '../domain/definition.ts'
import type { ToolContract } from '../domain/tool.ts'
import { compilePlan, type Plan } from './plan.ts'

/** What a plan is made from. */
export interface PlanSource {
  readonly definition: Definition
  readonly contracts: ReadonlyMap<
    string,
    { readonly contract: ToolContract; readonly contractHash: string }
  >
}

/** Plans that were compiled already, by what they were compiled from. */
export interface PlanCache {
  /** The plan for a definition hash and the contract hashes that its version pinned; `load` is asked only once. */
  get(
    definitionHash: string,
    toolContracts: Readonly<Record<string, string>>,
    load: () => Promise<PlanSource>,
  ): Promise<Plan>
}

/** Enough for every active version of a large tenant; the one unused for longest goes first. */
const maxPlans = 1_000

export function createPlanCache(): PlanCache {
  const plans = new Map<string, Promise<Plan>>()
  return {
    get(definitionHash, toolContracts, load) {
      const key = JSON.stringify([definitionHash, Object.entries(toolContracts).sort()])
      const known = plans.get(key)
      const plan =
        known ?? load().then(({ definition, contracts }) => compilePlan(definition, contracts))
      plans.delete(key)
      plans.set(key, plan)
      if (known === undefined) {
        // A failure is told to whoever asked, and asked for again the next time.
        plan.catch(() => plans.delete(key))
        const oldest = plans.keys().next().value
        if (plans.size > maxPlans && oldest !== undefined) plans.delete(oldest)
      }
      return plan
    },
  }
}
