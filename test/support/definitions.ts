import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/domain/json.ts'

/**
 * A document with a step of every kind and every modifier, as an author may write it: the example of most tests.
 * Nothing in it equals its default, so that it is its own normal form.
 */
export function fullDocument(): JsonObject {
  return {
    key: 'EVERYTHING_PLAYBOOK',
    name: 'Everything',
    description: 'A procedure that uses all there is.',
    category: 'payments',
    issuePatterns: ['charged twice'],
    examples: { match: ['I was charged twice'], noMatch: ['Where is my parcel?'] },
    internal: true,
    input: {
      type: 'object',
      required: ['transactionId'],
      properties: {
        transactionId: { type: 'string', pattern: '^TXN-[0-9]{3}$', source: 'caller' },
        cardNumber: { type: 'string', sensitive: true },
      },
    },
    policy: { refundLimit: 500 },
    preconditions: [
      { text: 'There is an id', when: 'has(input.transactionId)', otherwise: 'declined' },
    ],
    steps: [
      {
        key: 'check_refund',
        action: 'See whether a refund exists',
        when: 'true',
        required: false,
        expectedOutput: 'The state of the refund',
        tool: 'check_refund',
        with: { transactionId: '{{input.transactionId}}' },
        poll: { every: '5s', until: "output.state != 'pending'", atMost: 5, otherwise: 'continue' },
        timeout: '10s',
        retry: { maxAttempts: 3, delay: '2s', backoff: 1.5 },
        expect: 'has(output.state)',
        onError: 'continue',
        escalateTo: { queue: 'payments', priority: 'high', assignee: 'kim' },
      },
      { key: 'total', action: 'Add up', compute: { amount: '1 + 2' } },
      {
        key: 'eligible',
        action: 'Apply the policy',
        require: [
          {
            text: 'Within the limit',
            when: 'steps.total.output.amount < 5',
            say: 'Too much.',
            confidential: true,
          },
        ],
        otherwise: [
          { key: 'tell', action: 'Tell the customer', tool: 'notify', with: { message: 'No.' } },
          { key: 'stop', action: 'Stop', end: 'declined', text: 'Not within the limit.' },
        ],
      },
      {
        key: 'by_state',
        action: 'Choose',
        choose: [
          {
            text: 'Nothing yet',
            when: "steps.check_refund.output.state == 'none'",
            steps: [{ key: 'refund', action: 'Refund', tool: 'issue_refund' }],
          },
        ],
        otherwise: 'continue',
      },
      {
        key: 'rounds',
        action: 'Try a few times',
        forEach: '[1, 2]',
        maxItems: 5,
        repeat: { until: 'steps.pause.status == "completed"', atMost: 3, otherwise: 'declined' },
        steps: [{ key: 'pause', action: 'Wait', wait: { for: '2 workdays' } }],
      },
      {
        key: 'ask_customer',
        action: 'Ask the customer',
        required: false,
        ask: 'customer',
        message: 'Which card?',
        answer: { type: 'string', maxLength: 20 },
        deadline: '3d',
        remind: '1d',
        onDeadline: 'continue',
      },
      {
        key: 'approve',
        action: 'Approve',
        approval: 'group:refund-desk',
        show: { amount: '{{steps.total.output.amount}}' },
        quorum: 2,
        notBy: ['ask_customer'],
        deadline: '5 workdays',
        onDeadline: 'declined',
        onDenied: 'declined',
      },
      { key: 'other', action: 'Run another', call: 'OTHER_PLAYBOOK', with: { id: 1 } },
      { key: 'until_due', action: 'Wait until due', wait: { until: 'now' } },
      { key: 'done', action: 'End', end: 'resolved' },
    ],
    completionConditions: [
      { text: 'The refund is known', when: 'has(steps.check_refund.output.state)' },
    ],
    escalationRules: [
      {
        text: 'A large amount',
        when: 'steps.total.output.amount > 9',
        escalateTo: { queue: 'fraud' },
      },
    ],
    escalateTo: { queue: 'support' },
    successCriteria: 'The customer knows',
    timeLimit: '2h',
    due: { after: '5d', from: 'ticket.createdAt', warn: '1d' },
    output: { amount: 'steps.total.output.amount' },
    replies: { resolved: 'Done.', declined: 'No.', escalated: 'We will see.' },
    metadata: { owner: 'payments team' },
  }
}

const step = (fields: JsonObject): fc.Arbitrary<JsonObject> => fc.constant(fields)

