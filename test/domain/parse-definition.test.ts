import { describe, expect, test } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { parseDefinition, requireDefinition } from '../../src/domain/parse-definition.ts'
import { fullDocument } from '../support/definitions.ts'

/** Problems of the full document after a change, as `path: message`. */
function problemsAfter(change: (document: object) => void): readonly string[] {
  const document = structuredClone(fullDocument())
  change(document)
  return problemsOf(document)
}

function problemsOf(document: unknown): readonly string[] {
  const parsed = parseDefinition(document)
  if (!('problems' in parsed)) return []
  return parsed.problems.map(({ path, message }) => `${path}: ${message}`)
}

/** Sets a value deep in the document: `set(document, 'steps.0.key', 'x')`. Undefined removes. */
function set(document: object, path: string, value: unknown): void {
  const parts = path.split('.')
  const last = parts.pop() ?? ''
  const parent = parts.reduce<object>((at, part) => Reflect.get(at, part), document)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
}

describe('the normal form', () => {
  test('keeps a document of every kind and modifier as it is', () => {
    const definition = requireDefinition(fullDocument())

    expect(definition).toEqual(fullDocument())
  })

  test('writes the fields in the order of the language, whatever the order that they came in', () => {
    const backwards = Object.fromEntries(Object.entries(fullDocument()).reverse())

    const definition = requireDefinition(backwards)

    expect(Object.keys(definition)).toEqual(Object.keys(fullDocument()))
    expect(Object.keys(definition.steps[0] ?? {})).toEqual(Object.keys(firstStep(fullDocument())))
  })

  test('leaves out a time limit that says the default in other words', () => {
    const definition = requireDefinition({ ...fullDocument(), timeLimit: '60m' })

    expect(definition.timeLimit).toBeUndefined()
  })

  test('takes members that are undefined as absent', () => {
    const definition = requireDefinition({ ...fullDocument(), policy: undefined })

    expect('policy' in definition).toBe(false)
  })
})

function firstStep(document: object): object {
  return Reflect.get(Reflect.get(document, 'steps'), 0)
}

