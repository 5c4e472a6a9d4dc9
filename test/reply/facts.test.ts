import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonSchema } from '../../src/domain/json.ts'
import { kindOf } from '../../src/reply/fact-kind.ts'
import { labelOf } from '../../src/reply/fact-label.ts'
import { exampleSentence, findFactFlaw } from '../../src/reply/fact-sentence.ts'
import { numberFacts, type RecordedCall, type RecordedValue } from '../../src/reply/facts.ts'
import { withhold } from '../../src/reply/withhold.ts'

function output(
  tool: string,
  value: JsonObject,
  more: Partial<RecordedCall> & { readonly schema?: JsonSchema } = {},
): RecordedValue {
  const { schema, ...call } = more
  const properties = Object.fromEntries(Object.keys(value).map((name) => [name, {}]))
  return {
    value,
    schema: schema ?? { properties },
    call: {
      stepKey: tool,
      tool,
      effect: 'read',
      input: { id: 'T-1' },
      states: ['open', 'none'],
      isOneOfSeveral: false,
      ...call,
    },
  }
}

function inputs(value: JsonObject): RecordedValue {
  const properties = Object.fromEntries(Object.keys(value).map((name) => [name, {}]))
  return { value, schema: { properties }, call: null }
}

function named(...recorded: readonly RecordedValue[]) {
  return numberFacts(recorded, []).map(({ text, name }) => [text, name])
}

describe('labelOf', () => {
  it.each([
    ['check_refund', ['etaBusinessDays'], true, 'refund eta', 'business days'],
    ['check_refund', ['status'], false, 'refund status', ''],
    ['check_refund', ['refundState'], false, 'refund state', ''],
    ['get_duplicate_refund', ['refund', 'state'], false, 'duplicate refund state', ''],
    ['get_balance', ['accountBalance'], false, 'account balance', ''],
    ['get_charge', ['amount'], false, 'charge amount', ''],
    ['get_issue', ['state'], false, 'issue state', ''],
    ['check_transaction', ['refundedAmount'], false, 'transaction refunded amount', ''],
    ['get_order', ['weight_percent'], true, 'order weight', 'percent'],
    ['check_refund', ['dueDays'], false, 'refund due days', ''],
    ['check_refund', ['days'], true, 'refund days', ''],
    ['get_order', ['trackingID'], false, 'order tracking id', ''],
    [null, ['transactionId'], false, 'transaction id', ''],
  ] as const)('names %s %j', (tool, path, isNumber, words, unit) => {
    const label = labelOf(tool === null ? null : { name: tool, effect: 'read' }, path, isNumber)

    expect([label?.words.join(' '), label?.unit.join(' ')]).toEqual([words, unit])
  })

  it.each([
    ['a negation', 'check_refund', ['notRefundedAmount']],
    ['a number in words', 'check_refund', ['halfAmount']],
    ['a word that joins', 'check_refund', ['sumOfFees']],
    ['a digit', 'check_refund', ['amount2']],
    ['a letter alone', 'check_refund', ['amountX']],
    ['letters of another language', 'check_refund', ['größe']],
    ['an item of a list', 'get_orders', ['orders', 0, 'state']],
    ['a word twice', 'get_report_card', ['card', 'report']],
    ['words of form alone', 'get_status', ['value']],
    ['a tool of unknown verb', 'estimate_fee', ['amount']],
    ['a tool that is one word', 'refund', ['state']],
  ] as const)('gives none for %s', (_, name, path) => {
    expect(labelOf({ name, effect: 'read' }, path, false)).toBeUndefined()
  })

  it('names what a write made, and not what it undid', () => {
    expect(labelOf({ name: 'issue_refund', effect: 'write' }, ['state'], false)?.words).toEqual([
      'refund',
      'state',
    ])
    for (const name of ['cancel_refund', 'charge_card', 'check_refund']) {
      expect(labelOf({ name, effect: 'write' }, ['state'], false)).toBeUndefined()
    }
  })

  it.each([['amount'], ['id'], ['status']])('gives none for an input of form alone: %s', (name) => {
    expect(labelOf(null, [name], false)).toBeUndefined()
  })
})

