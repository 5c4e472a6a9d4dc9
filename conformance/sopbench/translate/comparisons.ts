import { Untranslatable } from '../playbook.ts'
import { type Condition, isTime, moment, operand, type Term, wholeDay } from './term.ts'
import type { Reader } from './values.ts'

/** Compares two values as what they are: numbers, texts, times, lengths of time. */
export function compare({ scope }: Reader, left: Term, operator: string, right: Term): Condition {
  const guards = [...left.guards, ...right.guards]
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
  return { cel: `${operand(left.cel)} ${operator} ${operand(right.cel)}`, guards }
}

/** A text in lower case; one that is written out is written so. */
export function lowered({ cel }: Pick<Term, 'cel'>): string {
  return cel.startsWith("'") ? cel.toLowerCase() : `lower(${cel})`
}

/** Refuses what can never have been meant: a value against itself, a time against a text, a record against a number. */
function requireComparable(left: Term, right: Term): void {
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
  const count = hoursEach === 1 ? operand(length.cel) : `${operand(length.cel)} * ${hoursEach}`
  return { between: span.between, operator, count, isDays: false }
}

function turned(operator: string): string {
  return operator.replace(/[<>]/, (sign) => (sign === '<' ? '>' : '<'))
}