describe('problems', () => {
  test('ten mistakes give ten problems, each with its path', () => {
    const problems = problemsAfter((document) => {
      set(document, 'key', 'lower')
      set(document, 'nmae', 'x')
      set(document, 'timeLimit', '2 workdays')
      set(document, 'escalateTo.priority', 'hgh')
      set(document, 'steps.0.retry.maxAttempts', 0)
      set(document, 'steps.0.timeot', '5s')
      set(document, 'steps.2.otherwise.1.end', 'maybe')
      set(document, 'steps.3.choose.0.steps.0.with', 'all')
      set(document, 'steps.4.steps.0.key', 'check_refund')
      set(document, 'input.properties.transactionId.pattern', '(?=a)')
    })

    expect(problems.map((problem) => problem.split(': ')[0]).sort()).toEqual([
      'escalateTo.priority',
      'input.properties.transactionId.pattern',
      'key',
      'nmae',
      'steps[0].retry.maxAttempts',
      'steps[0].timeot',
      'steps[2].otherwise[1].end',
      'steps[3].choose[0].steps[0].with',
      'steps[4].steps[0].key',
      'timeLimit',
    ])
  })

  test.each([
    [
      'names the field that was meant',
      'steps.9.txt',
      'Done.',
      "steps[9].txt: is not a known field. Did you mean 'text'?",
    ],
    [
      'names the word that was meant',
      'escalateTo.priority',
      'hgh',
      "escalateTo.priority: found 'hgh', expected one of low, normal, high or urgent. Did you mean 'high'?",
    ],
    [
      'names both places of a key',
      'steps.4.steps.0.key',
      'total',
      "steps[4].steps[0].key: 'total' is the key at steps[1].key as well; a key names one step, rename one",
    ],
    [
      'refuses a modifier on another kind',
      'steps.1.retry',
      { maxAttempts: 2 },
      'steps[1].retry: is not allowed on a step of kind compute, only on tool; remove it',
    ],
    [
      'refuses forEach on a wait',
      'steps.8.forEach',
      '[1]',
      'steps[8].forEach: is not allowed on a step of kind wait, only on tool, steps, ask, approval or call; remove it',
    ],
    [
      'refuses a wrong sequence',
      'steps.1.sequence',
      3,
      'steps[1].sequence: found 3, expected 2, its place in the list; correct it or leave sequence out',
    ],
    [
      'refuses two kinds',
      'steps.1.tool',
      'check_refund',
      'steps[1]: has the fields tool and compute, which are kinds of their own; a step has one, split it',
    ],
    [
      'refuses an answer that is no schema',
      'steps.5.answer.type',
      'strng',
      "steps[5].answer.type: found 'strng', expected one of array, boolean, integer, null, number, object or string. Did you mean 'string'?",
    ],
    [
      'refuses an approval by the customer',
      'steps.6.approval',
      'customer',
      "steps[6].approval: found 'customer', expected one of agent, author, approver, admin, auditor, or a group such as group:refund-desk",
    ],
    [
      'refuses to continue past a required step',
      'steps.0.required',
      undefined,
      "steps[0].onError: found 'continue' on a required step, which cannot be gone past; add required: false",
    ],
    [
      'refuses working days for an attempt',
      'steps.0.timeout',
      '1 workday',
      "steps[0].timeout: found '1 workday', expected a duration from 1s to 24h, such as 30s or 10m",
    ],
    [
      'refuses a deadline of no length',
      'steps.5.deadline',
      '0s',
      "steps[5].deadline: found '0s', expected a duration of at most 366 days, such as 30s, 10m, 6h, 5d or 10 workdays",
    ],
    [
      'refuses a wait for both',
      'steps.8.wait',
      { for: '1d', until: 'now' },
      'steps[8].wait: found an object, expected either for: a duration of at most 366 days, or until: an expression that gives a time',
    ],
    [
      'refuses an empty list of steps',
      'steps.4.steps',
      [],
      'steps[4].steps: found an empty list, expected a list of at least one step',
    ],
    [
      'refuses an empty choose',
      'steps.3.choose',
      [],
      'steps[3].choose: found an empty list, expected a list of at least one { text, when, steps }',
    ],
    [
      'refuses an expression that is no text',
      'steps.1.compute.amount',
      3,
      "steps[1].compute.amount: found 3, expected an expression as a text (in quotes where YAML would read something else: '5', 'true')",
    ],
    [
      'refuses a name that no expression can read',
      'policy.a-b',
      1,
      "policy.a-b: found 'a-b', expected a name to be a letter, then letters, digits and _ (64 at most)",
    ],
    [
      'refuses an input that is no object',
      'input',
      { type: 'string' },
      "input.type: found 'string', expected object: the input of a procedure has names; write type: object",
    ],
    [
      'refuses maxItems without forEach',
      'steps.4.forEach',
      undefined,
      'steps[4].maxItems: bounds a forEach, and there is none; remove it',
    ],
    [
      'refuses onDeadline without a deadline',
      'steps.6.deadline',
      undefined,
      'steps[6].onDeadline: says what a deadline does, and there is none; add deadline',
    ],
    [
      'refuses a loop beyond the limit',
      'steps.4.repeat.atMost',
      1001,
      'steps[4].repeat.atMost: found 1001, expected a whole number from 1 to 1000',
    ],
    [
      'refuses an otherwise that is neither word nor steps',
      'steps.3.otherwise',
      'declined',
      "steps[3].otherwise: found 'declined', expected escalated, continue or a list of steps",
    ],
    [
      'names what is missing',
      'name',
      undefined,
      'name: is missing: expected a text of 1 to 200 characters',
    ],
    [
      'refuses null for a field',
      'successCriteria',
      null,
      'successCriteria: found null, expected a text of 1 to 2000 characters',
    ],
    [
      'refuses NUL',
      'steps.1.action',
      'a\u0000b',
      'steps[1].action: contains a NUL character, which cannot be stored',
    ],
    [
      'refuses an unknown annotation',
      'input.properties.cardNumber.source',
      'anyone',
      "input.properties.cardNumber.source: found 'anyone', expected caller, or nothing",
    ],
  ])('%s', (_behaviour, path, value, expected) => {
    const problems = problemsAfter((document) => set(document, path, value))

    expect(problems).toEqual([expected])
  })

  test('a step without a kind names what was found and what was meant', () => {
    const problems = problemsAfter((document) =>
      set(document, 'steps.1', { key: 'total', action: 'Add up', comptue: { a: '1' } }),
    )

    expect(problems).toEqual([
      "steps[1]: has no kind: expected one of the fields tool, compute, require, choose, steps, ask, approval, call, wait or end, found action, comptue, key. Did you mean 'compute' instead of 'comptue'?",
    ])
  })

  test('the steps of a failed requirement must close with an end that nothing skips', () => {
    const message =
      'the steps for a requirement that failed must close with an end step that has no when, or the run would go on; add one'

    expect(
      problemsAfter((document) =>
        set(document, 'steps.2.otherwise.1', { key: 'x', action: 'x', tool: 'x' }),
      ),
    ).toEqual([`steps[2].otherwise[1]: ${message}`])
    expect(problemsAfter((document) => set(document, 'steps.2.otherwise.1.when', 'false'))).toEqual(
      [`steps[2].otherwise[1]: ${message}`],
    )
  })

  test('what is nested in a step with two kinds is read as well', () => {
    const problems = problemsAfter((document) => {
      set(document, 'steps.4.tool', 'check_refund')
      set(document, 'steps.4.steps.0.wait', { for: 'long' })
    })

    expect(problems.map((problem) => problem.split(': ')[0])).toEqual([
      'steps[4].steps[0].wait',
      'steps[4]',
    ])
  })

  test('a NUL and a missing field are reported together', () => {
    const problems = problemsAfter((document) => {
      set(document, 'steps.1.action', '\u0000')
      set(document, 'name', undefined)
    })

    expect(problems).toHaveLength(2)
  })

  test.each([
    [null],
    [5],
    ['text'],
    [[]],
    [undefined],
    [() => 1],
    [new Date(0)],
    [10n],
    [new Map()],
  ])('a document that is %s is no definition', (value) => {
    expect(problemsOf(value).length).toBeGreaterThan(0)
  })

  test('requireDefinition throws DEFINITION_INVALID with the problems', () => {
    const attempt = () => requireDefinition({ ...fullDocument(), key: 'x' })

    expect(attempt).toThrow(/The definition has 1 problem:\n {2}key: found 'x'/)
    try {
      attempt()
    } catch (error) {
      expect(isServiceError(error, 'DEFINITION_INVALID')).toBe(true)
    }
  })
})

