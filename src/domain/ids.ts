import { customAlphabet } from 'nanoid'
import { ServiceError } from './errors.ts'

/** The prefix of each kind of id. An id says what it names, wherever it turns up. */
const prefixes = {
  procedure: 'proc',
  version: 'ver',
  activation: 'act',
  review: 'rev',
  key: 'key',
  execution: 'exec',
  escalation: 'esc',
  gap: 'gap',
  audit: 'aud',
  backtest: 'bkt',
  worker: 'work',
  refund: 'rfd',
  message: 'msg',
  erasure: 'era',
  switch: 'swi',
  schedule: 'sch',
  request: 'req',
  webhook: 'whk',
  delivery: 'dlv',
  experience: 'exp',
  lesson: 'les',
  showing: 'shw',
  proposal: 'prp',
  outside: 'out',
} as const

export type IdKind = keyof typeof prefixes

/** An id of one kind: `exec_` + 9 base-32 characters of time + 12 random ones. See docs/decisions/0001-ids.md. */
export type Id<K extends IdKind> = `${(typeof prefixes)[K]}_${string}`

// Crockford's base 32 in ascending ASCII order: no i, l, o, u, and text order is time order.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const random = customAlphabet(alphabet, 12)

/** Makes a new id. `at` is epoch milliseconds; ids made later sort after ids made earlier, by byte order. */
export function newId<K extends IdKind>(kind: K, at: number): Id<K> {
  return `${prefixes[kind]}_${encodeTime(at)}${random()}` as Id<K>
}

/** Where ids that were made at `at` or later begin: it sorts before each of them, and after all that are older. */
export function lowestId(kind: IdKind, at: number): string {
  return `${prefixes[kind]}_${encodeTime(at)}`
}

export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return text.startsWith(`${prefixes[kind]}_`) && /^[a-z]+_[0-9a-hjkmnp-tv-z]{21}$/.test(text)
}

/**
 * Reads an id that came from outside.
 *
 * @throws ServiceError `ID_INVALID` naming the kind that was expected.
 */
export function parseId<K extends IdKind>(kind: K, text: string): Id<K> {
  if (!isId(kind, text))
    throw new ServiceError('ID_INVALID', { kind, prefix: prefixes[kind], found: text })
  return text
}

/** The least id of a kind that can be made at an instant (epoch milliseconds, not before 1970). */
export function firstId<K extends IdKind>(kind: K, at: number): Id<K> {
  return `${prefixes[kind]}_${encodeTime(Math.max(0, at))}${alphabet.charAt(0).repeat(12)}` as Id<K>
}

function encodeTime(at: number): string {
  let text = ''
  for (let rest = at, place = 0; place < 9; place += 1) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
