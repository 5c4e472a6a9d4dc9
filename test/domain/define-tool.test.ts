import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { defineTool, type ToolDeclaration } from '../../src/domain/define-tool.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { newId } from '../../src/domain/ids.ts'
import { compileSchema } from '../../src/domain/json-schema.ts'
import type { ToolContext } from '../../src/domain/tool.ts'

const issueRefund = {
  name: 'issue_refund',
  description: 'Refunds a transaction once.',
  input: z.object({
    transactionId: z
      .string()
      .regex(/^TXN-[A-Z]+-[0-9]{3}$/)
      .describe("The customer's transaction id"),
    amount: z.number().min(0.01).max(10_000).multipleOf(0.01).optional(),
    card: z.string().max(20).meta({ sensitive: true }).optional(),
  }),
  output: z.object({
    issued: z.boolean(),
    state: z.enum(['submitted', 'processing']),
    etaBusinessDays: z.int().nullable(),
    at: z.iso.datetime().optional(),
  }),
  effect: 'write',
  idempotent: true,
  requires: ['check_refund', 'check_transaction'],
  timeout: '10s',
  states: ['submitted', 'processing'],
  claims: ['refunded'],
  run: async () => ({ issued: true, state: 'submitted' as const, etaBusinessDays: 5 }),
} as const satisfies ToolDeclaration<z.ZodObject, z.ZodType>

const context: ToolContext = {
  idempotencyKey: 'key',
  signal: new AbortController().signal,
  tenantId: 'default',
  executionId: newId('execution', 0),
  principal: { id: 'kim', kind: 'human', roles: ['agent'], groups: [], tenantId: 'default' },
}

