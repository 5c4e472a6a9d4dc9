import type { Case, Domain, Tree } from '../../conformance/sopbench/cases.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'

/** A domain that no suite has: a shop that lends machines out. */

const member = {
  password: 'open sesame',
  deposit: 120.5,
  tier: 'Gold',
  guarantor: null,
  joined: '2023-05-01',
  lent: ['M1'],
  bookings: [
    { booking_id: 'B1', machine_id: 'M1', status: 'returned', total: 40 },
    { booking_id: 'B2', machine_id: 'M2', status: 'open', total: 15 },
  ],
  basket: { M1: { days: 2 } },
}

const machine = {
  daily_rate: 12.5,
  stock: 3,
  maker: 'Bolt & Co',
  needs: ['gloves', 'helmet'],
  free_dates: ['2024-06-03', '2024-06-04'],
  service_due: '2024-06-30T08:00:00',
}

const initialDatabase: JsonObject = {
  members: { ada: member, 'old bob': { ...member, basket: {}, guarantor: 'ada' } },
  machines: { M1: machine, M2: machine },
  interaction_time: '2024-06-01T09:30:00',
}

const answers: readonly (readonly [tool: string, args: JsonObject, value: Json])[] = [
  ['find_member', { username: 'ada' }, member],
  ['find_member', { username: 'old bob' }, { ...member, basket: {}, guarantor: 'ada' }],
  ['find_machine', { machine_id: 'M1' }, machine],
  ['get_basket', { username: 'ada' }, member.basket],
  ['get_deposit', { username: 'ada' }, 120.5],
  ['get_time', {}, '2024-06-01T09:30:00'],
  ['member_exists', { username: 'ada' }, true],
]

const user: JsonObject = {
  username: 'ada',
  password: 'open sesame',
  machine_id: 'M1',
  amount: 20,
  count: 2,
  from_date: '2024-06-03',
  to_date: '2024-06-05',
  gear: ['helmet', 'gloves'],
}

const read = (inputs: string[], reads: string, result: string) => ({
  kind: 'read' as const,
  inputs,
  reads,
  result,
  refuses: 'what is not there',
  writes: '-',
})

const tools: Domain['tools'] = {
  state:
    'members: map username -> {password, deposit, tier, guarantor, joined, lent: list, bookings: list of {booking_id, machine_id, status, total}, basket: map machine id -> {days}}. machines: map machine id -> {daily_rate, stock, maker, needs, free_dates, service_due}. interaction_time: fixed clock.',
  session: { logged_in: { tool: 'log_in', args: ['username', 'password'] } },
  tools: {
    log_in: { ...read(['username', 'password'], 'members', 'ok'), kind: 'session' },
    find_member: read(['username'], 'members[username]', 'the member'),
    find_machine: read(['machine_id'], 'machines[machine_id]', 'the machine'),
    get_basket: read(['username'], 'members[username].basket', 'the map of machines'),
    get_deposit: read(['username'], 'members[username].deposit', 'the number'),
    get_time: read([], 'interaction_time', 'the date-time'),
    get_everything: read([], 'everything', 'whole state'),
    member_exists: read(['username'], 'members', 'true when a key'),
    lend: {
      ...read(['username', 'machine_id', 'count', 'note?'], '-', 'ok'),
      kind: 'write',
    },
  },
  checks: {
    enough_deposit: {
      inputs: ['username', 'amount'],
      holdsWhen: 'deposit >= amount',
      reads: 'deposit',
      via: ['get_deposit'],
    },
    enough_stock: {
      inputs: ['machine_id', 'count'],
      holdsWhen: 'stock of the machine is at least count',
      reads: 'machine',
      via: ['find_machine'],
    },
    lent_before: {
      inputs: ['username', 'machine_id'],
      holdsWhen: 'machine_id is in lent',
      reads: 'member',
      via: ['find_member'],
    },
    unheard_of: {
      inputs: ['username'],
      holdsWhen: 'the moon looks kindly upon the member',
      reads: '-',
      via: ['find_member'],
    },
  },
}

const leaf = (check: string, ...inputs: string[]) => ({
  check,
  args: Object.fromEntries(inputs.map((input) => [input, input])),
})

const lend: Tree = {
  op: 'and',
  of: [
    leaf('logged_in', 'username'),
    {
      op: 'chain',
      of: [
        leaf('member_exists', 'username'),
        {
          op: 'or',
          of: [
            leaf('lent_before', 'username', 'machine_id'),
            leaf('enough_deposit', 'username', 'amount'),
          ],
        },
      ],
    },
    leaf('enough_stock', 'machine_id', 'count'),
  ],
}

function caseOf(id: string, changes: Partial<Case> = {}): Case {
  const recorded = answers.map(([tool, args, value]) => ({ tool, args, ok: true, value }))
  return {
    id,
    goal: 'lend',
    procedure: 'rental/lend/v1',
    user,
    goalArgs: { username: 'ada', machine_id: 'M1', count: 2 },
    policy: { max_days: 7, notice: 48, tiers: ['Gold', 'Silver'], opening: '08:00' },
    initialDatabase,
    checks: [
      { ...leaf('logged_in', 'username'), holds: true },
      { ...leaf('member_exists', 'username'), holds: true },
      { ...leaf('lent_before', 'username', 'machine_id'), holds: true },
      { ...leaf('enough_deposit', 'username', 'amount'), holds: true },
      { ...leaf('enough_stock', 'machine_id', 'count'), holds: true },
    ],
    toolResults: [
      { tool: 'log_in', args: { username: 'ada', password: 'open sesame' }, ok: true },
      ...recorded,
    ],
    expected: { outcome: 'success' },
    ...changes,
  }
}

function refusedBy(check: string): Partial<Case> {
  const constraints = [{ check, args: {} }]
  return { expected: { outcome: 'refused', refusedBy: { by: 'constraint', constraints } } }
}

const tooMany = { ...user, count: 9 }
const good = caseOf('rental/lend/001')

/** One case of each kind, and one whose rule nobody can write down. */
export const rental: Domain = {
  name: 'rental',
  tools,
  procedures: [
    { id: 'rental/lend/v1', goal: 'lend', constraints: lend },
    { id: 'rental/lend/v2', goal: 'lend', constraints: leaf('unheard_of', 'username') },
  ],
  cases: [
    good,
    caseOf('rental/lend/002', {
      user: tooMany,
      goalArgs: { username: 'ada', machine_id: 'M1', count: 9 },
      checks: good.checks.map((one) =>
        one.check === 'enough_stock' ? { ...one, holds: false } : one,
      ),
      expected: {
        outcome: 'refused',
        refusedBy: {
          by: 'constraint',
          constraints: [leaf('enough_stock', 'machine_id', 'count')],
        },
      },
    }),
    caseOf('rental/lend/003', {
      expected: { outcome: 'refused', refusedBy: { by: 'tool', constraints: [] } },
    }),
    caseOf('rental/lend/004', {
      user: Object.fromEntries(Object.entries(user).filter(([name]) => name !== 'password')),
      ...refusedBy('logged_in'),
      checks: [{ ...leaf('logged_in', 'username'), holds: false }],
    }),
    // Wrong on purpose: it is refused, as it must be.
    caseOf('rental/lend/006', { user: tooMany, goalArgs: { ...good.goalArgs, count: 9 } }),
    caseOf('rental/lend/005', {
      procedure: 'rental/lend/v2',
      checks: [{ ...leaf('unheard_of', 'username'), holds: true }],
    }),
  ],
}
