import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { loadToolRegistry } from '../../src/context.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { openSources } from '../../src/tool-sources/open-sources.ts'
import { answerJson, serveOutside } from '../support/outside-service.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Desk', version: '1' },
  servers: [{ url: 'https://{region}.desk.example/v1', variables: { region: { default: 'eu' } } }],
  paths: {
    '/orders/{id}': {
      get: {
        operationId: 'getOrder',
        summary: 'Looks an order up.',
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 200: { $ref: '#/components/responses/order' } },
      },
      delete: {
        operationId: 'deleteOrder',
        summary: 'Deletes an order.',
        parameters: [{ $ref: '#/components/parameters/id' }],
        responses: { 204: { description: 'Done.' } },
      },
    },
    '/elsewhere': {
      servers: [{ url: 'https://other.example' }],
      get: { operationId: 'elsewhere', responses: { 200: { description: 'x' } } },
    },
    '/file': {
      put: {
        operationId: 'putFile',
        summary: 'Puts a file.',
        requestBody: { content: { 'multipart/form-data': { schema: {} } } },
        responses: { default: { description: 'x' } },
      },
    },
    '/a': { get: { operationId: 'twice', responses: {} } },
    '/b': { get: { operationId: 'twice', responses: {} } },
  },
  components: {
    parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    responses: {
      order: {
        description: 'It.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['id'],
              properties: {
                id: { type: 'string' },
                email: { type: 'string' },
                lines: {
                  type: 'array',
                  items: { type: 'object', properties: { sku: { type: 'string' } } },
                },
              },
            },
          },
        },
      },
    },
  },
}

const getOrder = { operation: 'getOrder', tool: 'get_order', effect: 'read' }
const desk = { name: 'desk', openapi: 'desk.yaml', operations: [getOrder] }

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwarden-source-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function open(sources: unknown, files: Readonly<Record<string, string>> = {}) {
  const folder = await folderWith({ 'desk.yaml': stringify(document), ...files })
  const opened = await openSources(sources, 'sources.yaml', { folder, isRunning: true })
  onTestFinished(opened.close)
  return opened.tools
}

async function problemsOf(sources: unknown, files: Readonly<Record<string, string>> = {}) {
  try {
    await open(sources, files)
    return []
  } catch (error) {
    if (!isServiceError(error, 'SOURCES_INVALID')) throw error
    return error.details.problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

/** The contract hash of `get_order`, with a change of the document and of the declaration. */
async function hashWith(change: (changed: typeof document) => void, declared: object = {}) {
  const changed = structuredClone(document)
  change(changed)
  const [tool] = await open([{ ...desk, ...declared }], { 'desk.yaml': stringify(changed) })
  return tool?.contractHash
}

test('what is listed becomes a tool, and nothing else does', async () => {
  const tools = await open([desk])

  expect(tools.map(({ contract }) => contract)).toEqual([
    {
      name: 'get_order',
      description: 'Looks an order up.',
      effect: 'read',
      idempotent: true,
      requires: [],
      limits: [],
      timeoutMs: 30_000,
      states: [],
      claims: [],
      input: {
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
        additionalProperties: false,
      },
      output: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          email: { type: 'string' },
          lines: {
            type: 'array',
            items: {
              type: 'object',
              properties: { sku: { type: 'string' } },
              additionalProperties: false,
            },
          },
        },
        required: ['id'],
        additionalProperties: false,
      },
      origin: {
        kind: 'openapi',
        method: 'GET',
        url: 'https://eu.desk.example/v1/orders/{id}',
        parameters: [{ name: 'id', in: 'path', explode: false }],
        answers: [{ status: '200', content: 'json' }],
      },
    },
  ])
})

