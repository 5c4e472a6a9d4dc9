import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDocument } from '../../src/documents/read-document.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import type { DatabaseConfig } from '../../src/index.ts'
import { type Desk, openDesk, type Run } from '../desk.ts'
import type { Recorder } from '../report.ts'
import { differenceOf, isSame } from '../same.ts'
import { type Case, readDomains, readJson } from '../sopbench/cases.ts'
import { type State, stateOf } from '../sopbench/live/state.ts'
import { Stage } from '../stage.ts'
import { shop } from './shop.ts'
import { shopTools } from './tools.ts'

const suite = 'tau2-retail'
const tier = 'live'

/** Runs the shop's cases through the playbooks that were written by hand. */
export async function runRetail(
  config: DatabaseConfig,
  folder: string,
  recorder: Recorder,
): Promise<void> {
  const catalogue = stateOf(readJson(join(folder, 'catalog.json')) as Json)
  const playbooks = readPlaybooks()
  for (const domain of readDomains(folder)) {
    const place = { suite, domain: domain.name, tier }
    const cases = domain.cases.filter(({ id }) => recorder.wantsCase(id))
    if (cases.length === 0 || !recorder.wants(suite, domain.name, tier)) continue
    const stage = new Stage()
    await using desk = await openDesk(config, shopTools(stage))
    for (const one of cases) {
      const fault = await faultOf(one, playbooks, desk, stage, catalogue)
      recorder.record(place, one.id, one.expected.outcome, fault)
    }
  }
}

/** The hand-written definitions, by key. */
function readPlaybooks(): ReadonlyMap<string, JsonObject> {
  const folder = new URL('../playbooks/', import.meta.url)
  return new Map(
    readdirSync(folder).map((name) => {
      const { value } = readDocument(readFileSync(new URL(name, folder), 'utf8'), { name })
      const definition = Object(value) as JsonObject
      return [String(definition.key), definition]
    }),
  )
}

async function faultOf(
  one: Case,
  playbooks: ReadonlyMap<string, JsonObject>,
  desk: Desk,
  stage: Stage,
  catalogue: State,
): Promise<string | undefined> {
  const key = one.goal.toUpperCase()
  const playbook = playbooks.get(key)
  if (playbook === undefined) return `there is no playbook ${key}`
  try {
    await desk.serve(playbook)
    const state = stateOf(one.initialDatabase)
    stage.set((tool, args) => {
      const act = shop[tool]
      if (act === undefined) throw new Error(`${tool} is not among the tools of the shop`)
      return structuredClone(act(state, structuredClone(args) as State, catalogue))
    })
    const run = await desk.start(key, one.user)
    return stage.fault ?? runFault(one, run, stage) ?? endFault(one, state as JsonObject)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return `${error.name}: ${error.message}`
  }
}

function runFault(one: Case, run: Run, stage: Stage): string | undefined {
  const { status, outcome, reason } = run.execution
  const ended = `ended as ${outcome ?? status}${reason === null ? '' : ` (${reason.message})`}`
  const made = stage.calls.filter(({ tool }) => tool === one.goal)
  const rows = run.steps.filter(({ tool, status }) => tool === one.goal && status !== 'skipped')
  if (one.expected.outcome === 'success') {
    if (outcome !== 'resolved') return `${ended}, expected success`
    const isOnce = made.length === 1 && rows.length === 1 && rows[0]?.status === 'completed'
    if (!isOnce) return `the goal tool was called ${made.length} times`
    const isExact = isSame(made[0]?.args, one.goalArgs) && isSame(rows[0]?.input, one.goalArgs)
    return isExact ? undefined : `the goal tool was given ${JSON.stringify(rows[0]?.input)}`
  }
  if (outcome !== 'declined' || reason === null) return `${ended}, expected a refusal`
  const writes = run.steps.filter(
    ({ tool }) => tool !== null && /^(cancel|return|exchange|modify)_/.test(tool),
  )
  if (made.length > 0 || writes.some(({ status }) => status !== 'skipped')) {
    return 'a tool that writes was called'
  }
  // The text of a rule begins with its name.
  const named = reason.text?.split(':')[0]
  const rule = one.expected.refusedBy?.constraints[0]?.check
  return named === rule ? undefined : `refused by ${named}, expected ${rule}`
}

function endFault({ expected, initialDatabase }: Case, state: JsonObject): string | undefined {
  const end = expected.databaseUnchanged === true ? initialDatabase : expected.finalDatabase
  if (end === undefined) return 'no final state is expected'
  const found = differenceOf(state, end)
  return found === undefined ? undefined : `end state: ${found}`
}
