import { setTimeout as wait } from 'node:timers/promises'
import { formatMs } from '../domain/duration.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { certainFailure, type Tool, type ToolContext } from '../domain/tool.ts'
import { ToolConflict } from './outcome.ts'

/**
 * Finds what became of the call with a key: its output, or undefined when the service knows of none. It throws when the
 * service cannot be asked.
 */
export type Lookup = (
  key: string,
  input: JsonObject,
  signal: AbortSignal,
) => Promise<Json | undefined>

/** How long a call is looked for when its declaration does not say. */
export const defaultLookupMs = 20_000

const firstDelayMs = 200
const maxDelayMs = 5_000

/**
 * A call that, when nobody knows whether it was made, is looked for: at once, and again until `withinMs` have passed,
 * because the service may be down, or still at it. Found, it is done. Not found proves nothing: the call may arrive yet,
 * so that its outcome stays unknown.
 *
 * A service that refuses a call as a conflict is asked once whether that is with an earlier call of the same key.
 */
export function withLookup(run: Tool['run'], lookup: Lookup, withinMs: number): Tool['run'] {
  return async (input, context) => {
    try {
      return await run(input, context)
    } catch (error) {
      if (error instanceof ToolConflict) {
        const found = await lookup(context.idempotencyKey, input, context.signal).catch(() => {})
        if (found !== undefined) return found
        throw error
      }
      if (certainFailure(error) !== undefined) throw error
      const found = await lookFor(lookup, input, context, withinMs)
      if ('output' in found) return found.output
      const message = error instanceof Error ? error.message : String(error)
      const looked = `It was looked for during ${formatMs(withinMs)}: ${found.problem}.`
      throw new Error(`${message} ${looked}`, { cause: error })
    }
  }
}

async function lookFor(
  lookup: Lookup,
  input: JsonObject,
  { idempotencyKey, signal }: ToolContext,
  withinMs: number,
): Promise<{ readonly output: Json } | { readonly problem: string }> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
  let problem = 'nobody could be asked'
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
    try {
      const output = await lookup(idempotencyKey, input, until)
      if (output !== undefined) return { output }
      problem = 'nothing of it was found, which does not show that it was not done'
    } catch (error) {
      if (!until.aborted) problem = (error instanceof Error ? error.message : '').replace(/\.$/, '')
    }
    if (until.aborted) return { problem }
    await wait(delayMs, undefined, { signal: until }).catch(() => {})
  }
}
