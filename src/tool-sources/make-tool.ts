import { defaultToolTimeoutMs } from '../domain/defaults.ts'
import { defineSchemaTool } from '../domain/define-tool.ts'
import { durationMs } from '../domain/duration.ts'
import { isServiceError } from '../domain/errors.ts'
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../domain/json.ts'
import { didYouMean } from '../domain/nearest-name.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import type { Tool, ToolContext } from '../domain/tool.ts'
import { defaultLookupMs, type Lookup, withLookup } from './look-up.ts'
import { markSensitive } from './mark-sensitive.ts'
import { fitToOutput, prune } from './prune.ts'
import type { DeclaredOperation } from './source-shape.ts'

/** What is known of an operation of a source, of whatever kind the source is. */
export interface SourceOperation {
  /** What the source says of it; the declaration may say it better. */
  readonly description: string
  readonly input: JsonSchema
  readonly output: JsonSchema
  readonly origin: JsonObject
  /** Calls it, within a time of its own. */
  readonly call: (input: JsonObject, context: ToolContext, timeoutMs: number) => Promise<Json>
  /** Finds what became of a call, within the same time. */
  readonly lookup?: (
    key: string,
    input: JsonObject,
    signal: AbortSignal,
    timeoutMs: number,
  ) => Promise<Json | undefined>
}

/**
 * Makes the tool of an operation that a configuration lists. Its answers are cut to the output schema. Problems are added
 * with the path of the declaration, and there is no tool then.
 */
export function makeTool(
  declared: DeclaredOperation,
  operation: SourceOperation,
  path: readonly (string | number)[],
  problems: Problem[],
): Tool | undefined {
  const { timeout, sensitive = [], idempotency } = declared
  const callMs = timeout === undefined ? defaultToolTimeoutMs : durationMs(timeout)
  const withinMs =
    declared.lookup?.within === undefined ? defaultLookupMs : durationMs(declared.lookup.within)
  const schemas = { input: operation.input, output: operation.output }
  for (const [index, property] of sensitive.entries()) {
    const [side, ...below] = property.split('.')
    const known = side === 'input' || side === 'output' ? side : undefined
    const marked = known && below.length > 0 ? markSensitive(schemas[known], below) : undefined
    if (known !== undefined && marked !== undefined) schemas[known] = marked
    else {
      const message = `found '${property}', expected a property such as input.iban or output.customer.email`
      problems.push({ path: pathText([...path, 'sensitive', index]), message })
    }
  }
  const call: Tool['run'] = async (input, context) =>
    prune(await operation.call(input, context, callMs), schemas.output)
  const { lookup } = operation
  const find: Lookup | undefined =
    lookup &&
    (async (key, input, signal) => {
      const found = await lookup(key, input, signal, callMs)
      if (found === undefined) return undefined
      const output = fitToOutput(found, schemas.output)
      if (output !== undefined) return output
      throw new Error('what was found does not fit the output of the operation')
    })
  try {
    return defineSchemaTool({
      name: declared.tool,
      description: declared.description ?? operation.description,
      effect: declared.effect,
      ...(declared.effect === 'write' && {
        idempotent: idempotency !== undefined && idempotency.repeat !== false,
      }),
      requires: declared.requires ?? [],
      limits: declared.limits ?? [],
      states: declared.states ?? [],
      claims: declared.claims ?? [],
      ...schemas,
      timeoutMs: find === undefined ? callMs : callMs + withinMs,
      origin: operation.origin,
      run: find === undefined ? call : withLookup(call, find, withinMs),
    })
  } catch (error) {
    if (!isServiceError(error, 'TOOL_INVALID')) throw error
    for (const problem of error.details.problems) {
      problems.push({ path: pathText(path), message: `${problem.path} ${problem.message}`.trim() })
    }
    return undefined
  }
}

/**
 * Everything that is wrong with how an operation says that it is repeated and looked up, as far as that does not depend
 * on the kind of its source.
 */
export function idempotencyProblems(
  { effect, idempotency, lookup }: DeclaredOperation,
  path: readonly (string | number)[],
): readonly Problem[] {
  const problems: Problem[] = []
  const refuse = (field: string, message: string) =>
    problems.push({ path: pathText([...path, field]), message })
  if (effect === 'read' && idempotency !== undefined) {
    refuse('idempotency', 'stands on a read, which may always be repeated; remove it')
  }
  if (idempotency !== undefined) {
    const count = [idempotency.header, idempotency.field].filter((one) => one !== undefined).length
    if (count !== 1)
      refuse('idempotency', 'names the header or the field that takes the key, one of them')
  }
  if (lookup !== undefined && idempotency === undefined) {
    refuse(
      'lookup',
      'finds a call by its idempotency key; say under idempotency where the service gets that',
    )
  }
  return problems
}

/** The input of a look-up: the key, and what it takes of the call's input. */
export function lookupInput(
  { key: name, with: taken = {} }: { readonly key: string; readonly with?: Record<string, string> },
  key: string,
  input: JsonObject,
): JsonObject {
  const entries = Object.entries(taken).flatMap(([parameter, property]) => {
    const value = valueIn(input, property)
    return value === undefined ? [] : [[parameter, value]]
  })
  return Object.fromEntries([...entries, [name, key]])
}

/** What is wrong with the properties that a look-up takes of the call's input. */
export function takenProblems(
  taken: Readonly<Record<string, string>>,
  input: JsonSchema,
  path: readonly (string | number)[],
): readonly Problem[] {
  return Object.entries(taken).flatMap(([parameter, property]) => {
    const [first = ''] = property.split('.')
    const known = isJsonObject(input.properties) ? Object.keys(input.properties) : []
    if (known.includes(first)) return []
    const message = `the operation's input has no '${first}'.${didYouMean(first, known)}`
    return [{ path: pathText([...path, 'with', parameter]), message }]
  })
}

/** The one call that a look-up has found: its answer, or the only entry of the list in it. */
export function foundOne(answer: Json, list: string | undefined): Json | undefined {
  if (list === undefined) return answer
  const entries = valueIn(answer, list)
  if (!Array.isArray(entries)) throw new Error(`what was answered has no list '${list}'`)
  if (entries.length > 1) throw new Error(`${entries.length} were found in '${list}', and not one`)
  return entries[0]
}

function valueIn(value: Json, property: string): Json | undefined {
  let inner: Json | undefined = value
  for (const part of property.split('.')) {
    inner = isJsonObject(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined
  }
  return inner
}