test('a declaration may say more of a tool than its document', async () => {
  const [tool] = await open([
    {
      ...desk,
      operations: [
        {
          operation: 'DELETE /orders/{id}',
          tool: 'remove',
          effect: 'write',
          description: 'Takes it away.',
          timeout: '5s',
          requires: ['get_order'],
          limits: [{ per: 'tenant', every: 'day', atMost: 3 }],
        },
        {
          ...getOrder,
          output: ['id', 'email', 'lines.sku'],
          states: ['open'],
          sensitive: ['output.email', 'input.id', 'output.lines.sku'],
        },
      ],
    },
  ]).then((tools) => tools.toReversed())

  expect(tool?.contract).toMatchObject({
    input: { properties: { id: { sensitive: true } } },
    output: {
      properties: {
        email: { sensitive: true },
        lines: { items: { properties: { sku: { sensitive: true } } } },
      },
    },
    states: ['open'],
  })
})

describe('the contract changes', () => {
  it.each<[string, (changed: typeof document) => void, object?]>([
    [
      'with the path',
      (changed) => {
        const { '/orders/{id}': moved, ...rest } = changed.paths
        Object.assign(changed, { paths: { ...rest, '/v2/orders/{id}': moved } })
      },
    ],
    [
      'with the server',
      (changed) => Object.assign(changed, { servers: [{ url: 'https://new.example' }] }),
    ],
    [
      'with where a parameter goes',
      (changed) => Object.assign(changed.components.parameters.id, { in: 'query' }),
    ],
    [
      'with what a parameter may be',
      (changed) => Object.assign(changed.components.parameters.id.schema, { maxLength: 3 }),
    ],
    [
      'with the answer',
      (changed) =>
        changed.components.responses.order.content['application/json'].schema.required.push(
          'email',
        ),
    ],
    [
      'with the status of success',
      (changed) =>
        Object.assign(changed.paths['/orders/{id}'].get, {
          responses: { 203: changed.components.responses.order },
        }),
    ],
    [
      'with what it is said to do',
      (changed) => Object.assign(changed.paths['/orders/{id}'].get, { summary: 'Deletes all.' }),
    ],
  ])('%s', async (_what, change) => {
    const before = await hashWith(() => {})

    expect(await hashWith(change)).toMatch(/^[0-9a-f]{64}$/)
    expect(await hashWith(change)).not.toBe(before)
  })

  it.each<[string, (changed: typeof document) => void, object?]>([
    [
      'another operation does',
      (changed) => Object.assign(changed.paths['/file'].put, { summary: 'Else.' }),
    ],
    [
      'an example does',
      (changed) => Object.assign(changed.components.parameters.id.schema, { example: 'x' }),
    ],
    ['the secrets have other names', () => {}, { credentials: { bearer: { secret: 'PATH' } } }],
    [
      'properties change places',
      (changed) => {
        const { schema } = changed.components.responses.order.content['application/json']
        Object.assign(schema, {
          properties: Object.fromEntries(Object.entries(schema.properties).reverse()),
        })
      },
    ],
  ])('not when %s', async (_what, change, declared) => {
    expect(await hashWith(change, declared)).toBe(await hashWith(() => {}))
  })
})

