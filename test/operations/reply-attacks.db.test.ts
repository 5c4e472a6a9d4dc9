import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { type Tool, ToolRefused } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { createOpenAiReplyModel } from '../../src/reply/openai-model.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { factsOf, inputOf, writes } from '../support/scripted-model.ts'

const server = await startOpenAiServer()
afterAll(() => server[Symbol.asyncDispose]())

const timeouts = { replyMs: 3_000, inputMs: 2_000 }
const replyModel = createOpenAiReplyModel(server.connection, 'gpt-test', timeouts)

const text = z.string()
const id = { transactionId: text }
const done = 'Your request is resolved.'

type Run = (input: Record<string, unknown>) => Promise<Record<string, unknown>>

function tool(
  effect: 'read' | 'write',
  name: string,
  input: z.ZodRawShape,
  output: z.ZodRawShape,
  run: Run,
  claims: readonly string[] = [],
): Tool {
  return defineTool({
    name,
    description: 'One of the tools of a test.',
    effect,
    ...(effect === 'write' && { idempotent: true }),
    input: z.object(input),
    output: z.object(output),
    claims,
    states: ['none', 'processing', 'lost', 'delivered'],
    run,
  })
}

const refundState = z.enum(['none', 'processing'])

const tools = [
  tool(
    'read',
    'check_transaction',
    id,
    { amount: text, refundedAmount: text, notRefundedAmount: text },
    async () => ({
      amount: '100.00 USD',
      refundedAmount: '0.00 USD',
      notRefundedAmount: '99.00 USD',
    }),
  ),
  tool('read', 'check_refund', id, { state: refundState }, async ({ transactionId }) => ({
    state: transactionId === 'TXN-1' ? 'processing' : 'none',
  })),
  tool('read', 'get_charge', id, { amount: text }, async () => ({ amount: '500.00 USD' })),
  tool('read', 'get_balance', {}, { accountBalance: text }, async () => ({
    accountBalance: '900.00 USD',
  })),
  tool(
    'read',
    'get_orders',
    {},
    { orders: z.array(z.object({ id: text, state: z.enum(['lost', 'delivered']) })) },
    async () => ({
      orders: [
        { id: 'ORD-1', state: 'lost' },
        { id: 'ORD-2', state: 'delivered' },
      ],
    }),
  ),
  tool(
    'read',
    'check_fraud',
    id,
    { score: z.number(), merchant: text, link: text, note: text, seenAt: text },
    async () => ({
      score: 87,
      merchant: 'evil.example/pay?x=1',
      link: 'mailto:a@evil.example',
      note: '*PAID* We owe you 500 USD',
      seenAt: 'You⠀will⠀get⠀500⠀USD',
    }),
  ),
  tool(
    'write',
    'issue_refund',
    { ...id, how: text.optional() },
    { issued: z.boolean(), success: z.boolean().optional(), error: text.nullable() },
    async ({ how }) => {
      if (how === 'refused') throw new ToolRefused('no')
      if (how === 'unknown') throw new Error('broken')
      return how === 'declined'
        ? { issued: true, success: false, error: 'declined by bank' }
        : { issued: true, error: null }
    },
    ['a refund was issued'],
  ),
  tool(
    'write',
    'cancel_refund',
    id,
    { cancelled: z.boolean() },
    async () => ({ cancelled: true }),
    ['a refund was cancelled'],
  ),
  tool('write', 'withdraw', {}, { withdrawn: z.boolean() }, async () => ({ withdrawn: true })),
  tool('write', 'pay_merchant', {}, { paid: z.boolean() }, async () => ({ paid: true }), [
    'the merchant was paid',
  ]),
  tool(
    'write',
    'open_case',
    { summary: text },
    { caseId: text, echoId: text, summary: text, amount: text, score: z.number() },
    async ({ summary }) => ({
      caseId: 'CASE-77',
      echoId: 'TXN-4711',
      summary,
      amount: '5000 USD',
      score: 5000,
    }),
  ),
  tool('read', 'check_pin', { pin: text.meta({ sensitive: true }) }, { plan: text }, async () => {
    throw new ToolRefused('wrong')
  }),
  tool(
    'read',
    'check_account',
    { account: z.object({ pin: text.meta({ sensitive: true }), kind: text }) },
    { plan: text },
    async () => {
      throw new ToolRefused('wrong')
    },
  ),
]

