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

export type Tree = Leaf | { readonly op: 'and' | 'or' | 'chain' | 'gate'; readonly of: Tree[] }

const json = z.json() as z.ZodType<Json>
const jsonObject = z.record(z.string(), json) as z.ZodType<JsonObject>

const leaf = z.object({
  check: z.string(),
  args: z.record(z.string(), z.string()),
  negate: z.boolean().optional(),
})

const tree: z.ZodType<Tree> = z.lazy(() =>
  z.union([z.object({ op: z.enum(['and', 'or', 'chain', 'gate']), of: z.array(tree) }), leaf]),
)

const procedure = z.object({ id: z.string(), goal: z.string(), constraints: tree.nullable() })

const caseShape = z.object({
  id: z.string(),
  goal: z.string(),
  procedure: z.string(),
  user: jsonObject,
  goalArgs: jsonObject,
  policy: jsonObject.default({}),
  initialDatabase: jsonObject,
  checks: z.array(leaf.extend({ holds: z.boolean().nullable() })).default([]),
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
        constraints: z.array(leaf.extend({ args: leaf.shape.args.default({}) })).default([]),
      })
      .optional(),
  }),
})

export type Procedure = z.infer<typeof procedure>
export type Case = z.infer<typeof caseShape>

const texts = z.array(z.string())

const toolShape = z.object({
  kind: z.enum(['session', 'read', 'write']),
  /** A trailing `?` marks an input that may be left out. */
  inputs: texts,
  refuses: z.string().default(''),
  reads: z.string().default(''),
  writes: z.string().default(''),
  result: z.string().default(''),
})

const domainTools = z.object({
  state: z.string().default(''),
  session: z.record(
    z.string(),
    z.object({ tool: z.string(), args: texts, requires: z.string().optional() }),
  ),
  tools: z.record(z.string(), toolShape),
  checks: z.record(
    z.string(),
    z.object({ inputs: texts, holdsWhen: z.string(), reads: z.string().default(''), via: texts }),
  ),
})

export type DomainTools = z.infer<typeof domainTools>
export type ToolText = z.infer<typeof toolShape>
export type CheckText = DomainTools['checks'][string]

/** A domain: its procedures and cases, and what its tools and rules are said to do. */
export interface Domain {
  readonly name: string
  readonly procedures: readonly Procedure[]
  readonly cases: readonly Case[]
  readonly tools: DomainTools
}

const domainFile = z.object({
  domain: z.string(),
  procedures: z.array(procedure),
  cases: z.array(caseShape),
})

/** Reads every domain of a folder: each file beside `tools.json` that holds procedures and cases. */
export function readDomains(folder: string): readonly Domain[] {
  const tools = z.record(z.string(), domainTools).parse(readJson(join(folder, 'tools.json')))
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'tools.json')
    .sort()
    .flatMap((name) => {
      const content = readJson(join(folder, name))
      if (!isJsonObject(content) || !('procedures' in content)) return []
      const file = domainFile.safeParse(content)
      if (!file.success) throw new Error(`${name}: ${z.prettifyError(file.error)}`)
      const { domain, procedures, cases } = file.data
      const known = tools[domain]
      if (known === undefined) throw new Error(`${name}: tools.json does not describe '${domain}'`)
      return [{ name: domain, procedures, cases, tools: known }]
    })
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** The names of a tool's inputs, and whether each may be left out. */
export function inputsOf(tool: ToolText): readonly { name: string; optional: boolean }[] {
  return tool.inputs.map((text) => ({
    name: text.replace(/\?$/, ''),
    optional: text.endsWith('?'),
  }))
}