describe('everything that is wrong is told at once, each with its path', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['no list', {}, ['sources: found an object, expected a list of sources']],
    [
      'no source',
      ['desk'],
      [
        "sources[0]: found 'desk', expected a source: an object with openapi (a file or URL) or mcp (a server), one of them",
      ],
    ],
    [
      'two kinds in one',
      [{ ...desk, mcp: { command: 'x' } }],
      ['sources[0]: found an object, expected a source'],
    ],
    [
      'fields',
      [
        {
          ...desk,
          oprations: 1,
          operations: [{ ...getOrder, effect: 'reed', tool: 'Get Order', timeout: '0s' }],
        },
      ],
      [
        "sources[0].operations[0].tool: found 'Get Order', expected",
        "sources[0].operations[0].effect: found 'reed', expected one of read or write. Did you mean 'read'?",
        "sources[0].operations[0].timeout: found '0s', expected a duration from 1s to 24h, such as 30s or 10m",
        "sources[0].oprations: is not a known field. Did you mean 'operations'?",
      ],
    ],
    [
      'a secret in the file',
      [{ ...desk, credentials: { bearer: 'abc123' } }],
      ["sources[0].credentials.bearer: found 'abc123', expected an object"],
    ],
    [
      'a secret that is not set',
      [{ ...desk, credentials: { bearer: { secret: 'NOT_SET_HERE' } } }],
      [
        'sources[0].credentials.bearer.secret: the environment has no NOT_SET_HERE; set it where the service runs',
      ],
    ],
    [
      'hosts',
      [{ ...desk, hosts: ['us.desk.example'], allowPrivate: ['http://x/'] }],
      ["sources[0].allowPrivate[0]: found 'http://x/', expected a host"],
    ],
    [
      'a server that is not among the hosts',
      [{ ...desk, hosts: ['us.desk.example'] }],
      ["sources[0].openapi: eu.desk.example is none of 'hosts': us.desk.example"],
    ],
    [
      'a server without TLS',
      [{ ...desk, server: 'http://desk.example' }],
      [
        "sources[0].server: http://desk.example is not asked without TLS, unless desk.example stands in 'allowPrivate'",
      ],
    ],
    [
      'a server with a password',
      [{ ...desk, server: 'https://a:b@desk.example' }],
      ['sources[0].server: the server has a user, a password'],
    ],
    [
      'names',
      [
        {
          ...desk,
          operations: [
            { ...getOrder, operation: 'getOrdr' },
            { ...getOrder, operation: 'GET /order/{id}' },
            { operation: 'twice', tool: 'a', effect: 'read' },
            { operation: 'elsewhere', tool: 'b', effect: 'read' },
          ],
        },
      ],
      [
        "sources[0].operations[0].operation: the document has no operation 'getOrdr'. Did you mean 'getOrder'?",
        "sources[0].operations[1].operation: the document has no 'GET /order/{id}'. Did you mean '/orders/{id}'?",
        "sources[0].operations[2].operation: the document has two operations 'twice'",
        "sources[0].operations[3].operation: 'elsewhere' has a server of its own",
        "sources[0].operations[1].tool: 'get_order' stands at sources[0].operations[0].tool, too; give it another name",
      ],
    ],
    [
      'what cannot be sent',
      [{ ...desk, operations: [{ operation: 'putFile', tool: 'put_file', effect: 'write' }] }],
      [
        "sources[0].operations[0]: #/paths/~1file/put/requestBody/content found 'multipart/form-data', expected application/json",
        'sources[0].operations[0]: #/paths/~1file/put/responses says nothing of success',
      ],
    ],
    [
      'what a write would be',
      [
        {
          ...desk,
          operations: [
            {
              operation: 'deleteOrder',
              tool: 'delete_order',
              effect: 'read',
              idempotency: { header: 'X' },
            },
            {
              ...getOrder,
              tool: 'b',
              effect: 'write',
              idempotency: {},
              lookup: { operation: 'getOrder', key: 'ref' },
            },
            {
              ...getOrder,
              tool: 'c',
              effect: 'write',
              idempotency: { field: 'ref' },
              lookup: { operation: 'deleteOrder', key: 'id', with: { id: 'no' } },
            },
            {
              ...getOrder,
              tool: 'd',
              effect: 'write',
              lookup: { operation: 'getOrder', key: 'id' },
            },
          ],
        },
      ],
      [
        'sources[0].operations[0].idempotency: stands on a read, which may always be repeated; remove it',
        'sources[0].operations[0].effect: found read on a DELETE, which changes something; expected write',
        'sources[0].operations[1].idempotency: names the header or the field that takes the key, one of them',
        "sources[0].operations[1].lookup.key: 'getOrder' has no parameter 'ref'.",
        "sources[0].operations[1].lookup.with: 'getOrder' needs 'id'; say which property of the input it is",
        "sources[0].operations[2]: #/paths/~1orders~1{id}/get has no body whose field 'ref' could take the idempotency key",
        "sources[0].operations[2].lookup.operation: 'deleteOrder' is a DELETE, and a look-up is a GET",
        "sources[0].operations[2].lookup.with.id: the operation's input has no 'no'.",
        'sources[0].operations[3].lookup: finds a call by its idempotency key; say under idempotency where the service gets that',
      ],
    ],
    [
      'properties',
      [
        {
          ...desk,
          operations: [
            { ...getOrder, output: ['emial'], input: ['nothing'], tool: 'a' },
            { ...getOrder, tool: 'b', sensitive: ['email', 'output.nothing'] },
          ],
        },
      ],
      [
        "sources[0].operations[0]: #/components/parameters/id 'id' is required; name it in 'input', too",
        "has no property 'emial', which 'output' of the operation names. Did you mean 'email'?",
        "sources[0].operations[1].sensitive[0]: found 'email', expected a property such as input.iban or output.customer.email",
        "sources[0].operations[1].sensitive[1]: found 'output.nothing', expected",
      ],
    ],
    [
      'limits',
      [
        {
          ...desk,
          operations: [
            { ...getOrder, limits: [{ per: 'tenant', every: 'day', sum: 'amount', atMost: 1 }] },
          ],
        },
      ],
      ['sources[0].operations[0]: limits[0].sum'],
    ],
    [
      'a document that is not there',
      [{ ...desk, openapi: 'none.yaml' }],
      ['sources[0].openapi: the document cannot be read: ENOENT'],
    ],
  ])('%s', async (_what, sources, expected) => {
    const problems = await problemsOf(sources)

    for (const text of expected) expect(problems).toContainEqual(expect.stringContaining(text))
  })

  it.each([
    ['swagger: "2.0"\npaths: {}\n', "found '2.0', expected a document of OpenAPI 3.0 or 3.1"],
    ['openapi: 4.0.0\n', "found '4.0.0', expected"],
    ['{"openapi": ', 'the document cannot be read'],
    ['openapi: [', 'the document cannot be read'],
    ['', 'expected a document of OpenAPI 3.0 or 3.1'],
  ])('a document that is none: %s', async (text, problem) => {
    expect(await problemsOf([desk], { 'desk.yaml': text })).toEqual([
      expect.stringContaining(`sources[0].openapi: `),
    ])
    expect(await problemsOf([desk], { 'desk.yaml': text })).toEqual([
      expect.stringContaining(problem),
    ])
  })

  it('names of an input that nothing takes', async () => {
    const operation = { ...getOrder, input: ['id', 'limt'] }

    expect(await problemsOf([{ ...desk, operations: [operation] }])).toEqual([
      "sources[0].operations[0]: #/paths/~1orders~1{id}/get takes no 'limt', which 'input' of the operation names.",
    ])
  })

  it('in a file also with line and column', async () => {
    const folder = await folderWith({
      'desk.yaml': stringify(document),
      'sources.yaml':
        'sources:\n  - name: desk\n    openapi: desk.yaml\n    operations:\n      - operation: getOrdr\n        tool: get_order\n        effect: read\n',
    })

    await expect(
      loadToolRegistry({ toolModule: join(folder, 'sources.yaml') }),
    ).rejects.toMatchObject({
      code: 'SOURCES_INVALID',
      message: expect.stringContaining(
        "Did you mean 'getOrder'? It may also be named as 'GET /path'. (line 5, column 9)",
      ),
    })
  })
})

