import { checkCaller, isSameInterface } from '../checks/caller-checks.ts'
import { checkDefinition, interfaceOf } from '../checks/check-definition.ts'
import { procedureSet } from '../checks/procedure-set.ts'
import type { FindContract } from '../checks/step-types.ts'
import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { listCallers } from '../db/queries/calls.ts'
import { findActiveVersion } from '../db/queries/versions.ts'
import type { Definition } from '../domain/definition.ts'
import type { Finding } from '../domain/finding.ts'
import { walkSteps } from '../domain/step.ts'

/**
 * Checks a definition against the tools of this process and the procedures that are active now: those that it calls, and
 * those that call it. Reads one row for each procedure that it calls, whether by itself or through others; callers are
 * read only when the definition takes or gives something else than the active version does.
 */
export async function checkVersion(
  app: AppContext,
  db: Db,
  definition: Definition,
): Promise<readonly Finding[]> {
  const findContract = (name: string) => app.tools.find(name)?.contract
  const called = await listCalled(db, definition)
  const findProcedure = procedureSet(called, findContract, 'none')
  const own = checkDefinition(definition, findContract, findProcedure)
  return [...own, ...(await checkCallers(db, definition, called, findContract))]
}

/** The procedures that a definition calls, each once. */
export function callsOf({ steps }: Definition): readonly string[] {
  const keys = [...walkSteps(steps)].flatMap((step) => ('call' in step ? [step.call] : []))
  return [...new Set(keys)]
}

/** What of the active versions that call the procedure, by themselves or through others, the definition would break. */
async function checkCallers(
  db: Db,
  definition: Definition,
  called: readonly Definition[],
  findContract: FindContract,
): Promise<readonly Finding[]> {
  const callers = await listCallers(db, definition.key)
  if (callers.length === 0) return []
  const active = (await findActiveVersion(db, definition.key))?.definition
  // Where none was active, nobody relies on anything.
  if (active === undefined) return []
  const [now, then] = [
    interfaceOf(
      active,
      findContract,
      procedureSet(await listCalled(db, active), findContract, 'none'),
    ),
    interfaceOf(definition, findContract, procedureSet(called, findContract, 'none')),
  ]
  if (isSameInterface(now, then)) return []
  const findings: Finding[] = []
  const seen = new Set([definition.key])
  const changed = [definition.key]
  for (let key = changed.pop(); key !== undefined; key = changed.pop()) {
    for (const caller of await listCallers(db, key)) {
      if (seen.has(caller.procedureKey)) continue
      seen.add(caller.procedureKey)
      const around = await listCalled(db, caller.definition)
      const found = checkCaller(
        {
          definition: caller.definition,
          versionNumber: caller.versionNumber,
          before: procedureSet(around, findContract, 'none'),
          after: procedureSet([...around, ...called, definition], findContract, 'none'),
        },
        findContract,
      )
      findings.push(...found.findings)
      if (found.isChanged) changed.push(caller.procedureKey)
    }
  }
  return findings
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
