import type { Definition } from '../domain/definition.ts'
import { isServiceError } from '../domain/errors.ts'
import { walkSteps } from '../domain/step.ts'
import type { Tool } from '../domain/tool.ts'
import { compilePlan, type Plan } from '../executor/plan.ts'

/**
 * The plan of a definition that may not be sound yet, with the tools as they are now. Undefined when not even a
 * simulation can run it: an expression, a template or a schema of it cannot be read.
 */
export function findSimulationPlan(
  definition: Definition,
  findTool: (name: string) => Pick<Tool, 'contract' | 'contractHash'> | undefined,
): Plan | undefined {
  const names = [...walkSteps(definition.steps)].flatMap((step) =>
    'tool' in step ? [step.tool] : [],
  )
  const used = [...new Set(names)].flatMap((name) => findTool(name) ?? [])
  try {
    return compilePlan(definition, new Map(used.map((tool) => [tool.contract.name, tool])))
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return undefined
  }
}

/** Whether a plan could not be made because a text of its definition cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return (
    isServiceError(error, 'EXPRESSION_INVALID') ||
    isServiceError(error, 'TEMPLATE_INVALID') ||
    isServiceError(error, 'SCHEMA_INVALID')
  )
}
