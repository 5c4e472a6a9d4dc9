import { describe, expect, it } from 'vitest'
import { learn } from '../../conformance/sopbench/domain-tools.ts'
import { expressionRules } from '../../conformance/sopbench/expression-rules.ts'
import { parseExpression } from '../../src/domain/expression.ts'
import { rental } from './rental.ts'

type Rule = readonly [inputs: readonly string[], via: readonly string[], holdsWhen: string]

const learned = learn(rental)

function translated([inputs, via, holdsWhen]: Rule) {
  const rule = { inputs: [...inputs], via: [...via], holdsWhen, reads: '' }
  const rules = expressionRules({ ...rental.tools, checks: { rule } }, learned)
  return rules({ check: 'rule', args: Object.fromEntries(inputs.map((name) => [name, name])) })
}

/** The expression without its guards on steps, and with `$x` for the output of a step. */
function shortened(when: string): string {
  return when
    .replaceAll(/steps\.\w+\.status == 'completed' && /g, '')
    .replaceAll(/steps\.(\w+)\.output/g, '$$$1')
}

const member = ['find_member']
const machine = ['find_machine']
const time = ['get_time']

describe('a rule in words', () => {
  it.each<readonly [...Rule, string]>([
    [
      ['username', 'amount'],
      ['get_deposit'],
      'deposit > amount (strictly)',
      'has(input.amount) && $get_deposit > input.amount',
    ],
    [
      ['username'],
      member,
      'tier, ignoring case, is not silver',
      "lower($find_member.tier) != 'silver'",
    ],
    [['username'], member, 'tier is one of policy.tiers', '$find_member.tier in policy.tiers'],
    [['username'], member, 'tier is "Gold" or "Silver"', "$find_member.tier in ['Gold', 'Silver']"],
    [
      ['username'],
      member,
      'guarantor is null, or deposit >= 100',
      '(!has($find_member.guarantor) || $find_member.deposit >= 100)',
    ],
    [['username'], member, 'the member has a guarantor', 'has($find_member.guarantor)'],
    [
      ['username', 'machine_id'],
      member,
      'the machine_id is not in lent',
      'has(input.machine_id) && !(input.machine_id in $find_member.lent)',
    ],
    [
      ['username'],
      member,
      'no booking has status "open"',
      "!$find_member.bookings.exists(x, x.status == 'open')",
    ],
    [
      ['username', 'machine_id'],
      member,
      'at least one booking has this machine_id and is "returned"',
      "has(input.machine_id) && $find_member.bookings.exists(x, x.machine_id == input.machine_id && x.status == 'returned')",
    ],
    [
      ['username'],
      member,
      'at least 2 bookings have status "returned"',
      "size($find_member.bookings.filter(x, x.status == 'returned')) >= 2",
    ],
    [
      ['username'],
      member,
      'sum of total over bookings whose status is "open" or "late", plus 5, <= policy.max_days',
      "(sum($find_member.bookings.filter(x, x.status in ['open', 'late']).map(x, x.total)) + 5) <= policy.max_days",
    ],
    [['username'], member, 'there is more than one booking', 'size($find_member.bookings) > 1'],
    [
      ['username'],
      [...member, ...time],
      'completed years from joined to interaction_time >= 1',
      'yearsBetween(parseDate($find_member.joined), parseDate($get_time)) >= 1',
    ],
    [
      ['from_date'],
      time,
      'from_date - interaction_time >= policy.notice hours',
      'has(input.from_date) && hoursBetween(parseDate($get_time), parseDate(input.from_date)) >= policy.notice',
    ],
    [
      ['machine_id'],
      [...machine, ...time],
      'today <= service_due, on whole dates',
      'date(parseDate($get_time)) <= date(parseDate($find_machine.service_due))',
    ],
    [
      [],
      time,
      'policy.opening <= time of interaction_time',
      'policy.opening <= string(parseDate($get_time)).substring(11, 16)',
    ],
    [
      ['machine_id', 'from_date', 'to_date'],
      machine,
      'for every night from from_date to to_date: the date is in free_dates',
      'has(input.from_date) && has(input.to_date) && daysBetween(parseDate(input.from_date), parseDate(input.to_date)) >= 0 && range(daysBetween(parseDate(input.from_date), parseDate(input.to_date))).all(day, string(addDays(parseDate(input.from_date), day)).substring(0, 10) in $find_machine.free_dates)',
    ],
    [
      ['username'],
      ['get_basket', 'get_everything'],
      'for every machine of the basket: days <= stock of the machine',
      '$get_basket.all(x, x in $get_everything.machines && $get_basket[x].days <= $get_everything.machines[x].stock)',
    ],
    [
      ['count', 'amount'],
      [],
      'cost <= policy.max_days, where cost is amount when count > 1, else amount / 2',
      'has(input.count) && has(input.amount) && (((input.count > 1) ? input.amount : (input.amount / 2)) <= policy.max_days)',
    ],
    [
      ['from_date'],
      [],
      'the text is YYYY-MM-DD',
      "has(input.from_date) && isDate(input.from_date, 'YYYY-MM-DD')",
    ],
    [
      ['username'],
      member,
      'every booking has status "returned" and deposit >= 100',
      "$find_member.bookings.all(x, x.status == 'returned') && $find_member.deposit >= 100",
    ],
    [
      ['username', 'machine_id'],
      member,
      'no machine_id is given, or it is not the case that machine_id is in lent',
      '(!has(input.machine_id) || (has(input.machine_id) && !(input.machine_id in $find_member.lent)))',
    ],
    [
      ['username'],
      [...member, 'get_everything'],
      'no other member has a booking that is open',
      "has(input.username) && !$get_everything.members.exists(x, x != input.username && $get_everything.members[x].bookings.exists(y, y.status == 'open'))",
    ],
    [
      ['username', 'amount'],
      member,
      '(tier is "Gold" or tier is "Silver") and amount x 1.1, rounded to whole numbers, <= deposit',
      "has(input.amount) && (($find_member.tier == 'Gold' || $find_member.tier == 'Silver') && round(input.amount * 1.1) <= $find_member.deposit)",
    ],
  ])('of %j by %j: %s', (inputs, via, holdsWhen, expected) => {
    const { when } = translated([inputs, via, holdsWhen])

    expect(shortened(when)).toBe(expected)
    expect(parseExpression(when)).not.toHaveProperty('problems')
  })

  it.each<readonly [...Rule, string]>([
    [['username'], member, 'the moon looks kindly upon the member', 'is not understood'],
    [['username'], member, 'deposit of the guarantor >= 5', 'is not understood'],
    [['username'], member, 'balance >= 5', 'is not understood'],
    [['username'], member, 'joined > deposit', 'is compared with'],
    [['username'], member, 'deposit >= policy.no_such_constant', 'is not understood'],
    [
      ['username'],
      member,
      'deposit >= 5 (unless the member is new)',
      "the remark 'unless the member is new'",
    ],
    [
      ['machine_id', 'from_date', 'to_date'],
      machine,
      'every day from from_date to to_date: the date is in free_dates',
      'whether the last day counts',
    ],
    [['username'], ['find_nobody'], 'deposit >= 5', 'there is no tool find_nobody'],
    [['username'], member, 'the username is not taken', 'is not understood'],
    [['username'], member, 'lent contains soap', 'is not understood'],
    [['machine_id'], machine, 'the maker is wooden', 'is not understood'],
    [['username'], member, 'no booking is late', 'is not understood'],
    [['username'], member, 'joined + 3 months <= interaction_time', 'is not understood'],
    [['username'], member, 'deposit, rounded to the next prime, >= 5', 'rounded to the next prime'],
  ])('of %j by %j is refused: %s', (inputs, via, holdsWhen, why) => {
    expect(() => translated([inputs, via, holdsWhen])).toThrow(why)
  })

  it('looks up what it reads, as soon as its input is there', () => {
    const { lookups } = translated([
      ['username'],
      ['find_member', 'get_time'],
      'joined < interaction_time',
    ])

    expect(lookups.map(({ key, when }) => [key, when])).toEqual([
      ['find_member', ['has(input.username)']],
      ['get_time', []],
    ])
  })
})
