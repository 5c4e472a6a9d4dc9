import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readDocument } from '../../src/documents/read-document.ts'
import { writeDocument } from '../../src/documents/write-document.ts'
import { definitionHash } from '../../src/domain/definition.ts'
import { importDefinition } from '../../src/domain/import-definition.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { unknownFieldText } from '../../src/domain/zod-problems.ts'

/**
 * The notations are told of in articles, as code and prose, so that no document can be cut out of them. These two are
 * such as that code stores: every field of its records, with values of a support desk.
 */
function stored(name: string): JsonObject {
  const text = readFileSync(new URL(`./imports/${name}.json`, import.meta.url), 'utf8')
  const { value } = readDocument(text, { name })
  if (!isJsonObject(value)) throw new TypeError(`${name} is no object`)
  return value
}

const learned = stored('learned')
const support = stored('support')
const [firstStep = {}] = Object(learned.steps)

function imported(value: unknown, isTool?: (name: string) => boolean) {
  const result = importDefinition(value, isTool)
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result
}

function problemsOf(value: unknown): readonly string[] {
  const result = importDefinition(value)
  return 'problems' in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : []
}

const notesOf = (value: unknown) =>
  imported(value).notes.map(({ path, message }) => `${path}: ${message}`)

/** The same document with every field's name put through `rename`; names that are data stay. */
function renamed(value: Json, rename: (name: string) => string): Json {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isData = ['parameters', 'metadata'].includes(name)
      if (name === 'parameters_schema' && isJsonObject(member)) {
        const entries = Object.entries(member).map(([key, one]) => [key, renamed(one, rename)])
        return [rename(name), Object.fromEntries(entries)]
      }
      return [rename(name), isData ? member : renamed(member, rename)]
    }),
  )
}

const pascal = (name: string) =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
const camel = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe('a procedure that an agent has learned', () => {
  test('becomes a definition', () => {
    expect(imported(learned).definition).toEqual({
      key: 'REFUND_STATUS',
      name: 'Refund status',
      description: 'Tells a customer where the refund is.',
      issuePatterns: learned.trigger_conditions,
      input: {
        type: 'object',
        required: ['transaction_id'],
        properties: {
          transaction_id: { type: 'string', description: "The customer's transaction id" },
          language: { type: 'string', default: 'en' },
        },
      },
      steps: [
        {
          key: 'look_the_transaction_up',
          action: 'Look the transaction up',
          tool: 'check_transaction',
          with: { transactionId: '{{input.transaction_id}}' },
          expectedOutput: 'The state of the transaction',
          timeout: '10s',
          retry: { maxAttempts: 2, delay: '0s' },
        },
        {
          key: 'see_whether_a_refund_exists',
          action: 'See whether a refund exists',
          tool: 'check_refund',
          with: { transactionId: '{{input.transaction_id}}' },
          timeout: '30s',
        },
        {
          key: 'ask_the_bank_when_it_arrives',
          action: 'Ask the bank when it arrives',
          ask: 'agent',
          message:
            'Ask the bank when it arrives\ntransaction: {{input.transaction_id}}\nrefund: {{steps.see_whether_a_refund_exists.output.state}}',
          answer: { type: 'string', description: 'A date' },
          expectedOutput: 'A date',
        },
        {
          key: 'tell_the_customer',
          action: 'Tell the customer',
          tool: 'notify_customer',
          with: { message: '{{steps.ask_the_bank_when_it_arrives.output}}' },
          expectedOutput: 'The customer knows',
          timeout: '3s',
          required: false,
          onError: 'continue',
        },
      ],
      successCriteria: 'The customer knows when the money arrives',
    })
  })

  test('loses nothing without a word', () => {
    expect(notesOf(learned)).toEqual([
      'name: the key is REFUND_STATUS from now on, made from the name',
      'parameters_schema.language.default: a default is shown and never filled in; the parameter may be left out, so what reads it must ask for it first',
      'id: a procedure is known by its key; left out',
      'execution_count: figures are of the runs that are made here; left out',
      'success_count: figures are of the runs that are made here; left out',
      'avg_duration_seconds: figures are of the runs that are made here; left out',
      'steps[2]: names no tool, so an agent is asked to do it and to answer with a text; its parameters stand in the question',
      'steps[2].timeout_seconds: is for the call of a tool, and a person is asked; left out, set a deadline',
      'steps[2].error_handling: is for the call of a tool, and a person is asked; left out',
      'steps[3].timeout_seconds: durations are whole seconds, so 2.5 became 3s',
    ])
  })

  test.each([
    ['PascalCase', pascal],
    ['camelCase', camel],
  ])('is the same in %s, and its notes have the names that are there', (_name, rename) => {
    const result = imported(renamed(learned, rename))

    expect(definitionHash(result.definition)).toBe(definitionHash(imported(learned).definition))
    expect(result.notes.map(({ path }) => path)).toContain(
      `${rename('steps')}[3].${rename('timeout_seconds')}`,
    )
  })

  test('is no draft of steps alone, and no list of procedures', () => {
    expect(problemsOf(learned.steps)).toEqual([
      ': found a list of 4, expected a procedure, which is an object with a name and steps',
    ])
  })
})

