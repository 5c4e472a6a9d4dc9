import type { Ruling } from '../../conformance/sopbench/playbook.ts'
import { parseExpression, type Scope } from '../../src/domain/expression.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { parseTemplate } from '../../src/domain/template.ts'
import { ToolRefused } from '../../src/index.ts'

/** What the expression of a rule gives for a customer, with the answers of these tools. */
export function verdictOf(
  { lookups, when }: Ruling,
  given: { readonly user: JsonObject; readonly policy: JsonObject },
  world: (tool: string, args: JsonObject) => Json,
): Json {
  const steps: Record<string, JsonObject> = {}
  for (const { key } of lookups) steps[key] = { status: 'pending', attempts: 0 }
  const { user: input, policy } = given
  const scope = { input, policy, steps, ticket: null, execution: {}, now: 0 }
  for (const { key, tool, with: input, when: conditions } of lookups) {
    if (conditions.length > 0 && evaluated(conditions.join(' && '), scope) !== true) continue
    const parsed = parseTemplate(input)
    if (!('template' in parsed)) throw new Error(JSON.stringify(parsed.problems))
    const args = parsed.template.resolve(scope) as JsonObject
    steps[key] = called(() => world(tool, args))
  }
  return evaluated(when, scope)
}

function called(call: () => Json): JsonObject {
  try {
    return { status: 'completed', attempts: 1, output: call() }
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error
    const failure = { code: 'tool_failed', kind: 'refused', message: error.message }
    return { status: 'failed', attempts: 1, error: failure }
  }
}

function evaluated(source: string, scope: Scope): Json {
  const parsed = parseExpression(source)
  if ('problems' in parsed) throw new Error(`${source}: ${JSON.stringify(parsed.problems)}`)
  return parsed.expression.evaluate(scope)
}