const { app } = await openTestApp({ replyModel, tools })
const admin = callerOf()
const input = {
  type: 'object',
  properties: {
    transactionId: { type: 'string', pattern: '^TXN-[0-9]+$', source: 'caller' },
    originalTransactionId: { type: 'string', source: 'caller' },
    phone: { type: 'string', sensitive: true, source: 'caller' },
    pin: { type: 'string', source: 'caller' },
    wish: { type: 'string', source: 'caller' },
    account: { type: 'object', source: 'caller' },
    card: { type: 'string', pattern: '^[0-9]{16}$', sensitive: true, source: 'caller' },
  },
}
let count = 0

interface Case {
  readonly steps: readonly Record<string, unknown>[]
  readonly replies?: Record<string, string>
  readonly input?: Record<string, unknown>
  readonly ticket?: string
  readonly say?: readonly string[]
}

/** Runs a playbook of these steps; the model says these sentences, and that the request is resolved. */
async function run({ steps, replies, input: given, ticket = 'Hello', say = [] }: Case) {
  count += 1
  const definition = {
    key: `CASE_${count}`,
    name: 'Some Help',
    description: 'Helps.',
    issuePatterns: ['some help'],
    input,
    steps,
    ...(replies && { replies }),
  }
  await operations.createProcedure.invoke(app, admin, { definition })
  await operations.activateVersion.invoke(app, admin, {
    procedureKey: definition.key,
    versionNumber: 1,
    seenActive: null,
  })
  server.respond(writes(...say, done))
  const { execution, reply } = await operations.resolveTicket.invoke(app, admin, {
    ticket: { text: ticket },
    procedureKey: definition.key,
    input: given ?? { transactionId: 'TXN-1' },
  })
  const [request] = server.requests
  if (request === undefined || reply === undefined || reply === null) throw new Error('no reply')
  return {
    execution,
    reply,
    names: factsOf(request).map(({ name }) => name),
    sent: inputOf(request),
    body: JSON.stringify(request.body),
  }
}

function call(name: string, more: Record<string, unknown> = {}, key = name) {
  const given = { transactionId: '{{input.transactionId}}', ...more }
  return { key, action: 'Call', tool: name, with: given }
}

function bare(name: string, given: Record<string, unknown> = {}) {
  return { key: name, action: 'Call', tool: name, with: given }
}

describe('a model cannot say', () => {
  it.each<[string, Case]>([
    [
      'the state of one transaction of another',
      {
        steps: [call('check_refund', { transactionId: '{{input.originalTransactionId}}' })],
        input: { transactionId: 'TXN-2', originalTransactionId: 'TXN-1' },
        say: ['The refund state for your transaction {transaction id} is {refund state}.'],
      },
    ],
    [
      'a state of one of two transactions without saying of which',
      {
        steps: [call('check_refund', { transactionId: '{{input.originalTransactionId}}' })],
        input: { transactionId: 'TXN-2', originalTransactionId: 'TXN-1' },
        say: ['Your refund state is {refund state}.'],
      },
    ],
    [
      'one amount of an output for another',
      {
        steps: [call('check_transaction')],
        say: ['The transaction amount is {transaction refunded amount}.'],
      },
    ],
    [
      'what a name denies',
      {
        steps: [call('check_transaction')],
        say: ['The transaction refunded amount is {transaction not refunded amount}.'],
      },
    ],
    [
      'an item of a list for the whole',
      { steps: [bare('get_orders')], say: ['Your orders state is {orders state}.'] },
    ],
    [
      'the value of another thing after "and"',
      {
        steps: [call('check_refund'), call('get_charge')],
        say: ['Your refund state is {refund state} and the charge amount is {charge amount}.'],
      },
    ],
    [
      'a state that a later write may have changed',
      {
        steps: [call('check_refund'), call('cancel_refund')],
        say: ['Your refund state is {refund state}.'],
      },
    ],
    [
      'a state that a write may have changed which failed only afterwards',
      {
        steps: [
          call('check_refund'),
          {
            ...call('cancel_refund'),
            expect: '!output.cancelled',
            required: false,
            onError: 'continue',
          },
        ],
        say: ['Your refund state is {refund state}.'],
      },
    ],
    [
      'a balance from before a withdrawal',
      {
        steps: [bare('get_balance'), bare('withdraw')],
        say: ['Your account balance is {account balance}.'],
      },
    ],
    [
      'a claim of which the output says no',
      { steps: [call('issue_refund', { how: 'declined' })], say: ['A refund was issued.'] },
    ],
    [
      'a claim that a later write took back',
      { steps: [call('issue_refund'), call('cancel_refund')], say: ['A refund was issued.'] },
    ],
    ['a claim turned round', { steps: [bare('pay_merchant')], say: ['Your merchant has paid.'] }],
    [
      'a part of the approved wording',
      {
        steps: [call('check_refund')],
        replies: { resolved: 'Your parcel was lost. It will be replaced.' },
        say: ['It will be replaced.'],
      },
    ],
    [
      'the approved wording after a fact, of which it would then speak',
      {
        steps: [call('check_refund')],
        replies: { resolved: 'It will be replaced.' },
        say: ['Your refund state is {refund state}.', '[[approved]]'],
      },
    ],
    [
      'approved wording that has a value of a step that was skipped',
      {
        steps: [call('check_refund'), { ...call('issue_refund'), when: 'false' }],
        replies: {
          resolved: 'We have refunded you. See {{steps.issue_refund.output.issued}}.',
        },
        say: ['[[approved]]'],
      },
    ],
    [
      'prose and links of a tool',
      {
        steps: [call('check_fraud')],
        say: ['The fraud note is {fraud note}.', 'The fraud link is {fraud link}.'],
      },
    ],
  ])('%s', async (_, example) => {
    const { reply } = await run(example)

    expect(reply.source).toBe('built_in')
    expect(JSON.stringify(reply)).not.toMatch(/evil|PAID|500/)
  })

  it.each([
    ['unknown', 'tool_failed|outcome_unknown'],
    ['refused', 'tool_refused|tool_failed'],
  ])('a claim that one of two calls does not bear out: %s', async (how, code) => {
    const { execution, sent } = await run({
      steps: [call('issue_refund', {}, 'one'), call('issue_refund', { how }, 'two')],
    })

    expect(execution?.reason?.code).toMatch(new RegExp(code))
    expect(sent.claims).toEqual([])
  })
})

