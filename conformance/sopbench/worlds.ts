import type { Json, JsonObject } from '../../src/domain/json.ts'
import { ToolRefused } from '../../src/index.ts'
import { isSame } from '../same.ts'
import type { World } from '../stage.ts'
import type { Case, DomainTools } from './cases.ts'

/** An answer that nobody recorded was asked for: the playbook looks where it need not. */
class NotRecorded extends Error {
  override readonly name = 'NotRecorded'
}

/** Tier 1: sessions and rules answer as recorded in `checks`. */
export function controlWorld(one: Case, tools: DomainTools): World {
  const sessions = new Map(
    Object.entries(tools.session).map(([check, session]) => [session.tool, check]),
  )
  return (tool, args) => {
    if (tool === one.goal && isSame(args, one.goalArgs)) return goalAnswer(one)
    const check = sessions.get(tool)
    const verdict = findVerdict(one, check ?? tool, args)
    // A session that another one requires stands in no tree, so only its tool's own answer was recorded.
    if (verdict === undefined) return recordedAnswer(one, tool, args)
    if (check === undefined) return verdictAnswer(verdict)
    if (verdict.holds !== true) throw new ToolRefused('not accepted')
    return done
  }
}

/** Tier 2: sessions and reads answer as recorded in `toolResults`; what reads everything answers the state. */
export function recordedWorld(one: Case, tools: DomainTools): World {
  return (tool, args) => {
    if (tool === one.goal && isSame(args, one.goalArgs)) return goalAnswer(one)
    if (tools.tools[tool]?.reads === 'everything') return one.initialDatabase
    if (findAnswer(one, tool, args) !== undefined) return recordedAnswer(one, tool, args)
    // A rule that is a tool itself was at times asked about something else when answers were recorded.
    const verdict = findVerdict(one, tool, args)
    return verdict === undefined ? recordedAnswer(one, tool, args) : verdictAnswer(verdict)
  }
}

type Verdict = Case['checks'][number]

function findVerdict(one: Case, check: string, args: JsonObject): Verdict | undefined {
  return one.checks.find(
    (candidate) =>
      candidate.check === check &&
      Object.entries(candidate.args).every(([input, name]) => {
        const value = one.user[name]
        return value !== undefined && isSame(args[input], value)
      }),
  )
}

function verdictAnswer({ holds }: Verdict): boolean {
  if (holds === null) throw new ToolRefused('it cannot be told')
  return holds
}

function findAnswer(one: Case, tool: string, args: JsonObject) {
  return one.toolResults.find((call) => call.tool === tool && isSame(args, call.args))
}

function recordedAnswer(one: Case, tool: string, args: JsonObject): Json {
  const recorded = findAnswer(one, tool, args)
  if (recorded === undefined) throw new NotRecorded(`${tool} of ${JSON.stringify(args)}`)
  if (!recorded.ok) throw new ToolRefused('it refused when it was recorded')
  return recorded.value === undefined ? done : recorded.value
}

const done: Json = { done: true }

/** What the goal tool does where it is a stub. */
function goalAnswer({ expected }: Case): Json {
  if (expected.refusedBy?.by === 'tool') throw new ToolRefused('it refuses in this case')
  return expected.result ?? done
}
