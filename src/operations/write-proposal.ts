import type { AppContext } from '../context.ts'
import type { Db } from '../db/connect.ts'
import { canonicalValue } from '../domain/canonical.ts'
import { type Definition, definitionHash } from '../domain/definition.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import { walkSteps } from '../domain/step.ts'
import type { ToolContract } from '../domain/tool.ts'
import type { Demonstration } from '../learning/demonstration.ts'
import {
  findChanged,
  improvingQuestion,
  learningQuestion,
  readPlaybook,
} from '../learning/proposal-writing.ts'
import type { Question } from '../openai/structured-answer.ts'
import { askInTime, failureText } from '../reply/model.ts'
import { callsOf, checkVersion } from './check-version.ts'

/** What a model has written, or why that is not taken. */
export type Written =
  | { readonly definition: Definition; readonly madeWith: string }
  | { readonly definition: undefined; readonly why: string }

/** That no model is asked. */
export const notAsked = 'No model is named that could write.'

/**
 * Has the model make a learned draft read well, once. It is never believed: what it answers is parsed and checked, calls the
 * same tools with the same values in the same order, and keeps every condition. Anything else is not taken.
 */
export function writeLearned(
  app: AppContext,
  db: Db,
  learned: Definition,
  demonstrations: readonly Demonstration[],
): Promise<Written> {
  const draft = asJson(learned)
  const used = new Set(demonstrations.flatMap(({ actions }) => actions.map(({ tool }) => tool)))
  const tools = contractsOf(app, ({ name }) => used.has(name))
  return write(app, db, learned, learningQuestion(draft, demonstrations, tools), (written) => {
    const [changed] = findChanged(draft, asJson(written))
    if (changed !== undefined) return `It changes what was learned: ${changed}.`
    return findForeign(written, tools) ?? findNewWrites(written, learned, tools)
  })
}

/**
 * Has the model change a version as feedback asks, once. Its tools are those of the version, and what else reads; it calls
 * no other procedure.
 */
export function writeImproved(
  app: AppContext,
  db: Db,
  base: Definition,
  feedback: string,
): Promise<Written> {
  const own = toolsOf(base)
  const tools = contractsOf(app, ({ name, effect }) => own.has(name) || effect === 'read')
  const question = improvingQuestion(asJson(base), feedback, tools)
  return write(app, db, base, question, (written) => {
    if (definitionHash(written) === definitionHash(base)) return 'It changes nothing.'
    const calls = callsOf(base)
    const other = callsOf(written).find((key) => !calls.includes(key))
    if (other !== undefined) return `It calls another procedure: ${other}.`
    return findForeign(written, tools)
  })
}

async function write(
  app: AppContext,
  db: Db,
  { key }: Definition,
  question: Question,
  findFault: (written: Definition) => string | undefined,
): Promise<Written> {
  const { proposeModel, log } = app
  if (proposeModel === undefined) return { definition: undefined, why: notAsked }
  const refused = (problem: string): Written => {
    log.warn({ model: proposeModel.name, problem }, 'what a model has written is not proposed')
    return { definition: undefined, why: `${proposeModel.name} was not taken: ${problem}` }
  }
  let answer: Json
  try {
    answer = await askInTime(proposeModel, question, proposeModel.timeouts.replyMs)
  } catch (error) {
    // The model that was wired in has logged why.
    return {
      definition: undefined,
      why: `${proposeModel.name} was not taken: ${failureText(error)}`,
    }
  }
  const document = readPlaybook(answer)
  if (document === undefined) return refused('Its answer holds no playbook.')
  const parsed = parseDefinition(document)
  if ('problems' in parsed) return refused('Its playbook cannot be read.')
  const { definition: written } = parsed
  if (written.key !== key) return refused('It has another key.')
  const fault = findFault(written)
  if (fault !== undefined) return refused(fault)
  const findings = await checkVersion(app, db, written)
  const error = findings.find(({ severity }) => severity === 'error')
  if (error !== undefined) return refused(`A check finds ${error.rule} in it.`)
  return { definition: written, madeWith: proposeModel.name }
}

function findForeign(written: Definition, tools: readonly ToolContract[]): string | undefined {
  const foreign = [...toolsOf(written)].find((name) => !tools.some((tool) => tool.name === name))
  return foreign === undefined ? undefined : `It uses a tool that it may not: ${foreign}.`
}

/** A step that writes and that nobody has done is nothing that was learned. */
function findNewWrites(
  written: Definition,
  draft: Definition,
  tools: readonly ToolContract[],
): string | undefined {
  const known = new Set([...walkSteps(draft.steps)].map(({ key }) => key))
  const writes = new Set(tools.filter(({ effect }) => effect === 'write').map(({ name }) => name))
  const added = [...walkSteps(written.steps)].find(
    (step) => 'tool' in step && writes.has(step.tool) && !known.has(step.key),
  )
  return added === undefined ? undefined : `It adds a step that writes: ${added.key}.`
}

function toolsOf({ steps }: Definition): ReadonlySet<string> {
  return new Set([...walkSteps(steps)].flatMap((step) => ('tool' in step ? [step.tool] : [])))
}

function contractsOf(
  { tools }: AppContext,
  accepts: (contract: ToolContract) => boolean,
): readonly ToolContract[] {
  return [...tools.current.values()].map(({ contract }) => contract).filter(accepts)
}

function asJson(definition: Definition): JsonObject {
  const value = canonicalValue(definition)
  if (!isJsonObject(value)) throw new TypeError('a definition is an object')
  return value
}