describe('limits', () => {
  const end = (index: number) => ({ key: `end_${index}`, action: 'End', end: 'resolved' })

  test('200 steps are read and 201, nested ones included, are refused with the figure', () => {
    const steps = Array.from({ length: 199 }, (_, index) => end(index))
    const block = (count: number) => ({
      key: 'block',
      action: 'Block',
      steps: [...steps.slice(0, count)],
    })

    expect(problemsOf({ ...fullDocument(), steps: [block(199)] })).toEqual([])
    expect(problemsOf({ ...fullDocument(), steps: [block(199), end(199)] })).toEqual([
      'steps: there are 201 steps, nested ones included, and the limit is 200; split the procedure and use call',
    ])
  })

  test('a string of more than 64 KiB is refused with the figure', () => {
    const problems = problemsOf({
      ...fullDocument(),
      metadata: { text: 'é'.repeat(32 * 1024 + 1) },
    })

    expect(problems).toEqual(['metadata.text: has 65538 bytes of text, the limit is 65536'])
  })

  test('a document of more than 256 KiB is refused with the figure', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`text${index}`, 'x'.repeat(60_000)]),
    )

    const problems = problemsOf({ ...fullDocument(), metadata })

    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(
      /^: the definition has 30\d{4} bytes of JSON, more than the 262144 bytes allowed/,
    )
  })

  test('nesting is allowed to depth 20 and refused beyond', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) })

    // The document and metadata itself are two levels.
    expect(problemsOf({ ...fullDocument(), metadata: nested(18) })).toEqual([])
    expect(problemsOf({ ...fullDocument(), metadata: nested(19) })).toEqual([
      `metadata${'.a'.repeat(19)}: is nested in 20 objects and lists, which is the limit; make it flatter`,
    ])
  })

  test('cycles and shared references end in problems, in bounded time', () => {
    const cycle: Record<string, unknown> = {}
    for (let index = 0; index < 10; index += 1) cycle[`a${index}`] = cycle

    const started = performance.now()

    expect(problemsOf(cycle)[0]).toContain('262144 bytes allowed')
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('a document with very many mistakes tells the first and counts the rest', () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1]),
    )

    const problems = problemsOf({ ...fullDocument(), ...unknown })

    expect(problems).toHaveLength(201)
    expect(problems.at(-1)).toBe(': and 800 more problems')
  })

  test('__proto__ is refused as a name wherever it stands', () => {
    const problems = problemsOf(
      JSON.parse(JSON.stringify(fullDocument()).replace('"owner"', '"__proto__"')),
    )

    expect(problems).toEqual(['metadata.__proto__: is not a usable name; rename it'])
  })
})