test('who only looks at the tools needs no secrets', async () => {
  const source = { ...desk, credentials: { bearer: { secret: 'NOT_SET_HERE' } } }
  const folder = await folderWith({
    'desk.yaml': stringify(document),
    'sources.yaml': stringify({ sources: [source] }),
  })

  const { current } = await loadToolRegistry({ toolModule: join(folder, 'sources.yaml') })

  expect([...current.keys()]).toEqual(['get_order'])
})

describe('a document at a URL', () => {
  it('is read without credentials, and its server may be relative', async () => {
    vi.stubEnv('DESK_TOKEN', 'a-very-secret-token')
    const service = await serveOutside((request, response) => {
      if (request.path === '/api/doc') response.writeHead(302, { location: '/api/openapi' }).end()
      else answerJson(response, { ...document, servers: [{ url: '/v2' }] })
    })
    const source = {
      ...desk,
      openapi: `${service.url}/api/doc`,
      allowPrivate: [service.host],
      credentials: { bearer: { secret: 'DESK_TOKEN' } },
    }

    const [tool] = await open([source])

    expect(tool?.contract.origin).toMatchObject({ url: `${service.url}/v2/orders/{id}` })
    expect(JSON.stringify(service.seen)).not.toContain('secret')
  })

  it.each<[string, (url: string) => object, string]>([
    ['is not there', (url) => ({ openapi: `${url}/no` }), 'answered with status 404'],
    ['is a redirect inside', (url) => ({ openapi: `${url}/inside` }), 'answered with status 302'],
    ['is private', () => ({ openapi: 'https://10.0.0.1/doc' }), 'is not allowed'],
    ['is nowhere', () => ({ openapi: 'https://nowhere.invalid/doc' }), 'was not reached'],
  ])('that %s is unavailable, and says whose it is', async (_what, change, problem) => {
    const service = await serveOutside((request, response) => {
      if (request.path === '/no') response.writeHead(404).end()
      else response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    })

    const opening = open([{ ...desk, allowPrivate: [service.host], ...change(service.url) }])

    await expect(opening).rejects.toMatchObject({ code: 'SOURCE_UNAVAILABLE', retryable: true })
    await expect(opening).rejects.toThrow(problem)
    await expect(opening).rejects.toThrow("'desk'")
  })
})

