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
  /** The time that went by between two moments, which has a unit only where it is compared. */
  readonly between?: { readonly from: Term; readonly until: Term }
}

export interface Condition {
  readonly cel: string
  readonly guards: readonly string[]
}

const numberShape: Shape = { ...unknownShape, kinds: new Set(['number']) }
export const textShape: Shape = { ...unknownShape, kinds: new Set(['text']) }

export function numberTerm(cel: string, guards: readonly string[] = []): Term {
  return { cel, shape: numberShape, guards }
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

function momentCel(text: string, format: TextFormat | undefined): string {
  switch (format) {
    case 'date':
    case 'zonedDateTime':
      return `timestamp(${text})`
    case 'dateTime':
      return `timestamp(${text} + 'Z')`
    case 'spacedDateTime':
      return `timestamp(${text}.replace(' ', 'T') + 'Z')`
    case 'dateTimeMinutes':
      return `timestamp(${text}.replace(' ', 'T') + ':00Z')`
    case 'dateOrDateTime':
      return `timestamp(${text}.size() == 10 ? ${text} : ${text}.replace(' ', 'T') + 'Z')`
    case 'englishDate':
      return englishDateCel(text, 3)
    case 'plainEnglishDate':
      return englishDateCel(text, 1)
    default:
      throw new Untranslatable(`it is not known how ${text} writes a time`)
  }
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
]

/** `October 10th, 2024` as the library of expressions can read it: `2024-10-10`. `ending`: characters after the day. */
function englishDateCel(text: string, ending: number): string {
  const names = months.map((name, index) => `'${name}': '${String(index + 1).padStart(2, '0')}'`)
  const word = (place: number) => `${text}.split(' ')[${place}]`
  const day = `('0' + ${word(1)}.substring(0, ${word(1)}.size() - ${ending}))`
  const twoDigits = `${day}.substring(${word(1)}.size() - ${ending + 1})`
  return `timestamp(${word(2)} + '-' + {${names.join(', ')}}[${word(0)}] + '-' + ${twoDigits})`
}

/** The midnight of a time. */
export function wholeDay(term: Term): Term {
  const { cel, ...rest } = moment(term)
  if (term.shape.format === 'date' || cel.startsWith('date(')) return { ...rest, cel }
  return { ...rest, cel: `date(${cel})` }
}
