import {
  CarryOver,
  type Member,
  mapTexts,
  nameTable,
  readMembers,
  writeMembers,
} from './carry-over.ts'
import type { Definition } from './definition.ts'
import { findLimitProblems } from './definition-limits.ts'
import { definitionShape } from './definition-shape.ts'
import { importInput, inputReadBy } from './import-input.ts'
import { importSteps } from './import-step.ts'
import { isJsonObject, type Json } from './json.ts'
import { parseDefinition } from './parse-definition.ts'
import type { Problem } from './problem.ts'
import { expectation } from './zod-problems.ts'

/** A definition and what was not carried over as it stood, or everything that is wrong with the document. */
export type ImportedDefinition =
  | { readonly definition: Definition; readonly notes: readonly Problem[] }
  | { readonly problems: readonly Problem[] }

const names = nameTable(Object.keys(definitionShape.in.shape), {
  procedurekey: 'key',
  triggerconditions: 'issuePatterns',
  parametersschema: 'parametersSchema',
  proceduresummary: 'summary',
  id: 'id',
  version: 'version',
  status: 'status',
  createdat: 'createdAt',
  updatedat: 'updatedAt',
  executioncount: 'executionCount',
  successcount: 'successCount',
  successrate: 'successRate',
  avgdurationseconds: 'avgDurationSeconds',
})

const ownFigures = 'figures are of the runs that are made here; left out'
const ownTimes = 'the record says when a version was made here; left out'
/** What no definition says, and why. */
const leftOut: Readonly<Record<string, string>> = {
  id: 'a procedure is known by its key; left out',
  version: 'a draft gets the next number of its procedure; left out',
  status: 'what is imported is a draft, whatever it was elsewhere; left out',
  createdAt: ownTimes,
  updatedAt: ownTimes,
  executionCount: ownFigures,
  successCount: ownFigures,
  successRate: ownFigures,
  avgDurationSeconds: ownFigures,
}

const conditionNames = nameTable(['text', 'when', 'say', 'confidential', 'otherwise', 'escalateTo'])

/**
 * Rewrites a procedure as other agents write theirs (docs/import.md) into a definition in normal form. A definition of
 * our own notation is one of them, and comes out as it is. `isTool` knows the tools of this service, for hints alone.
 *
 * Never throws for a bad document. Notes and problems have the paths of the document, not of the definition.
 */
export function importDefinition(
  value: unknown,
  isTool: (name: string) => boolean = () => false,
): ImportedDefinition {
  const limits = findLimitProblems(value)
  if (limits.problems.length > 0) return { problems: limits.problems }
  if (!isJsonObject(value)) {
    const message = expectation(value, 'a procedure, which is an object with a name and steps')
    return { problems: [{ path: '', message }] }
  }
  if (isRecordOfRun(value)) {
    const message =
      'is the record of a past run, and what it did there is no approved way to do it; write a procedure, with parameters in place of the values of that case'
    return { problems: [{ path: '', message }] }
  }
  const carry = new CarryOver()
  const document = rewrite(readMembers(value, [], names, carry), isTool, carry)
  const parsed = parseDefinition(document)
  const found = 'problems' in parsed ? parsed.problems : []
  const problems = [
    ...carry.problems,
    ...found.map((problem) => ({ ...problem, path: carry.originOf(problem.path) })),
  ]
  if (problems.length > 0 || 'problems' in parsed) return { problems }
  return { definition: parsed.definition, notes: carry.notes }
}

function isRecordOfRun(value: object): boolean {
  return Object.keys(value).some((name) => /^action_?sequence$/i.test(name))
}

function rewrite(
  members: Map<string, Member>,
  isTool: (name: string) => boolean,
  carry: CarryOver,
): Json {
  importKey(members, carry)
  importSummary(members, carry)
  importParameters(members, carry)
  for (const [field, message] of Object.entries(leftOut)) {
    const member = members.get(field)
    if (member === undefined) continue
    members.delete(field)
    carry.note(member.path, message)
  }
  for (const field of ['preconditions', 'completionConditions', 'escalationRules']) {
    const member = members.get(field)
    if (member === undefined) continue
    members.set(field, { ...member, value: importConditions(field, member, carry) })
  }
  const steps = members.get('steps')
  if (steps !== undefined)
    members.set('steps', { ...steps, value: importSteps(steps, isTool, carry) })
  return writeMembers(members, [], carry)
}

/** The key as keys are written here, made from the name where there is none. */
function importKey(members: Map<string, Member>, carry: CarryOver): void {
  const given = members.get('key')
  const source = given ?? members.get('name')
  if (source === undefined || typeof source.value !== 'string') return
  const key = source.value
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^[^A-Z]+/, '')
    .slice(0, 64)
    .replace(/_+$/, '')
  // What no key can be made from is refused as it stands.
  if (key.length < 2 || key === given?.value) return
  members.set('key', { value: key, path: source.path })
  carry.note(source.path, `the key is ${key} from now on${given ? '' : ', made from the name'}`)
}

const useFor = /\bUse for:\s*([^.]+)/

/** A summary is built from the definition; what only the summary says is read from it. */
function importSummary(members: Map<string, Member>, carry: CarryOver): void {
  const summary = members.get('summary')
  if (summary === undefined) return
  members.delete('summary')
  const [, listed] = useFor.exec(typeof summary.value === 'string' ? summary.value : '') ?? []
  const patterns = (listed ?? '').split(';').map((one) => one.trim().replaceAll(/\s+/g, ' '))
  if (listed === undefined || members.has('issuePatterns')) {
    carry.note(summary.path, 'a summary is built from the definition; left out')
    return
  }
  members.set('issuePatterns', { value: patterns.filter((one) => one !== ''), path: summary.path })
  carry.note(
    summary.path,
    "a summary is built from the definition; left out, but for 'Use for', which became the issue patterns",
  )
}

function importParameters(members: Map<string, Member>, carry: CarryOver): void {
  const given = members.get('parametersSchema')
  const input = members.get('input')
  members.delete('parametersSchema')
  if (given !== undefined && input !== undefined) {
    carry.refuse(given.path, "says what 'input' says; keep one of the two")
  } else if (given !== undefined && !isEmpty(given.value)) {
    members.set('input', { ...given, value: importInput(given, carry) })
  } else if (input === undefined) {
    const steps = members.get('steps')
    const texts: string[] = []
    mapTexts(steps?.value ?? null, [], (text) => {
      texts.push(text)
      return text
    })
    const read = inputReadBy(texts)
    if (read === undefined) return
    members.set('input', { value: read, path: steps?.path ?? [] })
    carry.note(
      given?.path ?? [],
      'no parameter is described; those that the steps read became a required input of any type, give them types',
    )
  }
}

function isEmpty(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}

/** Sentences become conditions that are shown; no machine can test them. */
function importConditions(field: string, { value, path }: Member, carry: CarryOver): Json {
  if (!Array.isArray(value)) return value
  const list: readonly Json[] = value
  const sentences = list.filter((one) => typeof one === 'string').length
  if (sentences > 0) {
    const which = sentences === list.length ? 'these are' : `${sentences} of these are`
    carry.note(path, `${which} sentences for people; nothing tests them before each has a 'when'`)
  }
  return list.map((one, index) => {
    carry.trace([field, index], [...path, index])
    if (typeof one === 'string') return { text: one }
    if (!isJsonObject(one)) return one
    const members = readMembers(one, [...path, index], conditionNames, carry)
    return writeMembers(members, [field, index], carry)
  })
}
