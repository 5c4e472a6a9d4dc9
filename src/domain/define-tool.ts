import type { z } from 'zod'
import { defaultToolTimeoutMs } from './defaults.ts'
import { parseDurationMs } from './duration.ts'
import { ServiceError } from './errors.ts'
import type { Json, JsonObject, JsonSchema } from './json.ts'
import { schemaProblems } from './json-schema.ts'
import type { Problem } from './problem.ts'
import {
  contractHash,
  type Tool,
  type ToolContext,
  type ToolContract,
  type ToolEffect,
} from './tool.ts'
import { limitProblems, sortedLimits, type ToolLimit } from './tool-limit.ts'
import { toolSchema } from './tool-schema.ts'
import { expectation } from './zod-problems.ts'

/** How a tool is declared. See docs/tools.md. */
export interface ToolDeclaration<I extends z.ZodObject, O extends z.ZodType> {
  /** 1 to 64 lower-case letters, digits and `_`, beginning with a letter. */
  readonly name: string
  /** For authors and models: what the tool does and when to use it. */
  readonly description: string
  readonly input: I
  readonly output: O
  readonly effect: ToolEffect
  /**
   * For writes: true when two calls with one idempotency key, even at once, have the effect of one. Default false.
   * Reads always are, and say nothing.
   */
  readonly idempotent?: boolean
  /** Names of tools that must have completed in the same execution before. Default none. */
  readonly requires?: readonly string[]
  /**
   * How much it may be used in fixed windows of time: `{ per: 'customer', every: 'day', sum: 'amount', atMost: 500 }`, or
   * without `sum` so many calls. A call beyond one is not made, and its run escalates. Default none.
   */
  readonly limits?: readonly ToolLimit[]
  /** Per attempt, `1s` to `24h`. Default `30s`. */
  readonly timeout?: string
  /** State words of the output that a reply may name. Default none. */
  readonly states?: readonly string[]
  /**
   * What a reply may say was done: `a refund was issued`, if every call completed and answered `issued: true` and
   * nothing that denies it. A claim that has no "was" or "were" before its act is never said. Default none.
   */
  readonly claims?: readonly string[]
  /**
   * Does the work. Both `input` and what it answers are validated with the contract's schemas by the caller. Throws
   * `ToolRefused` or `ToolFailed` when it certainly did nothing.
   */
  readonly run: (input: z.output<I>, context: ToolContext) => Promise<z.output<O>>
}

const namePattern = /^[a-z][a-z0-9_]{0,63}$/

/** A tool whose schemas are JSON Schemas already, because they come from elsewhere; all else as in `ToolDeclaration`. */
export interface SchemaToolDeclaration
  extends Pick<
    ToolDeclaration<z.ZodObject, z.ZodType>,
    'name' | 'description' | 'effect' | 'idempotent' | 'requires' | 'limits' | 'states' | 'claims'
  > {
  readonly input: JsonSchema
  readonly output: JsonSchema
  readonly origin: JsonObject
  /** Per attempt, from a second to a day. */
  readonly timeoutMs: number
  readonly run: Tool['run']
}

/**
 * Makes a tool from its declaration. The zod schemas become the JSON Schemas of the contract, which alone decide what
 * fits: see `toolSchema` for what they cannot say. Lists of names are sorted, so that their order is no change.
 *
 * @throws ServiceError `TOOL_INVALID` with every problem of the declaration.
 */
export function defineTool<I extends z.ZodObject, O extends z.ZodType>(
  declaration: ToolDeclaration<I, O>,
): Tool {
  const problems: Problem[] = []
  const { timeout } = declaration
  const timeoutMs = timeout === undefined ? defaultToolTimeoutMs : parseDurationMs(timeout)
  if (timeoutMs === undefined || !isTimeout(timeoutMs)) {
    const message = expectation(timeout, 'a duration from 1s to 24h, such as 30s')
    problems.push({ path: 'timeout', message })
  }
  const input = zodSchemaOf(declaration.input, 'input', problems)
  const output = zodSchemaOf(declaration.output, 'output', problems)
  // The caller has validated the input with the schema that was made from this type, so it has the type.
  // What it answers is any value until the caller has read and validated it.
  const run: Tool['run'] = (json, context) =>
    declaration.run(json as z.output<I>, context) as Promise<Json>
  const given = { ...declaration, input, output, run }
  // What is no time-out was told just now.
  const timeLimit = timeoutMs !== undefined && isTimeout(timeoutMs) ? timeoutMs : undefined
  return toolOf({ ...given, timeoutMs: timeLimit ?? defaultToolTimeoutMs }, problems)
}

/**
 * Makes a tool whose schemas come from elsewhere.
 *
 * @throws ServiceError `TOOL_INVALID` with every problem of the declaration.
 */
export function defineSchemaTool(declaration: SchemaToolDeclaration): Tool {
  return toolOf(declaration, [
    ...schemaProblems(declaration.input, ['input']),
    ...schemaProblems(declaration.output, ['output']),
  ])
}

function toolOf(
  declaration: Omit<SchemaToolDeclaration, 'origin'> & { readonly origin?: JsonObject },
  ofSchemas: readonly Problem[],
): Tool {
  const { name, description, effect, requires = [], limits = [] } = declaration
  const { states = [], claims = [], input, output, origin } = declaration
  const problems: Problem[] = []
  const refuse = (path: string, message: string) => problems.push({ path, message })
  if (!namePattern.test(name)) {
    refuse('name', expectation(name, '1 to 64 lower-case letters, digits and _, from a letter on'))
  }
  if (description.trim() === '')
    refuse('description', 'is empty; say what the tool does and when to use it')
  if (effect === 'read' && declaration.idempotent === false) {
    refuse('idempotent', 'found false on a read, which may always be repeated; remove it')
  }
  if (requires.includes(name))
    refuse('requires', 'names the tool itself, so that it could never run')
  if (!isTimeout(declaration.timeoutMs)) {
    refuse('timeout', 'adds up to more than 24h, or less than 1s')
  }
  problems.push(...ofSchemas, ...limitProblems(limits, input))
  if (problems.length > 0) throw new ServiceError('TOOL_INVALID', { tool: name, problems })
  const contract: ToolContract = {
    name,
    description: description.trim(),
    effect,
    idempotent: effect === 'read' || (declaration.idempotent ?? false),
    requires: sortedSet(requires),
    limits: sortedLimits(limits),
    input,
    output,
    timeoutMs: declaration.timeoutMs,
    states: sortedSet(states),
    claims: sortedSet(claims),
    ...(origin && { origin }),
  }
  return Object.freeze({
    contract: deepFreeze(contract),
    contractHash: contractHash(contract),
    run: declaration.run,
  })
}

function isTimeout(ms: number): boolean {
  return ms >= 1_000 && ms <= 86_400_000
}

function zodSchemaOf(type: z.ZodType, path: 'input' | 'output', problems: Problem[]): JsonSchema {
  const result = toolSchema(type, [path])
  const found = 'problems' in result ? result.problems : schemaProblems(result.schema, [path])
  problems.push(...found)
  return 'schema' in result ? result.schema : {}
}

function sortedSet(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}

/** What was hashed must stay what runs. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return value
}