/** Problems of a tool with this input, as `path: message`. */
function problemsOf(change: Partial<ToolDeclaration<z.ZodObject, z.ZodType>>): readonly string[] {
  try {
    defineTool({ ...issueRefund, ...change })
    return []
  } catch (error) {
    if (!isServiceError(error, 'TOOL_INVALID')) throw error
    return error.details.problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

describe('the contract', () => {
  test('says all that its users rely on, with closed objects', () => {
    const { contract } = defineTool(issueRefund)

    expect(contract).toEqual({
      name: 'issue_refund',
      description: 'Refunds a transaction once.',
      effect: 'write',
      idempotent: true,
      requires: ['check_refund', 'check_transaction'],
      limits: [],
      timeoutMs: 10_000,
      states: ['processing', 'submitted'],
      claims: ['refunded'],
      input: {
        type: 'object',
        additionalProperties: false,
        required: ['transactionId'],
        properties: {
          transactionId: {
            type: 'string',
            pattern: '^TXN-[A-Z]+-[0-9]{3}$',
            description: "The customer's transaction id",
          },
          amount: { type: 'number', minimum: 0.01, maximum: 10_000, multipleOf: 0.01 },
          card: { type: 'string', maxLength: 20, sensitive: true },
        },
      },
      output: {
        type: 'object',
        additionalProperties: false,
        required: ['issued', 'state', 'etaBusinessDays'],
        properties: {
          issued: { type: 'boolean' },
          state: { type: 'string', enum: ['submitted', 'processing'] },
          etaBusinessDays: {
            anyOf: [
              { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
              { type: 'null' },
            ],
          },
          at: { type: 'string', format: 'date-time' },
        },
      },
    })
  })

  test('keeps its hash', () => {
    // Versions in databases pin this value: a release of zod or of this code that changes it stops them as changed.
    expect(defineTool(issueRefund).contractHash).toBe(
      'b95ef730615e1fc2ad8311c760a148d119039307ba49c644b6e441f1c80bdef1',
    )
  })

  test('cannot be changed once it has its hash, nor the code that runs under it', () => {
    const tool = defineTool(issueRefund)

    expect(() => Object.assign(tool.contract, { effect: 'read' })).toThrow(TypeError)
    expect(() => Object.assign(tool.contract.input, { type: 'string' })).toThrow(TypeError)
    expect(() => Object.assign(tool, { run: async () => null })).toThrow(TypeError)
  })

  test('does not depend on the order of names', () => {
    const other = {
      ...issueRefund,
      requires: ['check_transaction', 'check_refund', 'check_refund'],
    }

    expect(defineTool(other).contractHash).toBe(defineTool(issueRefund).contractHash)
  })

  test.each<[string, Partial<ToolDeclaration<z.ZodObject, z.ZodType>>]>([
    ['description', { description: 'Refunds.' }],
    ['effect', { effect: 'read' }],
    ['idempotent', { idempotent: false }],
    ['requires', { requires: [] }],
    ['timeout', { timeout: '11s' }],
    ['claims', { claims: [] }],
    ['input', { input: z.object({}) }],
    ['output', { output: z.object({}) }],
  ])('has another hash after a change of %s', (_field, change) => {
    const declaration: ToolDeclaration<z.ZodObject, z.ZodType> = { ...issueRefund, ...change }

    expect(defineTool(declaration).contractHash).not.toBe(defineTool(issueRefund).contractHash)
  })

  test('of a read is idempotent, takes 30 s and requires nothing unless it says so', () => {
    const { contract } = defineTool({
      name: 'check',
      description: 'Looks.',
      input: z.object({}),
      output: z.string(),
      effect: 'read',
      run: async () => 'seen',
    })

    expect(contract).toMatchObject({
      idempotent: true,
      timeoutMs: 30_000,
      requires: [],
      states: [],
    })
  })

  test('has schemas that compile and say what zod says', () => {
    const { contract } = defineTool(issueRefund)
    const input = compileSchema(contract.input)

    expect(input.problems({ transactionId: 'TXN-A-001', amount: 19.99 })).toEqual([])
    expect(input.problems({ transactionId: 'TXN-A-001', extra: 1 })).toHaveLength(1)
  })
})

describe('a declaration', () => {
  const refused = 'cannot be said in JSON Schema; check it in run, and throw ToolRefused'
  test.each<[string, z.ZodType, string]>([
    ['refine', z.string().refine((text) => text !== 'x'), `refine() ${refused}`],
    ['superRefine', z.string().superRefine(() => {}), `refine() ${refused}`],
    ['transform', z.string().transform((text) => text.length), `z.pipe() ${refused}`],
    ['pipe', z.string().pipe(z.string()), `z.pipe() ${refused}`],
    ['preprocess', z.preprocess(String, z.string()), `z.pipe() ${refused}`],
    ['trim', z.string().trim(), `the check overwrite ${refused}`],
    ['default', z.string().default('x'), `z.default() ${refused}`],
    ['prefault', z.string().prefault('x'), `z.prefault() ${refused}`],
    ['catch', z.string().catch('x'), `z.catch() ${refused}`],
    [
      'coerce',
      z.coerce.number(),
      'coerces what it is given, which JSON Schema cannot say; ask for the type itself',
    ],
    ['custom', z.custom(() => true), `z.custom() ${refused}`],
    ['a date', z.date(), `z.date() ${refused}`],
    ['a bigint', z.bigint(), `z.bigint() ${refused}`],
    ['a map', z.map(z.string(), z.string()), `z.map() ${refused}`],
    ['a set', z.set(z.string()), `z.set() ${refused}`],
    ['undefined', z.undefined(), `z.undefined() ${refused}`],
    ['an intersection', z.intersection(z.object({}), z.object({})), `z.intersection() ${refused}`],
    ['a lazy schema', z.lazy(() => z.string()), `z.lazy() ${refused}`],
    [
      'a format without a name',
      z.string().startsWith('a'),
      'the format starts_with has no name in JSON Schema; write it with regex()',
    ],
    [
      'a named format of zod alone',
      z.cuid2(),
      'the format cuid2 has no name in JSON Schema; write it with regex()',
    ],
  ])('is refused for %s, with the path', (_name, type, message) => {
    expect(problemsOf({ input: z.object({ a: z.array(type) }) })).toEqual([
      `input.a["*"]: ${message}`,
    ])
    expect(problemsOf({ output: z.object({ a: type.optional() }) })).toEqual([
      `output.a: ${message}`,
    ])
  })

  test('is refused for a rule on the whole object, in a union, a record or a tuple', () => {
    const rule = z.object({ a: z.string() }).refine(() => true)

    expect(problemsOf({ output: rule })).toEqual([`output: refine() ${refused}`])
    expect(problemsOf({ output: z.union([z.null(), rule]) })).toEqual([
      `output: refine() ${refused}`,
    ])
    expect(problemsOf({ output: z.record(z.string(), rule) })).toEqual([
      `output["*"]: refine() ${refused}`,
    ])
    expect(problemsOf({ output: z.tuple([z.null(), rule]) })).toEqual([
      `output[1]: refine() ${refused}`,
    ])
    expect(problemsOf({ output: z.tuple([z.null()], rule) })).toEqual([
      `output["*"]: refine() ${refused}`,
    ])
    expect(problemsOf({ output: z.object({}).catchall(rule) })).toEqual([
      `output["*"]: refine() ${refused}`,
    ])
  })

  test('is refused for a schema that refers to itself', () => {
    const tree = z.object({
      get child() {
        return tree.optional()
      },
    })

    expect(problemsOf({ output: tree })).toEqual([
      'output.child: refers to itself; write the levels out that are needed',
    ])
  })

  test('is refused for a pattern that is not linear', () => {
    expect(problemsOf({ output: z.string().regex(/(?=a)/) })[0]).toContain(
      'output.pattern: the pattern',
    )
  })

  test('tells all its problems at once', () => {
    const problems = problemsOf({
      name: 'Issue Refund',
      description: ' ',
      effect: 'read',
      idempotent: false,
      requires: ['Issue Refund'],
      timeout: '2 workdays',
      input: z.object({ at: z.date() }),
      output: z.bigint(),
    })

    expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
      ...['name', 'description', 'idempotent', 'requires', 'timeout', 'input.at', 'output'],
    ])
  })

  test.each<[string, z.ZodType]>([
    ['any and unknown', z.object({ a: z.any(), b: z.unknown() })],
    ['a record', z.record(z.string(), z.number())],
    ['a tuple', z.tuple([z.string(), z.number()])],
    [
      'a union',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
    ],
    ['literals', z.literal(['a', 3])],
    ['an open object', z.looseObject({ a: z.string() })],
    ['a strict object', z.strictObject({ a: z.string().readonly() })],
    [
      'formats with a name',
      z.tuple([z.email(), z.uuid(), z.url(), z.ipv4(), z.iso.date(), z.iso.datetime()]),
    ],
    ['lengths', z.array(z.string().min(1).max(3).length(2)).min(1).max(2)],
    ['nothing', z.null()],
  ])('may use %s', (_name, output) => {
    expect(problemsOf({ output })).toEqual([])
  })
})

test('run is typed by the schemas and is given what the contract let through', async () => {
  const tool = defineTool({
    ...issueRefund,
    run: async (input, { idempotencyKey }) => {
      expectTypeOf(input.transactionId).toEqualTypeOf<string>()
      expectTypeOf(input.amount).toEqualTypeOf<number | undefined>()
      const issued = input.transactionId === 'TXN-A-001' && idempotencyKey === 'key'
      return { issued, state: 'submitted' as const, etaBusinessDays: null }
    },
  })

  const output = await tool.run({ transactionId: 'TXN-A-001' }, context)

  expect(output).toEqual({ issued: true, state: 'submitted', etaBusinessDays: null })
})