describe('a document of 2,000 operations', () => {
  const ids = Array.from({ length: 2_000 }, (_, n) => n)
  const large = {
    ...document,
    paths: Object.fromEntries(
      ids.map((n) => [
        `/things/${n}/{id}`,
        {
          get: {
            operationId: `getThing${n}`,
            summary: `Gets thing ${n}.`,
            description: 'Several words\nthat say more.',
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
            responses: {
              200: {
                description: 'It.',
                content: {
                  'application/json': { schema: { $ref: `#/components/schemas/Thing${n}` } },
                },
              },
            },
          },
        },
      ]),
    ),
    components: {
      schemas: Object.fromEntries(
        ids.map((n) => [
          `Thing${n}`,
          {
            type: 'object',
            properties: {
              id: { type: 'string' },
              next: { $ref: `#/components/schemas/Thing${(n + 1) % 2_000}` },
            },
          },
        ]),
      ),
    },
  }
  const operations = [
    { operation: 'getThing1999', tool: 'get_thing', effect: 'read', output: ['id', 'next.id'] },
  ]

  it.each([
    ['JSON', JSON.stringify(large)],
    ['YAML', stringify(large, { aliasDuplicateObjects: false })],
  ])('is read only where it is listed: %s', async (_what, text) => {
    const parsing = performance.now()
    JSON.parse(JSON.stringify(large))
    const unit = performance.now() - parsing
    const from = performance.now()

    const [tool] = await open([{ ...desk, operations }], { 'desk.yaml': text })

    // A parser of YAML takes hundreds of times as long as one of JSON.
    expect(performance.now() - from).toBeLessThan(1_000 + 50 * unit)
    expect(tool?.contract.output).toMatchObject({
      properties: { next: { properties: { id: {} } } },
    })
  })

  it('that goes round in circles says so', async () => {
    const [operation] = operations
    expect(
      await problemsOf([{ ...desk, operations: [{ ...operation, output: ['next'] }] }], {
        'desk.yaml': JSON.stringify(large),
      }),
    ).toEqual([
      expect.stringMatching(
        /#\/components\/schemas\/Thing\d+.* is more than 40 levels deep; name the properties that are wanted, with 'output: \[\.\.\.\]'/,
      ),
    ])
  })
})
