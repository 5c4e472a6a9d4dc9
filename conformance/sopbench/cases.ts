import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'

/** One rule of a procedure: the name of a check, and which of the customer's data each of its inputs is. */
export interface Leaf {
  readonly check: string
  /** Input of the check to the name under which the customer supplies it. */
  readonly args: Readonly<Record<string, string>>
  readonly negate?: boolean | undefined
}

export type Tree =
  | Leaf
  | { readonly op: 'and' | 'or' | 'chain' | 'gate'; readonly of: readonly Tree[] }

const json = z.json() as z.ZodType<Json>
const jsonObject = z.record(z.string(), json) as z.ZodType<JsonObject>

const leafFields = {
  check: z.string(),
  args: z
    .record(z.string(), z.string())
    .nullish()
    .transform((args) => args ?? {}),
  negate: z
    .boolean()
    .nullish()
    .transform((negate) => negate ?? undefined),
}

const leaf = z.object(leafFields) as z.ZodType<Leaf>
const verdict = z.object({ ...leafFields, holds: z.boolean().nullable() }) as z.ZodType<
  Leaf & { readonly holds: boolean | null }
>

const tree: z.ZodType<Tree> = z.lazy(() =>
  z.union([z.object({ op: z.enum(['and', 'or', 'chain', 'gate']), of: z.array(tree) }), leaf]),
)

/** A tree without rules is written as null, as nothing, or as an empty list or object. */
const rules = z.preprocess(
  (value) => (isNothing(value) ? null : value),
  tree.nullable(),
) as z.ZodType<Tree | null>

function isNothing(value: unknown): boolean {
  if (value === undefined || value === 'None' || value === '') return true
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

const procedure = z.object({ id: z.string(), goal: z.string(), constraints: rules })

const caseShape = z.object({
  id: z.string(),
  goal: z.string(),
  procedure: z.string(),
  user: jsonObject.default({}),
  goalArgs: jsonObject.default({}),
  policy: jsonObject.nullish().transform((policy) => policy ?? {}),
  initialDatabase: jsonObject.default({}),
  checks: z.array(verdict).default([]),
  toolResults: z
    .array(
      z.object({ tool: z.string(), args: jsonObject, ok: z.boolean(), value: json.optional() }),
    )
    .default([]),
  expected: z.object({
    outcome: z.enum(['success', 'refused']),
    finalDatabase: jsonObject.optional(),
    databaseUnchanged: z.boolean().optional(),
    result: json.optional(),
    refusedBy: z
      .object({
        by: z.enum(['constraint', 'tool']),
        constraints: z.array(leaf).default([]),
      })
      .nullish(),
  }),
})

export type Procedure = z.infer<typeof procedure>
export type Case = z.infer<typeof caseShape>

const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? [])
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

const toolShape = z.object({
  /** Anything but a write and a session step reads. */
  kind: z.enum(['session', 'read', 'write']).catch('read'),
  /** A trailing `?` marks an input that may be left out. */
  inputs: texts,
  refuses: text,
  reads: text,
  writes: text,
  result: text,
})

/** `requires`: another session that has to be established first. */
const sessionShape = z.object({
  tool: z.string(),
  args: texts,
  requires: z.string().nullish(),
})

const checkShape = z.object({
  inputs: texts.transform((names) => names.map((name) => name.replace(/\?$/, ''))),
  holdsWhen: text,
  reads: text,
  via: texts,
})

export type ToolText = z.infer<typeof toolShape>
export type CheckText = z.infer<typeof checkShape>

export interface DomainTools {
  readonly state: string
  readonly session: Readonly<Record<string, z.infer<typeof sessionShape>>>
  readonly tools: Readonly<Record<string, ToolText>>
  readonly checks: Readonly<Record<string, CheckText>>
}

/** A domain: its procedures and cases, and what its tools and rules are said to do. */
export interface Domain {
  readonly name: string
  readonly procedures: readonly Procedure[]
  readonly cases: readonly Case[]
  readonly tools: DomainTools
  /** What could not be read of it: only the cases that need it fail. */
  readonly flaws?: Flaws
}

export interface Flaws {
  /** Cases, with what they were to come to where that can be told. */
  readonly cases: readonly {
    readonly id: string
    readonly outcome: Outcome
    readonly reason: string
  }[]
  /** Procedures, tools, sessions and checks, by name. */
  readonly parts: ReadonlyMap<string, string>
}

type Outcome = Case['expected']['outcome']

