import { hashOf } from './canonical.ts'
import type { Id } from './ids.ts'
import type { Json, JsonObject, JsonSchema } from './json.ts'
import type { Principal } from './principal.ts'
import type { ToolLimit } from './tool-limit.ts'

/** Whether a tool changes the world. Only a write has its intent committed before the call. */
export type ToolEffect = 'read' | 'write'

/**
 * What a version is approved against: everything about a tool that its users rely on. Its hash is pinned by each
 * version that uses the tool; a tool whose hash has changed does not run under the old approval.
 */
export interface ToolContract {
  readonly name: string
  readonly description: string
  readonly effect: ToolEffect
  /** True when two calls with one idempotency key, even at once, have the effect of one. */
  readonly idempotent: boolean
  /** Tools that must have completed in the same execution before this one may run. */
  readonly requires: readonly string[]
  /** How much it may be used in a time, in the order of their counters. */
  readonly limits: readonly ToolLimit[]
  readonly input: JsonSchema
  readonly output: JsonSchema
  /** Per attempt. */
  readonly timeoutMs: number
  /** Declared state words of the output that a reply may name. */
  readonly states: readonly string[]
  /** What a reply may say was done, if every call of the tool completed and its output says so. */
  readonly claims: readonly string[]
  /**
   * Where a call goes, of a tool that another service offers: how it is asked, and how what became of a call is looked
   * up. Absent for a tool that is code.
   */
  readonly origin?: JsonObject
}

/** The contract hash: SHA-256 over the canonical JSON of a contract, in lower-case hex. A version pins it. */
export function contractHash(contract: ToolContract): string {
  return hashOf(contract)
}

/** What a tool's code is given besides its input. */
export interface ToolContext {
  /** The same over all attempts and take-overs of one step; never derived from the input. */
  readonly idempotencyKey: string
  /** Aborted at the step's timeout. */
  readonly signal: AbortSignal
  readonly tenantId: string
  readonly executionId: Id<'execution'>
  readonly principal: Principal
  /** Where the call is traced, what a service that the tool asks may be sent as its header of that name (W3C). */
  readonly traceparent?: string
}

/** A tool that may run: its contract, the contract's hash, and its code. */
export interface Tool {
  readonly contract: ToolContract
  readonly contractHash: string
  /** Throws `ToolRefused` or `ToolFailed` when it certainly did nothing; anything else thrown is an unknown outcome. */
  readonly run: (input: JsonObject, context: ToolContext) => Promise<Json>
}

/** A mark that every copy of this package knows: a tool module may have loaded another one than the service. */
const certainly = Symbol.for('stepwarden.tool.certainly')

/** Thrown by a tool that will not do it, and did nothing: never retried. */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused'
  readonly [certainly] = 'refused'
}

/** Thrown by a tool that could not do it, and certainly did nothing: may be retried. */
export class ToolFailed extends Error {
  override readonly name = 'ToolFailed'
  readonly [certainly] = 'failed'
}

/** How a call came to nothing for certain, by what it threw; undefined for all else, whose outcome is unknown. */
export function certainFailure(thrown: unknown): 'refused' | 'failed' | undefined {
  if (!(thrown instanceof Error)) return undefined
  const mark = Object(thrown)[certainly]
  return mark === 'refused' || mark === 'failed' ? mark : undefined
}
