import { limitedTool } from './desk.ts'

/** The procedures of the runs: between them they have every kind of step, every loop and every way to wait. */

const call = (key: string, tool: string) => ({
  key,
  action: `Call ${tool}`,
  tool,
  with: { customerId: '{{input.customerId}}' },
})
const goesOn = { required: false, onDeadline: 'continue' } as const
const forItems = { forEach: 'input.items', maxItems: 10 } as const

/** Whoever is of this group speaks only to runs whose caller has not ended: what was left behind waits for ever. */
export const callersGroup = 'callers'

const steps: Readonly<Record<string, readonly object[]>> = {
  // Whatever happens, each of these ends resolved; a guided one also when somebody denies a write.
  CHAOS_REPEATABLE: [
    call('look_first', 'look_up'),
    call('pay', 'pay_once'),
    call('look_again', 'look_up'),
    {
      ...call('pay_more', 'pay_once'),
      when: 'steps.look_again.output.ok',
    },
  ],
  // Of these, the ones whose letter is in doubt end with a person.
  CHAOS_UNREPEATABLE: [
    call('look_first', 'look_up'),
    call('post', 'post_letter'),
    call('look_again', 'look_up'),
    call('pay', 'pay_once'),
  ],
  CHAOS_PEOPLE: [
    {
      key: 'code',
      action: 'Ask for the code',
      ask: 'customer',
      message: 'Which code do you see, {{input.customerId}}?',
      answer: { type: 'string', pattern: '^[0-9]{4}$' },
      deadline: '2s',
      remind: '1s',
      ...goesOn,
    },
    call('pay_told', 'pay_once'),
    {
      key: 'yes',
      action: 'Two people approve',
      approval: 'approver',
      show: { customer: '{{input.customerId}}' },
      quorum: 2,
      deadline: '3s',
      onDenied: 'continue',
      ...goesOn,
    },
    { ...call('pay_approved', 'pay_once'), when: "steps.yes.status == 'completed'" },
    { key: 'rest', action: 'Wait', wait: { until: 'addHours(now, 0.0001)' } },
    {
      key: 'each_number',
      action: 'Ask for each',
      ask: 'agent',
      message: 'Which number has {{item}}?',
      answer: { type: 'integer' },
      deadline: '2s',
      remind: '1s',
      ...forItems,
      ...goesOn,
    },
    call('pay_numbered', 'pay_once'),
    // One no, or one deadline, ends the run while the others still wait.
    {
      key: 'each_yes',
      action: 'Approve each',
      approval: 'approver',
      show: { item: '{{item}}' },
      deadline: '3s',
      ...forItems,
    },
    call('pay_last', 'pay_once'),
  ],
  CHAOS_LOOPS: [
    { ...call('pay_each', 'pay_once'), ...forItems },
    {
      key: 'rounds',
      action: 'A block for each',
      ...forItems,
      steps: [
        call('look_in_round', 'look_up'),
        { ...call('pay_in_round', 'pay_once'), when: 'steps.look_in_round.output.ok' },
        { ...call('pay_each_in_round', 'pay_once'), ...forItems },
      ],
    },
    {
      key: 'again',
      action: 'A block until it is enough',
      required: false,
      repeat: { until: 'steps.roll_again.output.n > 0.6', atMost: 3, otherwise: 'continue' },
      steps: [call('pay_again', 'pay_once'), call('roll_again', 'roll')],
    },
    call('pay_last', 'pay_once'),
  ],
  CHAOS_POLLS: [
    call('pay_first', 'pay_once'),
    {
      ...call('roll_until', 'roll'),
      required: false,
      poll: { every: '1s', until: 'output.n > 0.7', atMost: 3, otherwise: 'continue' },
    },
    // The wait between two attempts is long enough for a timer that is committed.
    {
      ...call('try_again', 'falter'),
      retry: { maxAttempts: 20, delay: '6s', backoff: 1 },
    },
    call('pay_last', 'pay_once'),
  ],
  // Its customer may have two of three: the third is beyond the limit.
  CHAOS_LIMITED: [
    {
      key: 'pay_each',
      action: 'Pay a little for each',
      tool: limitedTool,
      with: { customerId: '{{input.customerId}}', amount: 0.1 },
      retry: { maxAttempts: 20, delay: '0s' },
      ...forItems,
    },
    call('pay_last', 'pay_once'),
  ],
  CHAOS_CALLS: [
    call('pay_before', 'pay_once'),
    {
      key: 'one',
      action: 'Call one',
      call: 'CHAOS_CALLED',
      with: { customerId: '{{input.customerId}}', item: 'plain' },
    },
    {
      key: 'all',
      action: 'Call one for each',
      call: 'CHAOS_CALLED',
      with: { customerId: '{{input.customerId}}', item: '{{item}}' },
      ...forItems,
    },
    call('pay_after', 'pay_once'),
  ],
  CHAOS_CALLED: [
    call('pay_called', 'pay_once'),
    {
      key: 'by_item',
      action: 'Do what is wanted',
      choose: [
        {
          text: 'Ask',
          when: "input.item == 'ask'",
          steps: [
            {
              key: 'asked',
              action: 'Ask whoever has called',
              ask: `group:${callersGroup}`,
              message: 'Shall it go on?',
              answer: { type: 'string' },
            },
          ],
        },
        {
          text: 'Give up',
          when: "input.item == 'give up'",
          steps: [
            { key: 'pause', action: 'Wait', wait: { until: 'addHours(now, 0.0002)' } },
            { key: 'given_up', action: 'Hand it over', end: 'escalated', text: 'It gives up.' },
          ],
        },
      ],
      otherwise: 'continue',
    },
    call('look_called', 'look_up'),
    call('pay_more_called', 'pay_once'),
  ],
}

