import { Untranslatable } from '../playbook.ts'
import { type Shape, type TextFormat, unknownShape } from '../shape.ts'

/** A value of a rule as an expression: what it looks like, and what must hold before it may be read. */
export interface Term {
  readonly cel: string
  readonly shape: Shape
  readonly guards: readonly string[]
  /** True when it is a timestamp and not a text that stands for one. */
  readonly isMoment?: boolean
  /** True when upper and lower case are the same in what it is compared with. */
  readonly ignoresCase?: boolean
  /** A length of time: the number, of these units. */
  readonly hoursEach?: number
  /** A length of time in months or years, which have no fixed number of hours. */
  readonly monthsEach?: number
  /** A time that is moved on by months, which is only compared and never worked out. */
  readonly movedBy?: { readonly from: Term; readonly months: Term }
  /** The time that went by between two moments, which has a unit only where it is compared. */
  readonly between?: { readonly from: Term; readonly until: Term }
}

export interface Condition {
  readonly cel: string
  readonly guards: readonly string[]
  /** The conditions that it is made of. */
  readonly joined?: { readonly operator: '&&' | '||'; readonly parts: readonly Condition[] }
}

/** Both conditions, or one of them at least. */
export function joined(operator: '&&' | '||', parts: readonly Condition[]): Condition {
  const isAsked = (guard: string) => parts.some(({ cel }) => cel.includes(guard))
  const sides = parts.map(({ cel, guards }) => {
    // Of what the sentence itself asks whether it is there, the other side alone depends on its being there.
    const own = operator === '||' ? guards.filter(isAsked) : []
    const body = [...new Set(own), andOperand(cel)].join(' && ')
    return operator === '&&' ? andOperand(cel) : orOperand(own.length === 0 ? cel : body)
  })
  const guards = parts.flatMap((part) => part.guards)
  return {
    cel: sides.join(` ${operator} `),
    guards: operator === '&&' ? guards : guards.filter((guard) => !isAsked(guard)),
    joined: { operator, parts },
  }
}

export function andOperand(cel: string): string {
  return /\|\|| \? /.test(cel) ? `(${cel})` : cel
}

export function orOperand(cel: string): string {
  return /&&| \? /.test(cel) ? `(${cel})` : cel
}

export function negated({ cel, guards }: Condition, isNot = true): Condition {
  return { cel: isNot ? `!${operand(cel)}` : cel, guards }
}

const numberShape: Shape = { ...unknownShape, kinds: new Set(['number']) }
export const textShape: Shape = { ...unknownShape, kinds: new Set(['text']) }

export function numberTerm(cel: string, guards: readonly string[] = []): Term {
  return { cel, shape: numberShape, guards }
}

/** The number that a text writes. */
export function numberIn(term: Term): Term {
  const { cel, shape, guards } = term
  if (shape.format !== 'number' || shape.kinds.has('number')) return term
  const guard = `${operand(cel)}.matches('-?(0|[1-9][0-9]{0,14})([.][0-9]{1,10})?')`
  return numberTerm(`number(${cel})`, [...guards, guard])
}

export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** An operand, in parentheses where it needs them: not around a name, a literal or a call. */
export function operand(cel: string): string {
  let outer = cel.replace(/'(\\.|[^'\\])*'/g, '_')
  for (let before = ''; before !== outer; ) {
    before = outer
    outer = outer.replace(/(?<=\w)\([^()]*\)|^\([^()]*\)$|\[[^[\]]*\]/g, '_')
  }
  return /^-?[\w.]+$/.test(outer) ? cel : `(${cel})`
}

const dateFormats: ReadonlySet<TextFormat | undefined> = new Set([
  'date',
  'zonedDateTime',
  'dateTime',
  'spacedDateTime',
  'dateTimeMinutes',
  'dateOrDateTime',
  'englishDate',
  'plainEnglishDate',
  'slashedDate',
  'dottedDate',
])

export function isTime(term: Term): boolean {
  return term.isMoment === true || dateFormats.has(term.shape.format)
}

/** The timestamp that a text stands for. */
export function moment(term: Term): Term {
  if (term.isMoment) return term
  const { cel, shape, guards } = term
  return { cel: momentCel(operand(cel), shape.format), shape, guards, isMoment: true }
}

/** Forms that have to be named; all others are read without one. */
const namedForms: { readonly [F in TextFormat]?: string } = {
  englishDate: 'MMMM Do, YYYY',
  plainEnglishDate: 'MMMM D, YYYY',
  slashedDate: 'YYYY/MM/DD',
  dottedDate: 'DD.MM.YYYY',
}

function momentCel(text: string, format: TextFormat | undefined): string {
  if (!dateFormats.has(format) || format === undefined) {
    throw new Untranslatable(`it is not known how ${text} writes a time`)
  }
  const form = namedForms[format]
  return form === undefined ? `parseDate(${text})` : `parseDate(${text}, ${quote(form)})`
}

/** The midnight of a time. */
export function wholeDay(term: Term): Term {
  const { cel, ...rest } = moment(term)
  if (term.shape.format === 'date' || cel.startsWith('date(')) return { ...rest, cel }
  return { ...rest, cel: `date(${cel})` }
}
