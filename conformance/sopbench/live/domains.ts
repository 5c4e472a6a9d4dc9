import { existsSync } from 'node:fs'
import type { LiveTool } from './state.ts'

/** The tools of a domain by name. */
export type LiveTools = Readonly<Record<string, LiveTool>>

/**
 * The tools of a domain that can be run live: what the file of its name in this folder exports. Undefined where there is
 * none.
 *
 * @throws TypeError when the file exports no tools.
 */
export async function findLiveTools(domain: string): Promise<LiveTools | undefined> {
  const file = new URL(`${encodeURIComponent(domain)}.ts`, import.meta.url)
  if (ownFiles.has(domain) || !existsSync(file)) return undefined
  const exported: Readonly<Record<string, unknown>> = await import(file.href)
  const tools = Object.values(exported).find(isLiveTools)
  if (tools === undefined) throw new TypeError(`${file.pathname} exports no tools`)
  return tools
}

/** Files of this folder that are no domain's. */
const ownFiles: ReadonlySet<string> = new Set(['domains', 'stage', 'state'])

function isLiveTools(value: unknown): value is LiveTools {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.values(value)
  return members.length > 0 && members.every((member) => typeof member === 'function')
}