/** Reads every domain of a folder: each file beside `tools.json` that holds procedures and cases. */
export function readDomains(folder: string): readonly Domain[] {
  const tools = readTools(join(folder, 'tools.json'))
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'tools.json')
    .sort()
    .flatMap((name) => {
      const content = attempt(() => readJson(join(folder, name)))
      if ('problem' in content) return [unreadable(name, content.problem)]
      const { value } = content
      if (!isJsonObject(value) || !('procedures' in value || 'cases' in value)) return []
      return [domainOf(value, name.replace(/\.json$/, ''), tools)]
    })
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function unreadable(file: string, problem: string): Domain {
  const name = file.replace(/\.json$/, '')
  const cases = [{ id: file, outcome: 'success', reason: `${file}: ${problem}` } as const]
  return { name, procedures: [], cases: [], tools: noTools, flaws: { cases, parts: new Map() } }
}

const noTools: DomainTools = { state: '', session: {}, tools: {}, checks: {} }

type Read<T> = { readonly value: T } | { readonly problem: string }

function attempt(read: () => unknown): Read<unknown> {
  try {
    return { value: read() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** What `tools.json` says of each domain, or why it says nothing. */
function readTools(path: string): (domain: string) => Read<JsonObject> {
  const content = attempt(() => readJson(path))
  return (domain) => {
    if ('problem' in content) return { problem: `tools.json: ${content.problem}` }
    const found = isJsonObject(content.value) ? content.value[domain] : undefined
    if (found !== undefined && isJsonObject(found)) return { value: found }
    return { problem: `tools.json does not describe '${domain}'` }
  }
}

function domainOf(
  content: JsonObject,
  file: string,
  toolsOf: (domain: string) => Read<JsonObject>,
): Domain {
  const name = typeof content.domain === 'string' ? content.domain : file
  const parts = new Map<string, string>()
  const told = toolsOf(name)
  const described = 'value' in told ? told.value : {}
  const named = <T>(field: string, shape: z.ZodType<T>): Readonly<Record<string, T>> => {
    const found = described[field] ?? {}
    const entries = Object.entries(isJsonObject(found) ? found : {}).flatMap(([key, entry]) => {
      const read = shape.safeParse(entry)
      if (read.success) return [[key, read.data] as const]
      parts.set(key, `tools.json: ${key}: ${oneLine(read.error)}`)
      return []
    })
    return Object.fromEntries(entries)
  }
  const tools: DomainTools = {
    state: typeof described.state === 'string' ? described.state : '',
    session: named('session', sessionShape),
    tools: named('tools', toolShape),
    checks: named('checks', checkShape),
  }
  if ('problem' in told) parts.set(anyPart, told.problem)
  const procedures = listOf(content.procedures).flatMap((entry, index) => {
    const read = procedure.safeParse(entry)
    if (read.success) return [read.data]
    const odd = isJsonObject(entry) ? oddOperator(entry.constraints) : undefined
    parts.set(textIn(entry, 'id') ?? `procedure ${index}`, odd ?? oneLine(read.error))
    return []
  })
  const flawed: Flaws['cases'][number][] = []
  const cases = listOf(content.cases).flatMap((entry, index) => {
    const read = caseShape.safeParse(entry)
    if (read.success) return [read.data]
    const expected = isJsonObject(entry) ? entry.expected : undefined
    const outcome = textIn(expected, 'outcome') === 'refused' ? 'refused' : 'success'
    const id = textIn(entry, 'id') ?? `${name}/${index}`
    flawed.push({ id, outcome, reason: `the case cannot be read: ${oneLine(read.error)}` })
    return []
  })
  return { name, procedures, cases, tools, flaws: { cases: flawed, parts } }
}

const operators = ['and', 'or', 'chain', 'gate']

/** What is wrong with the operators of a tree that cannot be read. */
function oddOperator(node: Json | undefined): string | undefined {
  if (!isJsonObject(node) || 'check' in node) return undefined
  const op = textIn(node, 'op')
  if (op !== undefined && !operators.includes(op)) {
    return `the operator '${op}' is not known; there are ${operators.join(', ')}`
  }
  return listOf(node.of)
    .map(oddOperator)
    .find((found) => found !== undefined)
}

/** Under this name stands what is wrong with all that a domain's tools and rules are said to do. */
const anyPart = '*'

/** Why a procedure, tool or rule of a domain is not there; undefined where nobody knows of it. */
export function flawOf({ flaws }: Domain, part: string): string | undefined {
  return flaws?.parts.get(part) ?? flaws?.parts.get(anyPart)
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []
}

function textIn(value: Json | undefined, field: string): string | undefined {
  const found = isJsonObject(value) ? value[field] : undefined
  return typeof found === 'string' ? found : undefined
}

function oneLine(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .slice(0, 3)
    .join('; ')
}

/** The names of a tool's inputs, and whether each may be left out. */
export function inputsOf(tool: ToolText): readonly { name: string; optional: boolean }[] {
  return tool.inputs.map((text) => ({
    name: text.replace(/\?$/, ''),
    optional: text.endsWith('?'),
  }))
}
