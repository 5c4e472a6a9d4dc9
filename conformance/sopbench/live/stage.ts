import type { Json, JsonObject } from '../../../src/domain/json.ts'
import type { Run } from '../../desk.ts'
import { differenceOf } from '../../same.ts'
import type { Call, World } from '../../stage.ts'
import type { Case, DomainTools } from '../cases.ts'
import { plainName } from '../names.ts'
import { type LiveTool, type State, stateOf } from './state.ts'

/** Tier 3: the tools act on the state of the case, and the whole of it is compared afterwards. */
export function liveStage(
  one: Case,
  tools: DomainTools,
  live: Readonly<Record<string, LiveTool>>,
): {
  readonly world: World
  readonly fault: (run: Run, calls: readonly Call[]) => string | undefined
} {
  const state = stateOf(one.initialDatabase)
  const world: World = (tool, args) => {
    const act = live[tool]
    if (act === undefined) throw new Error(`${tool} is not among the live tools`)
    return structuredClone(act(state, structuredClone(args) as State))
  }
  return { world, fault: (run, calls) => endFault(one, tools, state, run, calls) }
}

function endFault(
  { expected, initialDatabase, goal }: Case,
  tools: DomainTools,
  state: State,
  run: Run,
  calls: readonly Call[],
): string | undefined {
  const end = expected.databaseUnchanged === true ? initialDatabase : expected.finalDatabase
  if (end === undefined) return 'no final state is expected'
  const found = differenceOf(state as JsonObject, end)
  if (found !== undefined) return `end state: ${found}`
  if (expected.outcome === 'refused') {
    const write = calls.find(({ tool, refused }) => !refused && tools.tools[tool]?.kind === 'write')
    return write === undefined ? undefined : `${write.tool} was called, and nothing may be written`
  }
  const result = expected.result ?? null
  if (result === null) return undefined
  const output: Json = run.steps.findLast(({ tool }) => tool === plainName(goal))?.output ?? null
  const other = differenceOf(output, result)
  return other === undefined ? undefined : `result of ${goal}: ${other}`
}
