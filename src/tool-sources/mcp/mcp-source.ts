import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { defaultToolTimeoutMs } from '../../domain/defaults.ts'
import { durationMs } from '../../domain/duration.ts'
import { ServiceError } from '../../domain/errors.ts'
import { isJsonObject, type JsonSchema } from '../../domain/json.ts'
import { didYouMean } from '../../domain/nearest-name.ts'
import { type Problem, pathText } from '../../domain/problem.ts'
import type { Tool } from '../../domain/tool.ts'
import { createOutbound } from '../../outbound/create-outbound.ts'
import { hostList } from '../../outbound/host-list.ts'
import {
  createSecretReader,
  maskOf,
  readCredentials,
  revealedHeaders,
  type SecretReader,
} from '../credentials.ts'
import {
  foundOne,
  idempotencyProblems,
  lookupInput,
  makeTool,
  takenProblems,
} from '../make-tool.ts'
import type { OpenSource, SourceOptions } from '../open-source.ts'
import { documentOf } from '../openapi/api-document.ts'
import { convertSchema, type Side } from '../openapi/convert-schema.ts'
import { oneLine } from '../outcome.ts'
import { propertyTree } from '../property-tree.ts'
import type { DeclaredOperation, McpSource } from '../source-shape.ts'
import { callServer, type McpAsking } from './call.ts'
import { createConnection, type McpConnection } from './connection.ts'
import { commandTransport, httpTransport, maxAnswerBytes } from './transport.ts'

type Path = readonly (string | number)[]

/** The output of a tool that does not say what its answers look like. */
const textOutput: JsonSchema = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
}

/**
 * Opens a source that is an MCP server: it is started or asked at once, because it alone knows what its tools are. The
 * listed ones become tools.
 *
 * @throws ServiceError `SOURCE_UNAVAILABLE` when it cannot be reached now.
 */
export async function openMcpSource(
  source: McpSource,
  path: Path,
  { folder }: SourceOptions,
  problems: Problem[],
): Promise<OpenSource> {
  const found: Problem[] = []
  const reader = createSecretReader(found)
  const server = openServer(source, path, folder, reader, found)
  problems.push(...found)
  const { operations } = source
  for (const [n, operation] of operations.entries()) {
    problems.push(...idempotencyProblems(operation, [...path, 'operations', n]))
  }
  // What is wrong so far keeps the server from being asked as it is meant to be.
  if (server === undefined || found.length > 0) return { tools: [], close: async () => {} }
  const { connection, close, complaint } = server
  const mask = maskOf(reader.secrets)
  let offered: ReadonlyMap<string, McpTool>
  try {
    offered = await connection.listTools()
  } catch (error) {
    await close()
    const reason = error instanceof Error ? error.message : String(error)
    const problem = oneLine([reason, complaint()].filter((text) => text !== '').join(': '), mask)
    // Without its cause: that holds what the server said as it said it, and nothing is taken out of it.
    throw new ServiceError('SOURCE_UNAVAILABLE', { source: source.name, problem })
  }
  const asking = { name: source.name, connection, mask }
  const tools = operations.map((operation, n) =>
    readTool(source, asking, offered, operation, [...path, 'operations', n], problems),
  )
  return { tools, close }
}

interface OpenServer {
  readonly connection: McpConnection
  readonly close: () => Promise<void>
  /** What the server has written beside its answers. */
  readonly complaint: () => string
}

function openServer(
  source: McpSource,
  path: Path,
  folder: string,
  reader: SecretReader,
  problems: Problem[],
): OpenServer | undefined {
  const { name, mcp, credentials, allowPrivate = [], operations } = source
  const { command, args = [], env = {}, url } = mcp
  const at = [...path, 'mcp']
  const refuse = (message: string, ...rest: Path) => {
    problems.push({ path: pathText([...at, ...rest]), message })
    return undefined
  }
  if ((command === undefined) === (url === undefined)) {
    return refuse('names the command that starts the server, or the url where it is: one of them')
  }
  if (command !== undefined) {
    if (credentials !== undefined) {
      const message = "are sent over HTTP; give a command what it needs in 'env'"
      problems.push({ path: pathText([...path, 'credentials']), message })
    }
    const environment = Object.entries(env).flatMap(([variable, value]) => {
      if (typeof value === 'string') return [[variable, value]]
      const secret = reader.read(value.secret, [...at, 'env', variable])
      return secret === undefined ? [] : [[variable, secret.reveal()]]
    })
    let complaint = () => ''
    const connection = createConnection(name, () => {
      const opened = commandTransport(command, args, Object.fromEntries(environment), folder)
      complaint = opened.complaint
      return opened.transport
    })
    return { connection, close: connection.close, complaint: () => complaint() }
  }
  const target = new URL(url ?? '')
  if (target.username !== '' || target.password !== '') {
    return refuse('has a user or a password in it; say under credentials who asks', 'url')
  }
  if (target.protocol !== 'https:' && !hostList(allowPrivate).includes(target)) {
    return refuse(
      `${target.origin} is not asked without TLS, unless ${target.host} stands in 'allowPrivate'`,
      'url',
    )
  }
  const shown = readCredentials(credentials, reader, [...path, 'credentials'])
  for (const [parameter, secret] of Object.entries(shown.query)) {
    target.searchParams.set(parameter, secret.reveal())
  }
  const timeoutMs = Math.max(defaultToolTimeoutMs, ...operations.map(callMs))
  const outbound = createOutbound({ allowPrivate, timeoutMs, maxBytes: maxAnswerBytes })
  const connection = createConnection(name, () =>
    httpTransport(target.href, revealedHeaders(shown), outbound),
  )
  const close = async () => {
    await connection.close()
    await outbound.close()
  }
  return { connection, close, complaint: () => '' }
}