describe('a support procedure', () => {
  test('keeps its key and conditions, and its steps without a tool are asked of the agent', () => {
    const { definition } = imported(support)

    expect(definition).toMatchObject({
      key: 'FAILED_PAYMENT_PLAYBOOK',
      category: 'payments',
      issuePatterns: ['payment failed', 'checkout failed', 'card charged without order'],
      preconditions: [{ text: 'The customer supplies a transaction identifier' }],
      completionConditions: [
        { text: 'The refund status is known' },
        { text: 'The customer is notified' },
      ],
      escalationRules: [{ text: 'Inconsistent transaction' }, { text: 'Gateway unavailable' }],
      metadata: { owner: 'payments' },
    })
    expect(definition.steps.map(({ key }) => key)).toEqual([
      'identify_transaction',
      'check_transaction',
      'check_gateway',
      'check_refund',
      'prevent_duplicate_refund',
      'notify_customer',
    ])
    expect(definition.steps.flatMap((step) => ('ask' in step ? [step.ask] : []))).toEqual([
      'agent',
      'agent',
    ])
  })

  test('tells what becomes of its number, its status, its summary and its sentences', () => {
    expect(notesOf(support).map((note) => note.split(':')[0])).toEqual([
      'procedure_summary',
      'id',
      'version',
      'status',
      'preconditions',
      'completion_conditions',
      'escalation_rules',
      'steps[0]',
      'steps[4]',
    ])
  })

  test('has patterns of its own rather than those of the summary', () => {
    const { definition } = imported({ ...support, trigger_conditions: ['paid in vain'] })

    expect(definition.issuePatterns).toEqual(['paid in vain'])
  })
})

describe('what is written', () => {
  test('reads back as the same definition, and a definition of our own comes out as it is', () => {
    for (const document of [learned, support]) {
      const { definition } = imported(document)
      const again = readDocument(writeDocument(definition), { name: 'again' }).value

      expect(requireDefinition(again)).toEqual(definition)
      expect(imported(again)).toEqual({ definition, notes: [] })
    }
  })

  test.each(readdirSync(new URL('../../seeds/procedures/', import.meta.url)))(
    'is %s itself for one of the demo',
    (name) => {
      const text = readFileSync(new URL(`../../seeds/procedures/${name}`, import.meta.url), 'utf8')
      const { value } = readDocument(text, { name })

      expect(imported(value)).toEqual({ definition: requireDefinition(value), notes: [] })
    },
  )
})

