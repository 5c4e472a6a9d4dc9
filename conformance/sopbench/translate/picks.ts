import { valueShapeOf } from '../shape.ts'
import { findListValue } from './lists.ts'
import { fieldOf } from './nouns.ts'
import { numberIn, numberTerm, operand, type Term } from './term.ts'
import { findValue, type Reader } from './values.ts'

/** One value that is taken from others: the smaller of two, a difference, an entry, a length. */
export function findPick(reader: Reader, text: string): Term | undefined {
  return (
    findOfTwo(reader, text) ??
    findDifference(reader, text) ??
    findIndexed(reader, text) ??
    findPlace(reader, text) ??
    findSize(reader, text)
  )
}

/** `the smaller of A and B`, `the maximum of A and B`. */
function findOfTwo(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(smaller|lesser|lower|minimum|smallest|larger|greater|higher|maximum|largest) of (.+) and (.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [left, right] = [parts[2], parts[3]].map((part) => findValue(reader, part ?? ''))
  if (left === undefined || right === undefined) return undefined
  const name = /^(?:sm|les|low|min)/.test(parts[1] ?? '') ? 'min' : 'max'
  return {
    ...left,
    cel: `${name}(${left.cel}, ${right.cel})`,
    guards: [...left.guards, ...right.guards],
  }
}

/** `the difference between A and B`, whichever is the larger. */
function findDifference(reader: Reader, text: string): Term | undefined {
  const parts = /^(?:absolute )?difference between (.+) and (.+)$/.exec(text)
  if (parts === null) return undefined
  const [left, right] = [parts[1], parts[2]].map((part) => findValue(reader, part ?? ''))
  if (left === undefined || right === undefined) return undefined
  const [a, b] = [numberIn(left), numberIn(right)]
  if (!a.shape.kinds.has('number') || !b.shape.kinds.has('number')) return undefined
  return numberTerm(`abs(${operand(a.cel)} - ${operand(b.cel)})`, [...a.guards, ...b.guards])
}

/** `slots[wanted_date]`, `policy.limits[kind]`: what stands under a key, where it is there. */
function findIndexed(reader: Reader, text: string): Term | undefined {
  const parts = /^([\w. ]+)\[([\w. ]+)\]((?:\.\w+)*)( of .+)?$/.exec(text)
  if (parts === null || /^\d+$/.test(parts[2] ?? '')) return undefined
  const [, name = '', inner = '', path = '', owner = ''] = parts
  const map = findValue(reader, `${name}${owner}`) ?? findListValue(reader, `${name}${owner}`)
  const key = findValue(reader, inner)
  const entry = map === undefined || key === undefined ? undefined : entryOf(map, key)
  return path.split('.').slice(1).reduce<Term | undefined>(fieldOf, entry)
}

/** `the last entry of history`, `the first slot of slots`. */
function findPlace(reader: Reader, text: string): Term | undefined {
  const parts = /^(first|last|second) (?:entry|item|element|\w+) (?:of|in) (.+)$/.exec(text)
  if (parts === null) return undefined
  const list = findValue(reader, parts[2] ?? '')
  const { item } = list?.shape ?? {}
  if (list === undefined || item === undefined || !list.shape.kinds.has('list')) return undefined
  const place = { first: '0', second: '1' }[parts[1] ?? ''] ?? `size(${list.cel}) - 1`
  const least = parts[1] === 'second' ? 1 : 0
  const guards = [...list.guards, `size(${list.cel}) > ${least}`]
  return { cel: `${list.cel}[${place}]`, shape: item, guards }
}

/** `the length of code`, `the size of slots`. */
function findSize(reader: Reader, text: string): Term | undefined {
  const [, of] =
    /^(?:length|size|number of (?:characters|digits|letters)) (?:of|in) (.+)$/.exec(text) ?? []
  const value = of === undefined ? undefined : findValue(reader, of)
  if (value === undefined) return undefined
  const { kinds, isMap } = value.shape
  if (!kinds.has('text') && !kinds.has('list') && !isMap) return undefined
  return numberTerm(`size(${value.cel})`, value.guards)
}

/** What a map has under a key. */
export function entryOf(map: Term, key: Term): Term | undefined {
  if (!map.shape.kinds.has('object')) return undefined
  return {
    cel: `${map.cel}[${key.cel}]`,
    shape: valueShapeOf(map.shape),
    guards: [...map.guards, ...key.guards, `${operand(key.cel)} in ${operand(map.cel)}`],
  }
}