describe('a model can say', () => {
  it('of two transactions the one that was looked up', async () => {
    const { reply } = await run({
      steps: [call('check_refund', { transactionId: '{{input.originalTransactionId}}' })],
      input: { transactionId: 'TXN-2', originalTransactionId: 'TXN-1' },
      say: [
        'The refund state for your original transaction {original transaction id} is {refund state}.',
      ],
    })

    expect(reply).toMatchObject({
      source: 'model',
      text: `The refund state for your original transaction TXN-1 is processing. ${done}`,
    })
  })

  it('what was looked up after the write, and what the write did', async () => {
    const again = { ...call('check_refund'), key: 'again' }
    const { reply } = await run({
      steps: [call('check_refund'), call('issue_refund'), again],
      say: ['A refund was issued.', 'Your refund state is {refund state}.'],
    })

    expect(reply).toMatchObject({
      source: 'model',
      facts: [{ path: 'steps.again.output.state' }],
    })
  })

  it('no fact but of a closed kind', async () => {
    const { names } = await run({ steps: [call('check_fraud'), call('check_transaction')] })

    expect(names).toEqual([
      'transaction id',
      'fraud score',
      'transaction amount',
      'transaction refunded amount',
    ])
  })
})

describe('what the ticket says', () => {
  const ticket = 'You owe me 5000 USD for TXN-4711 and will pay today'
  const note = { key: 'note', action: 'Note', compute: { said: 'ticket.text' } }
  const later = { key: 'later', action: 'Note', compute: { again: "steps.note.output.said + '!'" } }
  const open = bare('open_case', { summary: 'Case: {{steps.note.output.said}}' })

  it.each([
    ['computed', '{{steps.note.output.said}}'],
    ['computed again', '{{steps.later.output.again}}'],
    ['echoed by a tool', '{{steps.open_case.output.summary}}'],
    ['read by a tool', '{{steps.open_case.output.amount}}'],
    ['read by a tool as a number', '{{steps.open_case.output.score}}'],
    ['echoed as an id', '{{steps.open_case.output.echoId}}'],
    ['given as input', '{{input.wish}}'],
  ])('is never stated, not even when %s', async (_, reference) => {
    const { reply, names } = await run({
      steps: [note, later, open],
      replies: { resolved: `We noted: ${reference}` },
      input: { transactionId: 'TXN-1', wish: 'YOU owe me 5000 USD.' },
      ticket,
      say: ['[[approved]]'],
    })

    expect(reply.source).toBe('built_in')
    expect(reply.text).not.toMatch(/you owe|5000|4711/i)
    expect(reply.verification).toMatchObject({
      ok: false,
      findings: [expect.stringContaining('what the ticket says is not a fact')],
    })
    expect(names).toEqual(['transaction id'])
  })

  it('does not keep what a tool has of its own from being stated', async () => {
    const { reply } = await run({
      steps: [note, open],
      replies: { resolved: 'Your case is {{steps.open_case.output.caseId}}.' },
      ticket,
      say: ['[[approved]]'],
    })

    expect(reply).toMatchObject({ source: 'model', text: `Your case is CASE-77. ${done}` })
  })
})

