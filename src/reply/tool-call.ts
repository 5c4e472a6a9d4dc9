import type { Json } from '../domain/json.ts'
import { scalarsOf } from '../domain/scalars.ts'
import type { ToolEffect } from '../domain/tool.ts'

/** One call of a tool in a run, as far as a reply asks about it. */
export interface ToolCall {
  readonly tool: string
  readonly effect: ToolEffect
  readonly input: Json
  /** Null when none was recorded. */
  readonly output: Json
  /** `unknown`: it may have done its work. `not_done`: it certainly did nothing. */
  readonly result: 'done' | 'unknown' | 'not_done'
}

/**
 * Tells for each call of a run, in its order, which later writes may have changed what the call says. Two calls concern
 * the same thing when a text or number of one stands in the other, or in a third that concerns it. A call that was made
 * without any may concern everything.
 */
export function findLaterWrites(
  calls: readonly ToolCall[],
): (call: ToolCall) => readonly ToolCall[] {
  const writes = calls.filter(({ effect, result }) => effect === 'write' && result !== 'not_done')
  if (writes.length === 0) return () => []
  const groups = groupsOf(calls)
  return (call) =>
    calls
      .slice(calls.indexOf(call) + 1)
      .filter(
        (later) =>
          writes.includes(later) &&
          (groups.get(later) === groups.get(call) || isOpen(later) || isOpen(call)),
      )
}

/** Calls that are linked by their values have one group: the set of these values. */
function groupsOf(calls: readonly ToolCall[]): ReadonlyMap<ToolCall, ReadonlySet<Json>> {
  let groups: readonly { readonly calls: readonly ToolCall[]; readonly values: Set<Json> }[] = []
  for (const call of calls) {
    const values = new Set([...valuesOf(call.input), ...valuesOf(call.output)])
    const linked = groups.filter((group) => [...values].some((value) => group.values.has(value)))
    for (const group of linked) for (const value of group.values) values.add(value)
    const joined = { calls: [...linked.flatMap((group) => group.calls), call], values }
    groups = [...groups.filter((group) => !linked.includes(group)), joined]
  }
  return new Map(
    groups.flatMap((group) => group.calls.map((call) => [call, group.values] as const)),
  )
}

function isOpen({ input }: ToolCall): boolean {
  return valuesOf(input).length === 0
}

/** Texts and numbers: yes, no and nothing stand in every other call. */
function valuesOf(json: Json): readonly Json[] {
  return scalarsOf(json, {}).flatMap(({ value }) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number' ? [value] : [],
  )
}
