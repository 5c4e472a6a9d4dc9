import { type ErrorCode, errorCodes } from '../domain/errors.ts'
import { statusOfKind } from '../domain/http-status.ts'
import { commonErrors } from '../operations/define.ts'
import { headerOfField, takesQuery } from './places.ts'
import { problemType } from './problem.ts'
import { isStart, successStatus } from './respond.ts'
import { eventsPath, type Route, routes } from './routes.ts'
import { inputSchema, outputSchema } from './schemas.ts'

type Schema = Readonly<Record<string, unknown>>

/** An OpenAPI 3.1 document, as far as this door reads it again. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: Schema
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly [member: string]: unknown
}

export interface OpenApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters: readonly Schema[]
  readonly requestBody?: Schema
  readonly responses: Readonly<Record<string, Schema>>
}

/** What any request may be refused with before an operation sees it. */
const doorErrors: readonly ErrorCode[] = [
  ...commonErrors,
  'HTTP_INVALID',
  'CREDENTIAL_MISSING',
  'KEY_REFUSED',
  'RATE_LIMITED',
  'ISSUER_UNAVAILABLE',
  'DATABASE_UNAVAILABLE',
]
const bodyErrors: readonly ErrorCode[] = ['BODY_TOO_LARGE', 'MEDIA_TYPE_UNSUPPORTED']

/** The OpenAPI 3.1 document of this door, made from the registry of operations. */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  const named: Record<string, unknown> = { Problem: problemSchema }
  for (const route of routes) {
    Object.assign(named, inputSchema(route.operation).named, outputSchema(route.operation).named)
    const path = `/v1${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route) }
  }
  paths[eventsPath] = { get: eventsOperation }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stepwarden',
      version,
      description:
        'Governs and runs support playbooks: approved, versioned procedures, walked step by step, recorded, and answered from the record.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key: `sw_<tenant>_…`' },
      },
      schemas: named,
    },
  }
}

const tags = [
  ['procedures', 'Playbooks: their versions, reviews, and what is live'],
  ['executions', 'Tickets and the runs of playbooks'],
  ['escalations', 'What waits for a person'],
  [
    'learning',
    'What agents and runs have experienced, the lessons of it, and the drafts that it proposes',
  ],
  ['audit', 'What was done and by whom, and the proof of it'],
  ['settings', 'Tools, calendar, embedding models, webhooks, principals and keys'],
] as const

function toOperation(route: Route): OpenApiOperation {
  const { method, operation, pathFields } = route
  const { properties, required, schema } = inputSchema(operation)
  const inQuery = takesQuery(method)
  const parameters: Schema[] = []
  const rest: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const { description, ...found } = property
    const about = description === undefined ? {} : { description }
    const header = headerOfField.get(name)
    if (pathFields.includes(name)) {
      parameters.push({ name, in: 'path', required: true, ...about, schema: found })
    } else if (header !== undefined) {
      const isRequired = header === 'If-Match'
      const text = isRequired
        ? { description: 'The ETag of the draft as it was read: `"3"`' }
        : about
      parameters.push({
        name: header,
        in: 'header',
        required: isRequired,
        ...text,
        schema: { type: 'string' },
      })
    } else if (inQuery) {
      parameters.push({
        name,
        in: 'query',
        required: required.includes(name),
        ...about,
        schema: found,
      })
    } else rest[name] = property
  }
  if (isStart(operation)) parameters.push(preferParameter)
  const left = required.filter((name) => name in rest)
  const body = { ...schema, properties: rest, required: left }
  return {
    operationId: route.id,
    summary: operation.summary,
    description: `For ${operation.roles.join(', ')}.`,
    tags: [tagOf(route.path)],
    parameters,
    ...(!inQuery && {
      requestBody: {
        required: left.length > 0,
        content: { 'application/json': { schema: body } },
      },
    }),
    responses: {
      [successStatus(route)]: {
        description: 'Done',
        content: { 'application/json': { schema: outputSchema(operation).schema } },
      },
      ...(isStart(operation) && { 202: goingResponse }),
      ...problemResponses([
        ...doorErrors,
        ...(inQuery ? [] : bodyErrors),
        ...('revision' in properties ? (['PRECONDITION_MISSING'] as const) : []),
        ...operation.errors,
      ]),
    },
  }
}

const preferParameter: Schema = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    'How long to wait for the run: `wait=N`, 0 to 60 seconds, 30 by default; `respond-async`: not at all (RFC 7240)',
  schema: { type: 'string' },
}

const goingResponse: Schema = {
  description: 'The run is stored and goes on. `Location` says where its record is.',
  headers: { Location: { schema: { type: 'string' } } },
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: { executionId: { type: 'string' } },
        required: ['executionId'],
      },
    },
  },
}

/** Problem responses by status, each with the codes that it may carry. */
function problemResponses(codes: readonly ErrorCode[]): Readonly<Record<string, Schema>> {
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of codes) {
    const kind = errorCodes.get(code)?.kind ?? 'internal'
    const known = byStatus.get(statusOfKind[kind]) ?? new Set()
    byStatus.set(statusOfKind[kind], known.add(code))
  }
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => [
      String(status),
      {
        description: [...found].join(', '),
        content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

const problemSchema: Schema = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status', 'detail', 'code', 'details', 'retryable', 'requestId'],
  properties: {
    type: { type: 'string', description: '`urn:stepwarden:error:CODE`' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: {
      type: 'string',
      description: 'What was found, what was expected, and what to do next',
    },
    code: { type: 'string', description: 'Stable; docs/errors.md lists them all' },
    details: { description: 'What the message speaks of, by code' },
    retryable: {
      type: 'boolean',
      description: 'The same request may succeed later without being changed',
    },
    requestId: { type: 'string' },
  },
}

const eventsOperation: OpenApiOperation = {
  operationId: 'streamExecutionEvents',
  summary: 'Follow a run as it goes',
  description:
    'Server-sent events: `step` for each step that began, waits or ended, `execution` when its status changes, `reply`, and `end`. `Last-Event-ID` goes on where a stream was cut off; 204 when there is nothing more to come.',
  tags: ['executions'],
  parameters: [
    { name: 'executionId', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
  ],
  responses: {
    200: {
      description: 'The stream',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    204: { description: 'The run has ended, and the client has seen all of it' },
    ...problemResponses([...doorErrors, 'EXECUTION_NOT_FOUND', 'STREAMS_EXHAUSTED']),
  },
}

function tagOf(path: string): (typeof tags)[number][0] {
  const [, noun = ''] = path.split('/')
  if (['procedures', 'schedules', 'backtests', 'insights', 'stats'].includes(noun))
    return 'procedures'
  if (['search', 'resolve', 'executions', 'outside-executions', 'waiting-steps'].includes(noun))
    return 'executions'
  if (noun === 'escalations') return 'escalations'
  if (/^(experience|lesson|proposal|gap)/.test(noun)) return 'learning'
  return ['audit', 'erasures', 'retention'].includes(noun) ? 'audit' : 'settings'
}