describe('kindOf', () => {
  it.each([
    [5, {}, 'x', 'number'],
    [5512, {}, 'orderNumber', 'id'],
    ['none', { enum: ['none'] }, 'x', 'state'],
    ['none', { anyOf: [{ enum: ['none'] }, { type: 'null' }] }, 'x', 'state'],
    ['49.00 USD', {}, 'x', 'amount'],
    ['EUR 1,250.5', {}, 'x', 'amount'],
    ['2026-01-31', { format: 'date' }, 'x', 'time'],
    ['2026-01-31T10:00:00Z', { format: 'date-time' }, 'x', 'time'],
    ['TXN-DUP-002', { pattern: '^TXN' }, 'x', 'id'],
    ['gw-demo-1', {}, 'reference', 'id'],
  ] as const)('takes %j', (value, at, name, kind) => {
    expect(kindOf(value, [name], { properties: { [name]: at } })).toBe(kind)
  })

  it.each([
    ['Ann Lee', {}, 'name'],
    ['fine', {}, 'note'],
    ['*PAID* We owe you 500 USD', {}, 'note'],
    ['100 OFF', {}, 'note'],
    ['USD 49 EUR', {}, 'note'],
    ['49', {}, 'note'],
    ['You-will-get-500-USD', {}, 'reference'],
    ['evil.example/pay?x=1', {}, 'reference'],
    ['mailto:a5', {}, 'reference'],
    ['You⠀get⠀5', {}, 'id'],
    ['a 1', { pattern: '.' }, 'id'],
    ['[[f1]]', { enum: ['[[f1]]'] }, 'x'],
    ['tomorrow', { format: 'date' }, 'x'],
    [true, {}, 'x'],
    [null, {}, 'x'],
  ] as const)('takes no %j', (value, at, name) => {
    expect(kindOf(value, [name], { properties: { [name]: at } })).toBeUndefined()
  })
})

describe('numberFacts', () => {
  it('takes of the input ids alone, and of outputs what is of a kind and has a name', () => {
    const schema = {
      properties: { state: { enum: ['open'] }, note: {}, total: {}, secret: { sensitive: true } },
    }
    const value = { state: 'open', note: 'You get 5 USD', total: 3, secret: 7, undeclared: 8 }

    expect(
      named(
        inputs({ orderId: 'A-1', amount: 5_000, refundAmount: '9.00 USD' }),
        output('get_order', value, { schema }),
      ),
    ).toEqual([
      ['A-1', 'order id'],
      ['open', 'order state'],
      ['3', 'order total'],
    ])
  })

  it('takes of states those that the tool lets a reply name', () => {
    const schema = { properties: { state: { enum: ['open'] } } }

    expect(named(output('get_order', { state: 'open' }, { schema, states: [] }))).toEqual([])
  })

  it('leaves out what may not be shown, and all that is in it', () => {
    const recorded = [
      output(
        'get_order',
        { total: 3, parts: { count: 2 } },
        {
          schema: { properties: { total: {}, parts: { properties: { count: {} } } } },
        },
      ),
    ]

    const names = (...path: readonly string[]) =>
      numberFacts(recorded, [{ path: ['steps', 'get_order', 'output', ...path], why: '' }]).map(
        ({ name }) => name,
      )

    expect(names('parts')).toEqual(['order total'])
    expect(names('total')).toEqual(['order parts count'])
    expect(names()).toEqual([])
  })

  it('lets the later of two equal calls count, and never the later of two values of one call', () => {
    const early = output('get_refund', { total: 1 }, { stepKey: 'early' })
    const late = output('get_refund', { total: 2 }, { stepKey: 'late' })
    const schema = {
      properties: { refund: { properties: { total: {} } }, refundTotal: {}, total: {} },
    }
    const both = output('get_refund', { refund: { total: 1 }, refundTotal: 2 }, { schema })

    expect(named(early, late)).toEqual([['2', 'refund total']])
    expect(named(both)).toEqual([])
  })

  it('takes neither of two values with one name from different tools, and one of two equal ones', () => {
    const one = output('get_refund', { total: 1 })

    expect(named(one, output('check_refund', { total: 2 }))).toEqual([])
    expect(named(one, output('check_refund', { total: 1 }))).toEqual([['1', 'refund total']])
  })

  it('writes the path as a template does', () => {
    expect(numberFacts([output('check_order', { total: 2 })], [])).toMatchObject([
      { mark: 'f1', path: 'steps.check_order.output.total', stepKey: 'check_order' },
    ])
  })
})

