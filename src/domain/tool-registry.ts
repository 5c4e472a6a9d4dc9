import { ServiceError } from './errors.ts'
import { didYouMean } from './nearest-name.ts'
import type { Problem } from './problem.ts'
import type { Tool } from './tool.ts'

/** The allowlist: the only tools that can be named in a definition, and the only ones that run. */
export interface ToolRegistry {
  /**
   * The tool of a name, or undefined. With a contract hash exactly the one that a version pinned; without, the current
   * one, which is the last that was registered under the name.
   */
  readonly find: (name: string, contractHash?: string) => Tool | undefined
  /** The current tool of each name, by name. */
  readonly current: ReadonlyMap<string, Tool>
}

/**
 * Makes the allowlist. Two contracts of one name may stand side by side, so that versions approved under the older one
 * go on running: the later one in the list is current.
 *
 * @throws ServiceError `TOOLS_INVALID` with every tool that is registered twice or requires one that is not there.
 */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const problems: Problem[] = []
  const current = new Map(tools.map((tool) => [tool.contract.name, tool]))
  const pinned = new Map<string, Map<string, Tool>>()
  for (const [index, tool] of tools.entries()) {
    const { name, requires } = tool.contract
    const ofName = pinned.get(name) ?? new Map<string, Tool>()
    if (ofName.has(tool.contractHash)) {
      const message = `'${name}' is registered twice with the same contract; remove one`
      problems.push({ path: `[${index}]`, message })
    }
    pinned.set(name, ofName.set(tool.contractHash, tool))
    for (const required of requires) {
      if (current.has(required)) continue
      const hint = didYouMean(required, current.keys())
      const message = `'${name}' requires '${required}', which is not registered.${hint}`
      problems.push({ path: `[${index}].requires`, message })
    }
  }
  if (problems.length > 0) throw new ServiceError('TOOLS_INVALID', { problems })
  return {
    find: (name, contractHash) =>
      contractHash === undefined ? current.get(name) : pinned.get(name)?.get(contractHash),
    current,
  }
}
