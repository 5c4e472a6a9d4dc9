import { checkDefinition } from '../checks/check-definition.ts'
import { procedureSet } from '../checks/procedure-set.ts'
import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { findActiveVersion } from '../db/queries/versions.ts'
import type { Definition } from '../domain/definition.ts'
import type { Finding } from '../domain/finding.ts'
import { walkSteps } from '../domain/step.ts'

/**
 * Checks a definition against the tools of this process and the procedures that are active now. Reads one row for each
 * procedure that it calls, whether by itself or through others.
 */
export async function checkVersion(
  app: AppContext,
  db: Db,
  definition: Definition,
): Promise<readonly Finding[]> {
  const findContract = (name: string) => app.tools.find(name)?.contract
  const called = await listCalled(db, definition)
  return checkDefinition(definition, findContract, procedureSet(called, findContract, 'none'))
}

/** The active versions of all that a definition calls, and of what these call. */
async function listCalled(db: Db, definition: Definition): Promise<readonly Definition[]> {
  const found: Definition[] = []
  const asked = new Set([definition.key])
  const waiting = [...callsOf(definition)]
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (asked.has(key)) continue
    asked.add(key)
    const version = await findActiveVersion(db, key)
    if (version === undefined) continue
    found.push(version.definition)
    waiting.push(...callsOf(version.definition))
  }
  return found
}

function callsOf({ steps }: Definition): readonly string[] {
  return [...walkSteps(steps)].flatMap((step) => ('call' in step ? [step.call] : []))
}