describe('steps', () => {
  const withSteps = (...steps: readonly object[]) => ({ ...learned, steps })

  test('get different keys, whatever their actions are', () => {
    const { definition } = imported(
      withSteps(
        { ...firstStep, action: 'Check' },
        { ...firstStep, action: '3 checks!' },
        { ...firstStep, action: 'check' },
        { ...firstStep, action: '???' },
        { ...firstStep, action: 'Check', key: 'check_2' },
      ),
    )

    const keys = definition.steps.map(({ key }) => key)
    expect(keys).toEqual(['check', 'checks', 'check_3', 'step_4', 'check_2'])
  })

  test('that read a result read the step of that place, inside texts and lists as well', () => {
    const parameters = { a: ['from {{step.0.result.amount}}', { b: '{{ step.0.result }}' }], n: 1 }
    const { definition } = imported(withSteps(firstStep, { ...firstStep, parameters }))

    expect(definition.steps[1]).toMatchObject({
      with: {
        a: [
          'from {{steps.look_the_transaction_up.output.amount}}',
          { b: '{{steps.look_the_transaction_up.output }}' },
        ],
        n: 1,
      },
    })
  })

  test('hear of a tool that is called as their action', () => {
    const { notes } = imported(support, (name) => name === 'identify_transaction')

    expect(notes.filter(({ message }) => message.includes('is a tool here'))).toEqual([
      { path: 'steps[0]', message: expect.stringContaining('add tool: identify_transaction') },
    ])
  })
})

describe('the input', () => {
  test('is a JSON Schema where one is given', () => {
    const schema = { type: 'object', properties: { transaction_id: { type: 'string' } } }

    expect(imported({ ...learned, parameters_schema: schema }).definition.input).toEqual(schema)
  })

  test('says what a parameter says of itself, by a type alone or in other case', () => {
    const { definition } = imported({
      ...learned,
      ParametersSchema: {
        transaction_id: 'string',
        amount: { Type: 'number', Required: false },
        note: { type: 'string', optional: true, max_length: 5 },
        both: { type: 'string', default: 'a', required: true },
      },
      parameters_schema: null,
    })

    expect(definition.input).toEqual({
      type: 'object',
      required: ['transaction_id', 'both'],
      properties: {
        transaction_id: { type: 'string' },
        amount: { type: 'number' },
        note: { type: 'string', maxLength: 5 },
        both: { type: 'string', default: 'a' },
      },
    })
  })

  test('is what the steps read, where nothing describes it', () => {
    const { definition, notes } = imported({ ...learned, parameters_schema: {} })

    expect(definition.input).toEqual({
      type: 'object',
      required: ['transaction_id'],
      properties: { transaction_id: {} },
    })
    expect(notes).toContainEqual({
      path: 'parameters_schema',
      message: expect.stringContaining('give them types'),
    })
  })
})

describe('mistakes are told all at once, with the paths of the document', () => {
  test.each<[string, object, readonly string[]]>([
    ['an unknown field', { triggers: [] }, ['triggers: is not a known field.']],
    [
      'two names of one field',
      { issuePatterns: ['x'] },
      ['issuePatterns: says what trigger_conditions says; keep one of the two'],
    ],
    [
      'fields of a step',
      {
        steps: [
          { ...firstStep, error_handling: 'fail|skip|retry', timeout_seconds: '10' },
          { ...firstStep, notes: 'x', timeout_seconds: 0 },
          { ...firstStep, timeout: '5s', required: true, error_handling: 'skip' },
          { ...firstStep, parameters: { a: ['{{step.9.result}}'] } },
          { action: 'Ask', parameters: 'all of them' },
          { action: 'Call', tol: 'check_refund' },
          'Look it up',
        ],
      },
      [
        "steps[0].timeout_seconds: found '10', expected a number of seconds",
        "steps[0].error_handling: found 'fail|skip|retry', expected one of fail, skip or retry",
        "steps[2].timeout_seconds: says what 'timeout' says; keep one of the two",
        'steps[3].parameters.a[0]: reads step 9, and the steps are counted from 0 to 6; correct the number',
        "steps[4].parameters: found 'all of them', expected an object of parameters",
        'steps[1].notes: is not a known field.',
        "steps[1].timeout_seconds: found '0s', expected a duration from 1s to 24h",
        "steps[2].error_handling: found 'continue' on a required step",
        "Did you mean 'tool' instead of 'tol'?",
        "steps[6]: found 'Look it up', expected",
      ],
    ],
    [
      'a parameter that is no schema',
      { parameters_schema: { transaction_id: 5, amount: { type: 'money' } } },
      [
        'parameters_schema.transaction_id: found 5, expected a schema',
        "parameters_schema.amount.type: found 'money'",
      ],
    ],
    [
      'a condition with an unknown field',
      { preconditions: ['A', { Text: 'B', unless: 'x' }] },
      ['preconditions[1].unless: is not a known field.'],
    ],
    ['no name', { name: '' }, ['key: is missing', 'name: is missing']],
    ['a key that none can be made from', { key: '42' }, ["key: found '42', expected the key"]],
  ])('%s', (_name, changed, expected) => {
    const problems = problemsOf({ ...learned, ...changed })

    for (const one of expected) {
      expect(
        problems.some((problem) => problem.includes(one)),
        `${one}\n${problems.join('\n')}`,
      ).toBe(true)
    }
  })

  test('the record of a run is no procedure', () => {
    expect(
      problemsOf({
        Id: 'x',
        SituationDescription: 'The refund was late',
        ActionSequence: [{ Step: 1, Tool: 'check_refund', Input: {}, OutputSummary: 'processing' }],
        Outcome: 'The customer was told',
      }),
    ).toEqual([expect.stringContaining('is the record of a past run')])
  })

  test.each([null, 5, 'text', [], { a: { __proto__: null } }])('%j is refused', (value) => {
    expect(problemsOf(value)).not.toEqual([])
  })
})