/** Any step, without its key: keys are given when the whole document is there. */
const { anyStep } = fc.letrec<{ anyStep: JsonObject; steps: JsonObject[] }>((tie) => ({
  steps: fc.array(tie('anyStep'), { minLength: 1, maxLength: 3 }),
  anyStep: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    step({ tool: 'check_refund', with: { id: '{{input.id}}' }, timeout: '10s' }),
    step({ tool: 'issue_refund', onError: 'declined', retry: { maxAttempts: 2 } }),
    step({ compute: { a: '1' } }),
    step({ wait: { for: '1d' } }),
    step({ ask: 'agent', message: 'Well?', answer: { type: 'boolean' }, deadline: '1d' }),
    step({ approval: 'approver', show: 'all' }),
    step({ call: 'OTHER_PLAYBOOK', forEach: 'input.list' }),
    tie('steps').map((steps): JsonObject => ({ steps })),
    tie('steps').map((steps): JsonObject => ({ choose: [{ text: 'a', when: 'true', steps }] })),
    tie('steps').map(
      (steps): JsonObject => ({
        require: [{ text: 'a', when: 'true' }],
        otherwise: [...steps, { end: 'declined' }],
      }),
    ),
  ),
}))

/** Valid documents in normal form, with trees of steps of all kinds. */
export const anyDocument: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      key: fc.constant('SOME_PLAYBOOK'),
      name: fc.constant('Some'),
      description: fc.constant('Some procedure.'),
      category: fc.constant('payments'),
      policy: fc.constant({ limit: 5 }),
      timeLimit: fc.constant('2h'),
      metadata: fc.dictionary(fc.string({ maxLength: 5 }), fc.integer(), {
        minKeys: 1,
        maxKeys: 3,
      }),
      steps: fc.array(anyStep, { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: ['key', 'name', 'description', 'steps'] },
  )
  .map((document) => withKeys(document) as JsonObject)

/** Gives every step of a document its key and its action. */
function withKeys(document: JsonObject): Json {
  let count = 0
  const visit = (value: Json, isStep: boolean): Json => {
    if (Array.isArray(value)) return value.map((item) => visit(item, isStep))
    if (typeof value !== 'object' || value === null) return value
    const named = isStep ? { key: `step_${count++}`, action: 'Do it' } : {}
    const members = Object.entries(value).map(([field, member]) => [
      field,
      field === 'steps' || field === 'otherwise' || field === 'choose'
        ? visit(member, field !== 'choose')
        : member,
    ])
    return { ...named, ...Object.fromEntries(members) }
  }
  return visit(document, false)
}

const stepDefaults: JsonObject = { required: true, escalateTo: {} }
const loopDefaults: JsonObject = { maxItems: 100 }
const kindDefaults: Readonly<Record<string, JsonObject>> = {
  tool: { with: {}, onError: 'escalated', retry: { maxAttempts: 1, delay: '5s' } },
  require: { otherwise: 'escalated' },
  choose: { otherwise: 'escalated' },
  approval: { quorum: 1, notBy: [], onDenied: 'escalated' },
  call: { with: {} },
}
const documentDefaults: JsonObject = {
  category: 'general',
  issuePatterns: [],
  examples: { match: [], noMatch: [] },
  internal: false,
  input: { type: 'object' },
  policy: {},
  preconditions: [],
  completionConditions: [],
  escalationRules: [],
  escalateTo: {},
  timeLimit: '60m',
  output: {},
  replies: {},
  metadata: {},
}

/**
 * The same document written otherwise: with `sequence`, explicit defaults and another key order, as `pick` decides
 * for each of them.
 */
export function dressed(document: JsonObject, pick: () => boolean): JsonObject {
  const shuffled = (value: JsonObject): JsonObject => {
    const entries = Object.entries(value)
    return Object.fromEntries(pick() ? entries.reverse() : entries)
  }
  const add = (value: JsonObject, defaults: JsonObject): JsonObject => {
    const added = Object.entries(defaults).filter(([field]) => !(field in value) && pick())
    return { ...value, ...Object.fromEntries(added) }
  }
  const steps = (list: Json | undefined): Json =>
    Array.isArray(list) ? list.map((item, index) => dressedStep(item, index + 1)) : (list ?? null)
  const dressedStep = (value: JsonObject, position: number): JsonObject => {
    let result = add(value, stepDefaults)
    for (const [kind, defaults] of Object.entries(kindDefaults))
      if (kind in value) result = add(result, defaults)
    if ('forEach' in value) result = add(result, loopDefaults)
    if (pick()) result = { ...result, sequence: position }
    if ('steps' in value) result = { ...result, steps: steps(value.steps) }
    if (Array.isArray(value.otherwise)) result = { ...result, otherwise: steps(value.otherwise) }
    if (Array.isArray(value.choose)) {
      const choose = value.choose.map((choice: JsonObject) =>
        shuffled({ ...choice, steps: steps(choice.steps) }),
      )
      result = { ...result, choose }
    }
    return shuffled(result)
  }
  return shuffled({ ...add(document, documentDefaults), steps: steps(document.steps) })
}
