import { canonicalValue } from '../domain/canonical.ts'
import type { ExecutionStart, Pin } from '../domain/execution.ts'
import { findInstant } from '../domain/expression.ts'
import { fillInput } from '../domain/fill-input.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { Plan } from '../executor/plan.ts'

/** A Monday, so that working days begin at once. */
const standardStart = Date.UTC(2026, 0, 5, 9, 0, 0)

/** No called procedure is run, so that any version will do. */
const pin: Pin = {
  versionId: 'ver_000000000000000000000',
  versionNumber: 1,
  definitionHash: '0'.repeat(64),
}

/** How a scenario starts a run: its input completed from context and ticket, as that of a start without a model is. */
export function startOfScenario(plan: Plan, scenario: Scenario): ExecutionStart {
  const { input, context, ticket, requester = 'requester', startedAt } = scenario
  const { customerId, onBehalfOf, mode } = scenario
  const schema = plan.definition.input
  const filled = canonicalValue(fillInput({ schema, input, context, text: ticket?.text }).input)
  return {
    executionId: 'exec_000000000000000000000',
    tenantId: '',
    requester: { id: requester, kind: 'human', roles: ['agent'], groups: [], tenantId: '' },
    startedAt: (startedAt === undefined ? undefined : findInstant(startedAt)) ?? standardStart,
    input: isJsonObject(filled) ? filled : {},
    ticket: ticket ?? null,
    ...(onBehalfOf !== undefined && { onBehalfOf }),
    ...(customerId !== undefined && { customerId }),
    ...(mode !== undefined && { mode }),
    ...(plan.calls.length > 0 && {
      pins: Object.fromEntries(plan.calls.map((key) => [key, pin])),
    }),
  }
}