const folder = process.env.STEPWARDEN_SEEDS

describe.skipIf(folder === undefined)('the articles of STEPWARDEN_SEEDS', () => {
  const names = folder === undefined ? [] : readdirSync(folder)
  const texts = names.map((name) => readFileSync(join(folder ?? '', name), 'utf8'))
  /** The fields of a record, each with its type, wherever its class is declared. */
  const fieldsOf = (name: string): readonly (readonly [string, string])[] =>
    texts.flatMap((text) => {
      const [, body = ''] =
        new RegExp(`^class ${name}:\\n((?: {4}\\w+: .*\\n)+)`, 'm').exec(text) ?? []
      return [...body.matchAll(/^ {4}(\w+): (\S+)/gm)].map(
        ([, field = '', type = '']) => [field, type] as const,
      )
    })
  const exampleOf = (type: string): Json => {
    if (type.startsWith('dict')) return {}
    if (/^(list|tuple)/.test(type)) return []
    return type === 'int' ? 1 : type === 'bool' ? true : ''
  }

  test.each(['Procedure', 'SupportProcedure', 'ProcedureStep'])(
    'know no field of %s that is refused',
    (name) => {
      const fields = fieldsOf(name)
      const example = Object.fromEntries(fields.map(([field, type]) => [field, exampleOf(type)]))
      const isStep = name === 'ProcedureStep'

      const problems = problemsOf(
        isStep ? { ...learned, steps: [{ ...example, action: 'x' }] } : example,
      )

      expect(fields.length).toBeGreaterThan(3)
      const unknown = unknownFieldText('', []).slice(0, 22)
      expect(problems.filter((problem) => problem.includes(unknown))).toEqual([])
    },
  )

  test('show a form whose fields are all known, and whose placeholders are not', () => {
    const [form = ''] = texts.flatMap(
      (text) => /Return JSON:\n(\{\{[\s\S]*?\n\}\})/.exec(text)?.[1] ?? [],
    )
    const { value } = readDocument(form.replaceAll('{{', '{').replaceAll('}}', '}'), {
      name: 'form',
    })

    expect(problemsOf(value)).toEqual([
      "steps[0].error_handling: found 'fail|skip|retry', expected one of fail, skip or retry",
      expect.stringMatching(/^key: is missing/),
    ])
  })
})

test('docs/import.md shows what it becomes, and what is said of it', () => {
  const page = readFileSync(new URL('../../docs/import.md', import.meta.url), 'utf8')
  const block = (info: string) =>
    new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] ?? ''
  const { value } = readDocument(block('yaml given'), { name: 'docs/import.md' })

  const { definition } = imported(value)

  expect(writeDocument(definition)).toBe(block('yaml becomes'))
  expect(`${notesOf(value).join('\n')}\n`).toBe(block('text notes'))
})
