import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Secret } from '../../src/config/secret.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import type { OpenAiConnection } from '../../src/openai/client.ts'

/** What the server does with one request, whichever it is. */
type Misbehaviour =
  /** An HTTP error. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Never answers, or stops in the middle of the answer. */
  | { readonly hang: 'before' | 'within' }
  /** A body that is sent as it is, with status 200. */
  | { readonly raw: string; readonly contentType?: string }
  /** Ends the connection without an answer. */
  | { readonly drop: true }
  /** A body that never ends, or a compressed one of a gigabyte. */
  | { readonly flood: 'endless' | 'compressed' }

/** What `POST /responses` answers with: `text` or `json` is what the model says. */
export type ResponseStep =
  | Misbehaviour
  | { readonly json: Json }
  | { readonly text: string }
  | { readonly refusal: string }
  | { readonly cutOff: 'max_output_tokens' | 'content_filter' }

/**
 * What `POST /embeddings` answers with. `floats`: what a compatible server does that has never heard of base64.
 * `missing`: an answer with one vector too few. `reversed`: the vectors in another order, as their `index` says.
 */
export type EmbeddingStep =
  | Misbehaviour
  | {
      readonly vectors:
        | 'empty'
        | 'wrong_size'
        | 'nan'
        | 'zero'
        | 'floats'
        | 'missing'
        | 'reversed'
        | ((text: string) => readonly number[])
    }