const properties = {
  customerId: { type: 'string', description: 'Customer' },
  items: { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'Items' },
  item: { type: 'string', description: 'What is wanted' },
}
const inputs: Readonly<Record<string, readonly (keyof typeof properties)[]>> = {
  CHAOS_PEOPLE: ['customerId', 'items'],
  CHAOS_LOOPS: ['customerId', 'items'],
  CHAOS_LIMITED: ['customerId', 'items'],
  CHAOS_CALLS: ['customerId', 'items'],
  CHAOS_CALLED: ['customerId', 'item'],
}

/** The definition of a procedure. */
export function definitionOf(key: string): object {
  const required = inputs[key] ?? ['customerId']
  return {
    key,
    name: key,
    description: 'A run that is disturbed.',
    issuePatterns: ['disturb this', 'break this', 'kill this', 'try this'],
    input: {
      type: 'object',
      required,
      properties: Object.fromEntries(required.map((name) => [name, properties[name]])),
    },
    steps: steps[key] ?? [],
    completionConditions: [{ text: 'The customer is known', when: 'has(input.customerId)' }],
  }
}

/** Called ones before those that call them. */
export const procedureKeys = [
  'CHAOS_REPEATABLE',
  'CHAOS_UNREPEATABLE',
  'CHAOS_PEOPLE',
  'CHAOS_LOOPS',
  'CHAOS_LIMITED',
  'CHAOS_POLLS',
  'CHAOS_CALLED',
  'CHAOS_CALLS',
] as const

export interface Order {
  readonly procedureKey: string
  readonly input: { readonly [name: string]: unknown; readonly customerId: string }
  readonly customerId?: string
  readonly mode?: 'guided'
}

/** The run that is started as number so-and-so, from 1. The first are poison. */
export function orderOf(number: number, poison: number): Order {
  const customerId = `${number <= poison ? 'poison' : 'customer'}-${number}`
  if (number <= poison) {
    const procedureKey = number % 3 === 0 ? 'CHAOS_UNREPEATABLE' : 'CHAOS_REPEATABLE'
    return { procedureKey, input: { customerId } }
  }
  switch (number % 10) {
    case 0:
      return { procedureKey: 'CHAOS_PEOPLE', input: { customerId, items: ['a', 'b', 'c'] } }
    case 1:
      return { procedureKey: 'CHAOS_LOOPS', input: { customerId, items: ['a', 'b'] } }
    case 2: {
      const last = number % 20 === 2 ? 'give up' : 'plain'
      return { procedureKey: 'CHAOS_CALLS', input: { customerId, items: ['ask', 'plain', last] } }
    }
    case 3:
      return { procedureKey: 'CHAOS_REPEATABLE', input: { customerId }, mode: 'guided' }
    case 4:
      return { procedureKey: 'CHAOS_UNREPEATABLE', input: { customerId }, mode: 'guided' }
    case 6: {
      const items = number % 20 === 6 ? ['a', 'b', 'c'] : ['a', 'b']
      return { procedureKey: 'CHAOS_LIMITED', input: { customerId, items }, customerId }
    }
    case 5:
      return { procedureKey: 'CHAOS_POLLS', input: { customerId } }
    case 7:
      return { procedureKey: 'CHAOS_UNREPEATABLE', input: { customerId } }
    default:
      return { procedureKey: 'CHAOS_REPEATABLE', input: { customerId } }
  }
}
