import type { TenantDb } from '../db/connect.ts'
import { listSensitiveValues } from '../db/queries/sensitive-values.ts'
import { listUnknownWrites } from '../db/queries/unknown-writes.ts'
import { hashOf } from '../domain/canonical.ts'
import type { StepRow } from '../domain/execution.ts'
import type { Id } from '../domain/ids.ts'
import { putBack, valuesOf } from '../domain/sensitive-value.ts'

/**
 * The run in which the same call (tool and input) was begun, and of which nobody knows what came of it; undefined when
 * there is none, or a person has settled it.
 */
export async function findUnknownWrite(
  db: TenantDb,
  executionId: Id<'execution'>,
  { tool, input }: StepRow,
): Promise<Id<'execution'> | undefined> {
  if (tool === null) return undefined
  const wanted = hashOf({ input })
  for (const open of await listUnknownWrites(db, executionId, tool)) {
    if (hashOf({ input: open.input }) === wanted) return open.executionId
    const values = await listSensitiveValues(db.kysely, open.executionId)
    const whole = putBack(open.input, valuesOf(values, open.ordinal, 'input'))
    if (hashOf({ input: whole }) === wanted) return open.executionId
  }
  return undefined
}