/** A request as it came in. */
export interface ReceivedRequest {
  /** Without the version: `/responses`, `/embeddings`. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
}

type Step<T> = T | ((request: ReceivedRequest) => T)

/** A server on this machine that speaks as much of the API as Stepwarden uses, and lies when it is told to. */
export interface OpenAiServer extends AsyncDisposable {
  /** How it is reached, with the one key that it takes. */
  readonly connection: OpenAiConnection
  readonly requests: readonly ReceivedRequest[]
  /** What the next requests get, in order; the last stands for all after it. Forgets the requests so far. */
  respond(...steps: readonly Step<ResponseStep>[]): void
  /** The same for embeddings; at first each text gets a vector of its own. */
  embed(...steps: readonly Step<EmbeddingStep>[]): void
}

/** The models that the server knows. `dimensions` is how long the vectors of the embedding model are. */
export interface OpenAiServerOptions {
  readonly models?: readonly string[]
  readonly dimensions?: number
}

const key = 'sk-test-0123456789abcdef'

export async function startOpenAiServer({
  models = ['gpt-test', 'text-embedding-3-small'],
  dimensions = 1536,
}: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const requests: ReceivedRequest[] = []
  let responses: readonly Step<ResponseStep>[] = [{ text: 'Nothing was scripted.' }]
  let embeddings: readonly Step<EmbeddingStep>[] = [
    { vectors: (text) => vectorOf(text, dimensions) },
  ]
  let count = 0

  function next<T extends object>(steps: readonly Step<T>[], request: ReceivedRequest): T {
    const step = steps[Math.min(count, steps.length - 1)]
    if (step === undefined) throw new TypeError('the script has at least one step')
    count += 1
    return typeof step === 'function' ? step(request) : step
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse(await textOf(request))
    const path = (request.url ?? '').replace(/^\/v1/, '')
    if (!isJsonObject(body)) return sendError(response, 400, 'invalid_request')
    const received = { path, headers: request.headers, body }
    requests.push(received)
    if (request.headers.authorization !== `Bearer ${key}`) {
      // OpenAI repeats what it was given, as this does.
      const given = request.headers.authorization
      return sendError(response, 401, 'invalid_api_key', `Incorrect API key provided: ${given}`)
    }
    if (typeof body.model !== 'string' || !models.includes(body.model)) {
      return sendError(response, 404, 'model_not_found')
    }
    if (path === '/responses') {
      const flaw = formatFlaw(body)
      if (flaw !== undefined) return sendError(response, 400, 'invalid_schema', flaw)
      const step = next(responses, received)
      return isMisbehaviour(step)
        ? misbehave(response, step)
        : sendJson(response, responseOf(body.model, step))
    }
    if (path === '/embeddings') {
      const step = next(embeddings, received)
      return isMisbehaviour(step)
        ? misbehave(response, step)
        : sendJson(response, embeddingsOf(body, dimensions, step.vectors))
    }
    sendError(response, 404, 'unknown_url')
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      sendError(response, 500, 'test_server', String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    connection: { apiKey: new Secret(key), baseUrl: `http://127.0.0.1:${port}/v1` },
    requests,
    respond(...steps) {
      responses = steps
      count = 0
      requests.length = 0
    },
    embed(...steps) {
      embeddings = steps
      count = 0
      requests.length = 0
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function isMisbehaviour(step: ResponseStep | EmbeddingStep): step is Misbehaviour {
  return ['status', 'hang', 'raw', 'drop', 'flood'].some((name) => name in step)
}

function misbehave(response: ServerResponse, step: Misbehaviour): void {
  if ('status' in step) {
    sendError(response, step.status, 'scripted', 'Scripted by the test.', step.headers)
  } else if ('raw' in step) {
    response.setHeader('content-type', step.contentType ?? 'application/json')
    response.end(step.raw)
  } else if ('drop' in step) {
    response.destroy()
  } else if ('flood' in step) {
    flood(response, step.flood)
  } else if (step.hang === 'within') {
    response.setHeader('content-type', 'application/json')
    response.write('{"object": "response", ')
  }
}

function flood(response: ServerResponse, kind: 'endless' | 'compressed'): void {
  response.setHeader('content-type', 'application/json')
  if (kind === 'compressed') response.setHeader('content-encoding', 'gzip')
  const spaces = Buffer.alloc(1024 * 1024, ' ')
  let count = 0
  const source = new Readable({
    read() {
      count += 1
      this.push(kind === 'compressed' && count > 1024 ? null : spaces)
    },
  })
  // That the reader goes away is how it should end.
  const onEnd = () => {}
  if (kind === 'compressed') pipeline(source, createGzip(), response, onEnd)
  else pipeline(source, response, onEnd)
}

function sendJson(response: ServerResponse, body: Json): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  message = code,
  headers: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  sendJson(response, { error: { message, code, type: 'invalid_request_error', param: null } })
}

type Said = Exclude<ResponseStep, Misbehaviour>

function responseOf(model: string, step: Said): Json {
  const content =
    'refusal' in step
      ? [{ type: 'refusal', refusal: step.refusal }]
      : 'cutOff' in step
        ? [{ type: 'output_text', text: '{"text": "We have', annotations: [] }]
        : [{ type: 'output_text', text: textOfStep(step), annotations: [] }]
  return {
    id: 'resp_test',
    object: 'response',
    created_at: 0,
    model,
    status: 'cutOff' in step ? 'incomplete' : 'completed',
    incomplete_details: 'cutOff' in step ? { reason: step.cutOff } : null,
    error: null,
    // A reasoning model puts an item before its message.
    output: [
      { type: 'reasoning', id: 'rs_test', summary: [] },
      { type: 'message', id: 'msg_test', role: 'assistant', status: 'completed', content },
    ],
  }
}

function textOfStep(
  step: Exclude<Said, { readonly refusal: string } | { readonly cutOff: string }>,
) {
  return 'json' in step ? JSON.stringify(step.json) : step.text
}

/** What OpenAI refuses about a structured output in strict mode; undefined for one that it takes. */
function formatFlaw(body: JsonObject): string | undefined {
  const format = isJsonObject(body.text) ? body.text.format : undefined
  if (!isJsonObject(format) || format.type !== 'json_schema') return undefined
  if (typeof format.name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(format.name)) return 'name'
  return format.strict === true ? schemaFlaw(format.schema, 'schema') : undefined
}

const strictKeywords = new Set(
  (
    '$defs $ref additionalProperties anyOf const description enum exclusiveMaximum exclusiveMinimum format items ' +
    'maxItems maximum minItems minimum multipleOf pattern properties required title type'
  ).split(' '),
)

function schemaFlaw(schema: Json | undefined, path: string): string | undefined {
  if (!isJsonObject(schema)) return `${path} is no object`
  const unknown = Object.keys(schema).find((keyword) => !strictKeywords.has(keyword))
  if (unknown !== undefined) return `${path}: '${unknown}' is not permitted`
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  if (schema.type === 'object' || schema.properties !== undefined) {
    if (schema.additionalProperties !== false) return `${path}: additionalProperties must be false`
    const required = Array.isArray(schema.required) ? schema.required : []
    const free = Object.keys(properties).find((name) => !required.includes(name))
    if (free !== undefined) return `${path}: '${free}' must be required`
  }
  const inner = [
    ...Object.entries(properties),
    ...(schema.items === undefined ? [] : [['items', schema.items] as const]),
    ...(Array.isArray(schema.anyOf) ? [...schema.anyOf.entries()] : []),
  ]
  for (const [name, value] of inner) {
    const flaw = schemaFlaw(value, `${path}.${name}`)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

type Vectors = Extract<EmbeddingStep, { readonly vectors: unknown }>['vectors']

function embeddingsOf(body: JsonObject, dimensions: number, vectors: Vectors): Json {
  const texts = (Array.isArray(body.input) ? body.input : [body.input]).map(String)
  const isBase64 = body.encoding_format === 'base64' && vectors !== 'floats'
  const data = texts.map((text, index): Json => {
    const vector = damaged(
      typeof vectors === 'function' ? vectors(text) : vectorOf(text, dimensions),
      vectors,
    )
    // JSON knows no NaN: a server that has one writes null.
    const floats = vector.map((value) => (Number.isFinite(value) ? value : null))
    return { object: 'embedding', index, embedding: isBase64 ? toBase64(vector) : floats }
  })
  if (vectors === 'missing') data.pop()
  if (vectors === 'reversed') data.reverse()
  const usage = { prompt_tokens: 0, total_tokens: 0 }
  return { object: 'list', model: body.model ?? null, data, usage }
}

function damaged(vector: readonly number[], how: Vectors): readonly number[] {
  switch (how) {
    case 'empty':
      return []
    case 'wrong_size':
      return vector.slice(1)
    case 'nan':
      return [Number.NaN, ...vector.slice(1)]
    case 'zero':
      return vector.map(() => 0)
    default:
      return vector
  }
}

/** A vector by the words of a text, so that texts with the same words are alike. */
function vectorOf(text: string, dimensions: number): readonly number[] {
  const vector = new Array<number>(dimensions).fill(0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    let place = 7
    for (const character of word)
      place = (place * 31 + (character.codePointAt(0) ?? 0)) % dimensions
    vector[place] = (vector[place] ?? 0) + 1
  }
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
