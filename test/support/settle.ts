import type { AppContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from './caller.ts'

/**
 * Closes all escalations: a write that may have been made keeps back every other with its tool and input, and tests call
 * the same ones again and again.
 */
export async function settleEscalations(app: AppContext): Promise<void> {
  for (const status of ['open', 'assigned'] as const) {
    const { items } = await operations.listEscalations.invoke(app, callerOf(), { status })
    for (const { id: escalationId } of items) {
      const resolution = 'Settled by a test'
      await operations.resolveEscalation.invoke(app, callerOf(), { escalationId, resolution })
    }
  }
}