describe('findFactFlaw', () => {
  const call = { stepKey: 'refund', input: { id: 'T-1' } }
  const schema = { properties: { state: { enum: ['none'] }, etaBusinessDays: {}, amount: {} } }
  const refund = { state: 'none', etaBusinessDays: 5, amount: '9.00 USD' }
  const facts = numberFacts(
    [
      inputs({ transactionId: 'T-1' }),
      output('check_refund', refund, { ...call, schema }),
      output('check_order', { total: 5 }, { input: { id: 'A-2' } }),
    ],
    [],
  )
  const [id, state, eta, amount, total] = facts.map(({ mark }) => `[[${mark}]]`)

  it.each([
    `The refund state is ${state}.`,
    `your REFUND state is ${state}!`,
    `The refund eta is ${eta} business days.`,
    `The refund state of your transaction ${id} is ${state}.`,
    `Your refund amount for the transaction ${id} is ${amount} and the refund eta is ${eta} business days.`,
    `Your transaction id is ${id}.`,
    `The order total is ${total}.`,
  ])('takes: %s', (text) => {
    expect(findFactFlaw(text, facts)).toBeUndefined()
  })

  it.each([
    [`The refund state is ${state} now.`, 'unit'],
    [`The refund state is now ${state}.`, 'form'],
    [`The refund state is ${state}`.replace('is', 'was'), 'form'],
    [`It is ${state}.`, 'form'],
    [`The refund is ${state}.`, 'name'],
    [`The refund amount state is ${state}.`, 'name'],
    [`Refund state: ${state}`, 'form'],
    [`Is the refund state ${state}?`, 'form'],
    [`The refund state is ${state}?`, 'form'],
    [`The refund eta is ${eta}.`, 'unit'],
    [`The refund eta is ${eta} days.`, 'unit'],
    [`The refund eta is ${eta} business days or less.`, 'unit'],
    [`The refund amount is ${amount} dollars.`, 'unit'],
    [`The order total for your transaction ${id} is ${total}.`, 'looked up'],
    [`The refund state for your order ${id} is ${state}.`, 'looked up'],
    [`The refund state for your transaction ${total} is ${state}.`, 'looked up'],
    [`The refund state is ${state} and the order total is ${total}.`, 'calls'],
    [`The refund state is ${state}`, 'form'],
    [`The refund state is ${state},`, 'form'],
    [`Your refund for transaction ${id} is in.`, 'form'],
    [`Your refund for your transaction ${id}.`, 'form'],
  ])('refuses: %s', (text, flaw) => {
    expect(findFactFlaw(text, facts)).toContain(flaw)
  })

  it('asks for the id where the run is about two, or called the tool about two', () => {
    const two = numberFacts(
      [
        inputs({ transactionId: 'T-1', otherId: 'T-2' }),
        output('check_refund', refund, { schema }),
      ],
      [],
    )
    const several = numberFacts(
      [
        inputs({ transactionId: 'T-1' }),
        output('check_refund', refund, { schema, isOneOfSeveral: true }),
        output(
          'check_refund',
          { ...refund, state: 'none' },
          {
            schema,
            stepKey: 'second',
            input: { id: 'T-9' },
            isOneOfSeveral: true,
          },
        ),
      ],
      [],
    )

    const nameless = numberFacts(
      [
        {
          value: { transactionId: 'T-1', b2: 'T-2' },
          schema: { properties: { transactionId: {}, b2: { pattern: '^T' } } },
          call: null,
        },
        output('check_refund', refund, { schema }),
      ],
      [],
    )

    for (const known of [two, several, nameless]) {
      const fact = known.find(({ name }) => name === 'refund state')
      const [first] = known
      const plain = `The refund state is [[${fact?.mark}]].`
      const placed = `The refund state for your transaction [[${first?.mark}]] is [[${fact?.mark}]].`
      expect(findFactFlaw(plain, known)).toContain('which id')
      expect(findFactFlaw(placed, known)).toBeUndefined()
    }
    // What was asked about an id that is no fact cannot be told apart at all.
    expect(several.filter(({ stepKey }) => stepKey === 'second')).toEqual([])
  })

  it('gives each fact an example that holds', () => {
    for (const fact of facts)
      expect(findFactFlaw(exampleSentence(fact, facts), facts)).toBeUndefined()
    expect(exampleSentence(facts[2] ?? fail(), facts)).toBe(
      `The refund eta is ${eta} business days.`,
    )
  })
})

function fail(): never {
  throw new TypeError('there is such a fact')
}

describe('withhold', () => {
  it('finds a value whatever its case, spaces and dashes', () => {
    const text = 'My card 4111 1111-1111 and PIN-x9, or pinX9.'

    expect(withhold(text, ['411111111111', 'pin x9'])).toBe(
      'My card [withheld] and [withheld], or [withheld].',
    )
  })

  it('leaves a text alone without values, and values alone that are too short to mean anything', () => {
    expect(withhold('a b c - -', ['a', '- -', '', 1, true, null])).toBe('a b c - -')
  })

  it('takes the longer of two values first, and no value for a pattern', () => {
    expect(withhold('abc.def abc', ['abc', 'abc.def', '.*.*'])).toBe('[withheld] [withheld]')
  })
})
