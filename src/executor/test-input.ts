import { reasonOf } from '../domain/escalation.ts'
import type { Problem } from '../domain/problem.ts'
import type { ExecutionState } from './apply.ts'
import type { Ending } from './conditions.ts'
import type { Plan } from './plan.ts'

/** Tests the input of a run against its schema, before anything else. What is missing is asked for, all else is invalid. */
export function testInput(plan: Plan, state: ExecutionState): Ending | undefined {
  const problems = plan.input.problems(state.start.input)
  if (problems.length === 0) return undefined
  const missing = missingFields(plan, state)
  const code = missing.length > 0 ? 'missing_input' : 'input_invalid'
  const fields = missing.length > 0 ? missing : [...new Set(problems.map(topField))]
  const target = plan.definition.escalateTo
  return {
    kind: 'escalated',
    reason: reasonOf(code, {
      fields,
      detail:
        code === 'missing_input'
          ? fields.join(', ')
          : problems.map(({ path, message }) => `${path}: ${message}`).join('; '),
      ...(target !== undefined && { escalateTo: target }),
    }),
  }
}

function missingFields(plan: Plan, state: ExecutionState): readonly string[] {
  const required = plan.definition.input?.required
  if (!Array.isArray(required)) return []
  return required.filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(state.start.input, name),
  )
}

function topField({ path }: Problem): string {
  return /^[^.[]*/.exec(path)?.[0] ?? ''
}
