import { z } from 'zod'
import { clockDuration, strictShape, toolName, words } from '../domain/definition-fields.ts'
import { isJsonObject } from '../domain/json.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import { expectation, zodProblems } from '../domain/zod-problems.ts'
import { isHostEntry } from '../outbound/host-list.ts'

const text = (expected: string, pattern: RegExp) =>
  z.custom<string>((value) => typeof value === 'string' && pattern.test(value), expected)

const headerName = text(
  "the name of a header, such as 'X-Api-Key'",
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
)
const variable = text(
  "the name of a variable of the environment, such as 'DESK_TOKEN'",
  /^[A-Za-z_][A-Za-z0-9_]*$/,
)
const host = z.custom<string>(
  (value) => typeof value === 'string' && isHostEntry(value),
  "a host such as 'desk.example' or '127.0.0.1:8080'",
)
const httpUrl = text('an http or https URL', /^https?:\/\/\S+$/)
/** Where in a value a property lies: `amount`, `payment.amount`, in each item of a list `items.sku`. */
const property = text("the name of a property, such as 'amount' or 'payment.amount'", /^\S+$/)
const timeout = clockDuration(1_000, 24 * 60 * 60_000, 'from 1s to 24h')

const secret = strictShape({ secret: variable })

/** What shows a service who asks. The values stand in the environment. */
const credentials = strictShape({
  bearer: secret.optional(),
  header: strictShape({ name: headerName, secret: variable }).optional(),
  query: strictShape({ name: words(100), secret: variable }).optional(),
})

const lookup = strictShape({
  /** The operation that finds what became of a call. */
  operation: words(200),
  /** Its parameter, or argument, that takes the idempotency key of the call. */
  key: words(200),
  /** Its other parameters, each with the property of the call's input that it takes. */
  with: z.record(z.string(), property).optional(),
  /** The property of its answer that is a list; the call was made when exactly one stands there. */
  list: property.optional(),
  /** How long it is asked after a call whose outcome is unknown. */
  within: timeout.optional(),
})

const limit = strictShape({
  per: z.enum(['customer', 'procedure', 'tenant']),
  every: z.enum(['hour', 'day', 'week', 'month']),
  sum: words(200).optional(),
  atMost: z.number(),
})

const operation = strictShape({
  operation: words(500),
  tool: toolName,
  description: words(4_000).optional(),
  effect: z.enum(['read', 'write']),
  idempotency: strictShape({
    header: headerName.optional(),
    field: words(200).optional(),
    repeat: z.boolean().optional(),
  }).optional(),
  lookup: lookup.optional(),
  timeout: timeout.optional(),
  requires: z.array(toolName).optional(),
  limits: z.array(limit).optional(),
  states: z.array(words(200)).optional(),
  claims: z.array(words(200)).optional(),
  input: z.array(property).optional(),
  output: z.array(property).optional(),
  sensitive: z.array(property).optional(),
})

const common = {
  name: text('a name of 1 to 64 letters, digits, _ and -', /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/),
  credentials: credentials.optional(),
  allowPrivate: z.array(host).optional(),
  operations: z.array(operation).min(1),
}

const openapiSource = strictShape({
  ...common,
  openapi: words(2_000),
  server: httpUrl.optional(),
  hosts: z.array(host).optional(),
})

/** A text that stands here, or the name of the variable that holds it. */
const setting = z.custom<string | { readonly secret: string }>(
  (value) => typeof value === 'string' || secret.safeParse(value).success,
  'a text, or { secret: NAME } for what a variable of the environment holds',
)

const mcpSource = strictShape({
  ...common,
  mcp: strictShape({
    command: words(1_000).optional(),
    args: z.array(z.string()).optional(),
    env: z.record(variable, setting).optional(),
    url: httpUrl.optional(),
  }),
})

/** A source whose operations are described by an OpenAPI document. */
export type OpenapiSource = z.output<typeof openapiSource>
/** A source that is an MCP server. */
export type McpSource = z.output<typeof mcpSource>
export type DeclaredOperation = z.output<typeof operation>
export type DeclaredLookup = z.output<typeof lookup>
export type DeclaredCredentials = z.output<typeof credentials>

/** What another service offers, and which of it are tools here. See docs/sources.md. */
export type SourceDeclaration = z.input<typeof openapiSource> | z.input<typeof mcpSource>

/** A source that was read, or everything that is wrong with it. */
type ParsedSource =
  | { readonly openapi: OpenapiSource }
  | { readonly mcp: McpSource }
  | { readonly problems: readonly Problem[] }

/** Reads one source of a configuration. All problems come back at once, each with its path. */
export function parseSource(value: unknown, path: readonly (string | number)[]): ParsedSource {
  const isObject = isJsonObject(value)
  const isMcp = isObject && value.mcp !== undefined
  if (!isObject || isMcp === (value.openapi !== undefined)) {
    const expected =
      'a source: an object with openapi (a file or URL) or mcp (a server), one of them'
    return { problems: [{ path: pathText(path), message: expectation(value, expected) }] }
  }
  if (!isMcp) {
    const parsed = openapiSource.safeParse(value)
    return parsed.success ? { openapi: parsed.data } : problemsOf(parsed.error, value, path)
  }
  const parsed = mcpSource.safeParse(value)
  return parsed.success ? { mcp: parsed.data } : problemsOf(parsed.error, value, path)
}

function problemsOf(error: z.ZodError, value: unknown, path: readonly (string | number)[]) {
  const problems = zodProblems(error, value, path).map((problem) => ({
    ...problem,
    message: problem.message.replace(' Remove it, or put it under metadata.', ' Remove it.'),
  }))
  return { problems }
}
