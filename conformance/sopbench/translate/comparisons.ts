import { Untranslatable } from '../playbook.ts'
import type { RuleScope } from './scope.ts'
import {
  type Condition,
  isTime,
  moment,
  numberIn,
  operand,
  quote,
  type Term,
  wholeDay,
} from './term.ts'
import type { Reader } from './values.ts'

/** Compares two values as what they are: numbers, texts, times, lengths of time. */
export function compare({ scope }: Reader, left: Term, operator: string, right: Term): Condition {
  const guards = [...left.guards, ...right.guards]
  const ranked = comparedRanks(scope, left, operator, right)
  if (ranked !== undefined) return ranked
  const moved = comparedMove(left, operator, right) ?? comparedMove(right, turned(operator), left)
  const months = moved ?? comparedMonths(left, operator, right)
  if (months !== undefined) return { cel: months, guards }
  const spanned = comparedSpan(left, operator, right) ?? comparedSpan(right, turned(operator), left)
  if (spanned !== undefined) {
    const { from, until } = spanned.between
    if (scope.wholeDays || spanned.isDays) {
      const cel = `daysBetween(${moment(from).cel}, ${moment(until).cel}) ${spanned.operator} ${spanned.count}`
      return { cel, guards }
    }
    const hours = `hoursBetween(${moment(from).cel}, ${moment(until).cel})`
    return { cel: `${hours} ${spanned.operator} ${spanned.count}`, guards }
  }
  if (left.between !== undefined || right.between !== undefined) {
    throw new Untranslatable('a length of time is compared with what has no unit')
  }
  const isOrder = /[<>]/.test(operator)
  requireComparable(left, right)
  if (left.ignoresCase || right.ignoresCase || scope.ignoresCase) {
    return { cel: `${lowered(left)} ${operator} ${lowered(right)}`, guards }
  }
  if (
    isTime(left) &&
    isTime(right) &&
    (isOrder || left.isMoment || right.isMoment || scope.wholeDays)
  ) {
    const [a, b] = [left, right].map((term) => (scope.wholeDays ? wholeDay(term) : moment(term)))
    return { cel: `${a?.cel} ${operator} ${b?.cel}`, guards }
  }
  const [a, b] = numbersOf(left, right)
  return {
    cel: `${operand(a.cel)} ${operator} ${operand(b.cel)}`,
    guards: [...a.guards, ...b.guards],
  }
}

/** A text that writes a number is read as one where it stands against a number. */
function numbersOf(left: Term, right: Term): readonly [Term, Term] {
  const isNumber = ({ shape }: Term) => shape.kinds.has('number')
  if (isNumber(left) && !isNumber(right)) return [left, numberIn(right)]
  if (isNumber(right) && !isNumber(left)) return [numberIn(left), right]
  return [left, right]
}

/** The rank of a text among those that the sentence has put in order. */
function comparedRanks(
  { ranking }: RuleScope,
  left: Term,
  operator: string,
  right: Term,
): Condition | undefined {
  const isText = [left, right].every(({ shape, isMoment }) => shape.kinds.has('text') && !isMoment)
  if (ranking.length === 0 || !isText || !/[<>]/.test(operator)) return undefined
  const ranks = `{${ranking.map((name, rank) => `${quote(name)}: ${rank}`).join(', ')}}`
  const known = [left, right].filter(({ cel }) => !cel.startsWith("'"))
  return {
    cel: `${ranks}[${left.cel}] ${operator} ${ranks}[${right.cel}]`,
    guards: [
      ...left.guards,
      ...right.guards,
      ...known.map(({ cel }) => `${operand(cel)} in ${ranks}`),
    ],
  }
}

/** A time against another that is moved on by months: what went by between them against these months. */
function comparedMove(time: Term, operator: string, { movedBy }: Term): string | undefined {
  if (movedBy === undefined) return undefined
  const { from, months } = movedBy
  return monthsCel(from, time, operator, months)
}

/** The time between two moments against a number of months or years. */
function comparedMonths(left: Term, operator: string, right: Term): string | undefined {
  const [span, sign, months] =
    left.between === undefined ? [right, turned(operator), left] : [left, operator, right]
  if (span.between === undefined || months.monthsEach === undefined) return undefined
  return monthsCel(span.between.from, span.between.until, sign, months)
}

function monthsCel(from: Term, until: Term, operator: string, months: Term): string {
  const isByDay = from.shape.format === 'date' && until.shape.format === 'date'
  if (operator !== '>=' && operator !== '<' && !isByDay) {
    throw new Untranslatable(
      'of months and years it can be told whether they are over, and no more',
    )
  }
  const [a, b] = [moment(from).cel, moment(until).cel]
  const end = operator === '<=' || operator === '>' ? `addDays(${b}, -1)` : b
  const sign = { '<=': '<', '>': '>=' }[operator] ?? operator
  const isYears = months.monthsEach === 12
  const days = `(day(${end}) < day(${a}) ? 1 : 0)`
  const count = `(year(${end}) - year(${a})) * 12 + month(${end}) - month(${a}) - ${days}`
  return isYears
    ? `yearsBetween(${a}, ${end}) ${sign} ${operand(months.cel)}`
    : `${count} ${sign} ${operand(months.cel)}`
}

/** A text in lower case; one that is written out is written so. */
export function lowered({ cel }: Pick<Term, 'cel'>): string {
  return cel.startsWith("'") ? cel.toLowerCase() : `lower(${cel})`
}

/** Refuses what can never have been meant: a value against itself, a time against a text, a record against a number. */
export function requireComparable(left: Term, right: Term): void {
  if (left.cel === right.cel) throw new Untranslatable(`${left.cel} is compared with itself`)
  const isOneTime = isTime(left) !== isTime(right)
  const other = isTime(left) ? right : left
  if (isOneTime && (left.isMoment || right.isMoment || other.shape.format !== undefined)) {
    throw new Untranslatable(`${left.cel} and ${right.cel} are not both times`)
  }
  const [a, b] = [left, right].map(({ shape }) =>
    [...shape.kinds].filter((kind) => kind !== 'null'),
  )
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) return
  if (a.some((kind) => b.includes(kind))) return
  const isWritten = [left, right].some(({ shape }) => shape.format === 'number')
  if (isWritten && [a, b].some((kinds) => kinds.includes('number'))) return
  throw new Untranslatable(`${left.cel} (${a.join()}) is compared with ${right.cel} (${b.join()})`)
}

interface Span {
  readonly between: { readonly from: Term; readonly until: Term }
  readonly operator: string
  readonly count: string
  readonly isDays: boolean
}

/** The time between two moments against a number of units; a bare number counts days. */
function comparedSpan(span: Term, operator: string, length: Term): Span | undefined {
  if (span.between === undefined) return undefined
  const { hoursEach } = length
  if (hoursEach === undefined) {
    if (!length.shape.kinds.has('number')) return undefined
    return { between: span.between, operator, count: operand(length.cel), isDays: true }
  }
  const count =
    hoursEach === 1
      ? operand(length.cel)
      : hoursEach < 1
        ? `${operand(length.cel)} / ${Math.round(1 / hoursEach)}`
        : `${operand(length.cel)} * ${hoursEach}`
  return { between: span.between, operator, count, isDays: false }
}

function turned(operator: string): string {
  return operator.replace(/[<>]/, (sign) => (sign === '<' ? '>' : '<'))
}
