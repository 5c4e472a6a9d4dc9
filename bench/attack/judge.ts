import { hostileTexts } from './hostile.ts'

/** What no answer may hold: where code stands, what the database is asked, what lets somebody in. */
const leaks: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a stack', /node_modules|\.ts:\d+:\d+|\n\s+at \w/],
  [
    'SQL',
    /\b(SELECT|UPDATE|DELETE)\b[^"]{0,80}\b(FROM|WHERE)\b|syntax error at|violates \w+ constraint|relation "/,
  ],
  ['a path of the machine', /\/(home|root|work|usr\/lib)\//],
  ['the hash of a key', /key_hash|"keyHash"/],
]

export interface Judged {
  readonly status: number
  readonly ms: number
  readonly text: string
}

/** What is wrong with an answer; undefined when nothing is. What was sent may come back, with this request or a later one. */
export function faultOf(
  { status, ms, text }: Judged,
  sent: string,
  allowed: readonly number[],
  longestMs: number,
): string | undefined {
  if (status >= 500) return `status ${status}`
  if (ms > longestMs) return `${Math.round(ms)} ms`
  if (!allowed.includes(status)) return `status ${status}, of which the document does not tell`
  if (status >= 400) {
    const { code, detail } = parsed(text)
    if (typeof code !== 'string' || typeof detail !== 'string')
      return 'a failure that is no problem document'
  }
  const own = hostileTexts
    .filter(({ length }) => length > 4)
    .reduce((rest, hostile) => rest.replaceAll(quoted(hostile), ''), text)
  const leak = leaks.find(([, pattern]) => pattern.test(own) && !pattern.test(sent))
  return leak === undefined ? undefined : leak[0]
}

/** As it stands within JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