function callMs({ timeout }: DeclaredOperation): number {
  return timeout === undefined ? defaultToolTimeoutMs : durationMs(timeout)
}

function readTool(
  source: McpSource,
  asking: McpAsking,
  offered: ReadonlyMap<string, McpTool>,
  declared: DeclaredOperation,
  path: Path,
  problems: Problem[],
): Tool | undefined {
  const refuse = (message: string, ...rest: Path) =>
    void problems.push({ path: pathText([...path, ...rest]), message })
  const { operation: name, idempotency: key, lookup } = declared
  const tool = offered.get(name)
  if (tool === undefined) {
    refuse(`the server has no tool '${name}'.${didYouMean(name, offered.keys())}`, 'operation')
    return undefined
  }
  const found: Problem[] = []
  const input = inputOf(tool, declared, found)
  const output =
    tool.outputSchema === undefined
      ? textOutput
      : convert(tool.outputSchema, 'output', declared.output ?? [], found)
  for (const { path: place, message } of found) refuse(`${place} ${message}`)
  if (key?.header !== undefined) {
    refuse(
      'a tool of MCP takes its key as an argument; name that as field',
      'idempotency',
      'header',
    )
  }
  const finder = lookup && offered.get(lookup.operation)
  if (lookup !== undefined && finder === undefined) {
    const hint = didYouMean(lookup.operation, offered.keys())
    refuse(`the server has no tool '${lookup.operation}'.${hint}`, 'lookup', 'operation')
  }
  if (lookup !== undefined)
    problems.push(...takenProblems(lookup.with ?? {}, input, [...path, 'lookup']))
  if (found.length > 0) return undefined
  const field = key?.field
  return makeTool(
    declared,
    {
      description: tool.description ?? tool.title ?? '',
      input,
      output,
      origin: {
        kind: 'mcp',
        server: source.mcp.url ?? source.name,
        tool: name,
        ...(field !== undefined && { key: { field } }),
        ...(lookup && {
          lookup: {
            tool: lookup.operation,
            key: lookup.key,
            ...(lookup.with && { with: { ...lookup.with } }),
            ...(lookup.list !== undefined && { list: lookup.list }),
          },
        }),
      },
      call: (given, { idempotencyKey, signal, traceparent }, timeoutMs) =>
        callServer(asking, {
          tool: name,
          input: field === undefined ? given : { ...given, [field]: idempotencyKey },
          isStructured: tool.outputSchema !== undefined,
          signal,
          traceparent,
          timeoutMs,
        }),
      ...(lookup &&
        finder && {
          lookup: async (value, given, signal, timeoutMs) =>
            foundOne(
              await callServer(asking, {
                tool: lookup.operation,
                input: lookupInput(lookup, value, given),
                isStructured: finder.outputSchema !== undefined,
                signal,
                timeoutMs,
              }),
              lookup.list,
            ),
        }),
    },
    path,
    problems,
  )
}

/** The input of a tool, without the argument that takes the idempotency key. */
function inputOf(tool: McpTool, declared: DeclaredOperation, problems: Problem[]): JsonSchema {
  const wanted = declared.input ?? []
  const field = declared.idempotency?.field
  const keep = field === undefined || wanted.length === 0 ? wanted : [...wanted, field]
  const schema = convert(tool.inputSchema, 'input', keep, problems)
  const { [field ?? '']: own, ...properties } = isJsonObject(schema.properties)
    ? schema.properties
    : {}
  if (field !== undefined && own === undefined) {
    const message = `the tool has no argument '${field}' that could take the idempotency key`
    problems.push({ path: '#/properties', message })
  }
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => name !== field)
    : []
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: schema.additionalProperties ?? false,
  }
}

function convert(
  schema: object,
  side: Side,
  wanted: readonly string[],
  problems: Problem[],
): JsonSchema {
  const part = { node: schema, place: [], open: [] }
  return convertSchema(documentOf(schema), part, side, propertyTree(wanted), problems)
}