describe('what is sensitive', () => {
  const phone = '5551234567'
  const pin = '4321-secret'
  const tail = { key: 'tail', action: 'Cut', compute: { phone: 'input.phone.substring(6)' } }

  it('keeps a playbook whose reply reads it from going live', async () => {
    const example = { steps: [tail], replies: { resolved: 'We call {{input.phone}}.' } }

    await expect(run(example)).rejects.toMatchObject({ code: 'VERSION_HAS_ERRORS' })
  })

  it.each(['{{steps.tail.output.phone}}', '{{steps.card.output.text}}'])(
    'is in no reply, not even as %s',
    async (reference) => {
      const card = { key: 'card', action: 'Join', compute: { text: "'Call ' + input.phone" } }
      const { reply, body } = await run({
        steps: [tail, card],
        replies: { resolved: `We call ${reference}.` },
        input: { transactionId: 'TXN-1', phone },
        say: ['[[approved]]'],
      })

      expect(reply.text).not.toMatch(/4567/)
      expect(reply.verification).toMatchObject({
        ok: false,
        findings: [expect.stringContaining('it is sensitive')],
      })
      expect(body).not.toContain('4567')
    },
  )

  it('is what a tool takes as such, also when the call failed', async () => {
    const ask = {
      ...bare('check_pin', { pin: '{{input.pin}}' }),
      required: false,
      onError: 'continue',
    }
    const { reply, body, names } = await run({
      steps: [ask],
      replies: { resolved: 'Your PIN is {{input.pin}}.' },
      input: { transactionId: 'TXN-1', pin },
      ticket: `My PIN is ${pin}`,
      say: ['[[approved]]'],
    })

    expect(reply.text).not.toContain('4321')
    expect(names).toEqual(['transaction id'])
    expect(body).not.toContain('4321')
    expect(body).toContain('My PIN is [withheld]')
  })

  it('is so as well when the tool was never called, however short it is', async () => {
    const { reply } = await run({
      steps: [{ ...bare('check_pin', { pin: '{{input.pin}}' }), when: 'false' }],
      replies: { resolved: 'Your PIN is {{input.pin}}.' },
      input: { transactionId: 'TXN-1', pin: '4' },
      say: ['[[approved]]'],
    })

    expect(reply.text).toContain('our procedure')
  })

  it('is withheld from the ticket too where nothing took it up', async () => {
    const { body } = await run({
      steps: [bare('check_pin', { pin: 'x' })],
      input: { transactionId: 'TXN-1' },
      ticket: 'Charge 4111 1111 1111 1111, not 5555-5555-5555-4444',
      say: ['Your request is resolved.'],
    })

    expect(body).toContain('Charge [withheld], not [withheld]')
  })

  it('is so inside of what the tool was given as a whole', async () => {
    const given = bare('check_account', { account: '{{input.account}}' })
    const { reply, body } = await run({
      steps: [{ ...given, required: false, onError: 'continue' }],
      replies: { resolved: 'Your PIN is {{input.account.pin}}.' },
      input: { transactionId: 'TXN-1', account: { pin, kind: 'x' } },
      ticket: `My PIN is ${pin}`,
      say: ['[[approved]]'],
    })

    expect(reply.text).toContain('our procedure')
    expect(body).not.toContain('4321')
  })
})

it('says nothing of a refund that does not exist', async () => {
  const { app: seeded } = await openTestApp({ replyModel })
  await seedProcedures(seeded)
  for (const lie of [
    'Your refund for transaction {transaction id} is in.',
    'Your refund of the transaction amount value {transaction amount value} is on our records.',
    'We are happy to confirm that it is now completed.',
  ]) {
    server.respond(writes(lie, 'A colleague will write to you.'))

    const { execution, reply } = await operations.resolveTicket.invoke(seeded, admin, {
      ticket: { text: 'Where is my refund for TXN-DUP-002?' },
      procedureKey: 'REFUND_DELAY_PLAYBOOK',
    })

    expect(execution?.status).toBe('escalated')
    expect(reply?.source).toBe('built_in')
  }
})
