import { findMidnight, isInstant } from './time.ts'

/** One part of a form: a text that stands for itself, or what reads a number from the start of a text. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly name: FieldName; readonly read: FieldReader }

type FieldName = 'year' | 'month' | 'day' | 'hour' | 'half' | 'minute' | 'second' | 'zone'

/** The number at the start of a text and how many characters it takes; undefined when none is there. */
type FieldReader = (text: string) => readonly [value: number, length: number] | undefined

/** How a date is written, such as `DD.MM.YYYY`, `MMMM Do, YYYY` or `YYYY-MM-DD h:mm A`. */
export interface DateForm {
  readonly parts: readonly Part[]
}

const months = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september'],
  ...['october', 'november', 'december'],
]

const fields: { readonly [token: string]: readonly [FieldName, FieldReader] } = {
  YYYY: ['year', digits(/^\d{4}/)],
  MMMM: ['month', monthName(Number.POSITIVE_INFINITY)],
  MMM: ['month', monthName(3)],
  MM: ['month', digits(/^\d{2}/)],
  M: ['month', digits(/^\d{1,2}/)],
  DD: ['day', digits(/^\d{2}/)],
  Do: ['day', ordinal],
  D: ['day', digits(/^\d{1,2}/)],
  HH: ['hour', digits(/^\d{2}/)],
  H: ['hour', digits(/^\d{1,2}/)],
  hh: ['hour', digits(/^\d{2}/)],
  h: ['hour', digits(/^\d{1,2}/)],
  A: ['half', half],
  mm: ['minute', digits(/^\d{2}/)],
  ss: ['second', digits(/^\d{2}/)],
  Z: ['zone', zone],
}

const tokenPattern = /YYYY|M{1,4}|Do|D{1,2}|H{1,2}|h{1,2}|mm|ss|A|Z|[^A-Za-z0-9]+|T/y

/** What a form may consist of, for messages. */
const formWords =
  'YYYY, MM, M, MMMM (October), MMM (Oct), DD, D, Do (10th), HH, H, hh, h, A (AM), mm, ss, Z, T and signs'

/** The longest form. */
const maxForm = 64

/** Reads a form, or says what is wrong with it. It has a year, a month and a day, and each part once. */
export function readForm(form: string): DateForm | string {
  if (form.length > maxForm) return `a form has at most ${maxForm} characters`
  const parts: Part[] = []
  const tokens: string[] = []
  for (let at = 0; at < form.length; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at
    const [token] = tokenPattern.exec(form) ?? []
    if (token === undefined) {
      return `a form consists of ${formWords}; found '${form.slice(at, at + 4)}'`
    }
    const field = fields[token]
    tokens.push(token)
    parts.push(
      field === undefined
        ? { kind: 'text', text: token }
        : { kind: 'field', name: field[0], read: field[1] },
    )
  }
  const names = parts.flatMap((part) => (part.kind === 'field' ? [part.name] : []))
  const has = (name: FieldName) => names.includes(name)
  const missing = (['year', 'month', 'day'] as const).filter((name) => !has(name))
  if (missing.length > 0) return `a form names a year, a month and a day; ${missing[0]} is missing`
  if (new Set(names).size < names.length) return 'a form names each part of a date once'
  const isHalved = tokens.some((token) => token === 'h' || token === 'hh')
  if (isHalved !== has('half')) return 'h and A go together: 3:05 PM is h:mm A; else write HH'
  const isGapped = (has('minute') && !has('hour')) || (has('second') && !has('minute'))
  if (isGapped || (has('zone') && !has('minute'))) {
    return 'minutes go with an hour, seconds with minutes, a zone with a time'
  }
  return { parts }
}

/**
 * The instant that a text stands for in a form, in epoch milliseconds; undefined when it is not written so, or names a
 * day or a time that does not exist. What the form leaves out is zero, and without a zone it is UTC.
 */
export function findInForm(text: string, { parts }: DateForm): number | undefined {
  const found: { [N in FieldName]?: number } = {}
  let rest = text
  for (const part of parts) {
    if (part.kind === 'text') {
      if (!rest.startsWith(part.text)) return undefined
      rest = rest.slice(part.text.length)
      continue
    }
    const read = part.read(rest)
    if (read === undefined) return undefined
    found[part.name] = read[0]
    rest = rest.slice(read[1])
  }
  if (rest !== '') return undefined
  const { year = 0, month = 0, day = 0, minute = 0, second = 0, zone: offset = 0 } = found
  const hour = hourOf(found.hour ?? 0, found.half)
  const midnight = findMidnight(year, month, day)
  if (midnight === undefined || hour === undefined || minute > 59 || second > 59) return undefined
  const at = midnight + ((hour * 60 + minute - offset) * 60 + second) * 1_000
  return isInstant(at) ? at : undefined
}

/** The hour of the day; `half` is 12 after noon, 0 before it, and absent where 24 hours are counted. */
function hourOf(hour: number, half: number | undefined): number | undefined {
  if (half === undefined) return hour > 23 ? undefined : hour
  return hour < 1 || hour > 12 ? undefined : (hour % 12) + half
}

function digits(pattern: RegExp): FieldReader {
  return (text) => {
    const [found] = pattern.exec(text) ?? []
    return found === undefined ? undefined : [Number(found), found.length]
  }
}

/** English names of months, in any case, of which so many letters are written. */
function monthName(letters: number): FieldReader {
  const names = months.map((name) => name.slice(0, letters))
  return (text) => {
    const [word = ''] = /^[A-Za-z]+/.exec(text) ?? []
    const month = names.indexOf(word.toLowerCase())
    return month < 0 ? undefined : [month + 1, word.length]
  }
}

/** `1st`, `22nd`, `3rd`, `11th`: the ending must be the one of the number. */
function ordinal(text: string): readonly [number, number] | undefined {
  const [found, number = ''] = /^(\d{1,2})(?:st|nd|rd|th)/.exec(text) ?? []
  if (found === undefined) return undefined
  const isTeen = Number(number) > 10 && Number(number) < 20
  const ending = (isTeen ? undefined : ['th', 'st', 'nd', 'rd'][Number(number) % 10]) ?? 'th'
  return found.endsWith(ending) ? [Number(number), found.length] : undefined
}

/** `AM` or `PM`, in any case: hours to add. */
function half(text: string): readonly [number, number] | undefined {
  const word = text.slice(0, 2).toUpperCase()
  return word === 'AM' ? [0, 2] : word === 'PM' ? [12, 2] : undefined
}

/** `Z` or `+02:00`: minutes ahead of UTC. */
function zone(text: string): readonly [number, number] | undefined {
  if (/^z/i.test(text)) return [0, 1]
  const [found, sign, hours = '', minutes = ''] = /^([+-])(\d{2}):(\d{2})/.exec(text) ?? []
  if (found === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined
  return [(sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)), found.length]
}
