import { Untranslatable } from '../playbook.ts'
import { lowered } from './comparisons.ts'
import { findItems } from './items.ts'
import { type Condition, negated, operand, type Term } from './term.ts'
import { findValue, type Reader } from './values.ts'

/** Whether a value is one of a list or a key of a map, in the case that the rule goes by. */
export function contained({ scope }: Reader, value: Term, list: Term): Condition {
  const guards = [...value.guards, ...list.guards]
  if (value.shape.kinds.has('object'))
    throw new Untranslatable(`${value.cel} is no entry of a list`)
  if (value.ignoresCase || list.ignoresCase || scope.ignoresCase) {
    const cel = `${operand(list.cel)}.exists(entry, lower(entry) == ${lowered(value)})`
    return { cel, guards }
  }
  return { cel: `${operand(value.cel)} in ${operand(list.cel)}`, guards }
}

/** What is said of whole lists: `A has no duplicates`, `A is a subset of B`, `A and B have no common entry`. */
export function readLists(reader: Reader, text: string): Condition | undefined {
  return readDuplicates(reader, text) ?? readSubset(reader, text) ?? readCommon(reader, text)
}

function readDuplicates(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(?:all )?(.+?) (has|have|contains?|does not contain|do not contain) (no |any )?(?:duplicates?|repeated (?:entries|items|values)|repetitions?)(?: entries| items| values)?$/.exec(
      text,
    ) ??
    /^(?:all )?(.+?) (are|is) (not )?(?:all )?(?:distinct|unique|different(?: from each other)?)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const list = findList(reader, parts[1] ?? '')
  if (list === undefined) return undefined
  const isFree = /^(?:are|is)$/.test(parts[2] ?? '')
    ? parts[3] === undefined
    : parts[3] === 'no ' || /not/.test(parts[2] ?? '')
  const cel = `size(distinct(${list.cel})) == size(${list.cel})`
  return negated({ cel, guards: list.guards }, !isFree)
}

function readSubset(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(?:all |every |each )?(.+?) (?:is|are) (not )?(?:all )?(?:a subset of|(?:contained|included|listed) in|covered by|among|in) (.+)$/.exec(
      text,
    )
  const [list, other] = [parts?.[1], parts?.[3]].map((name) =>
    name === undefined ? undefined : findList(reader, name),
  )
  if (list === undefined || other === undefined || parts === null) return undefined
  const cel = `${operand(list.cel)}.all(part, part in ${operand(other.cel)})`
  return negated({ cel, guards: [...list.guards, ...other.guards] }, parts[2] !== undefined)
}

function readCommon(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) and (.+?) (?:have|share) (no|at least one|a|some) (?:common )?(?:entry|entries|item|items|element|value)(?: in common)?$/.exec(
      text,
    ) ?? /^(.+?) and (.+?) (are|do) (?:disjoint|not overlap)$/.exec(text)
  const [list, other] = [parts?.[1], parts?.[2]].map((name) =>
    name === undefined ? undefined : findList(reader, name),
  )
  if (list === undefined || other === undefined || parts === null) return undefined
  const cel = `${operand(list.cel)}.exists(part, part in ${operand(other.cel)})`
  const guards = [...list.guards, ...other.guards]
  return negated({ cel, guards }, /^(no|are|do)$/.test(parts[3] ?? ''))
}

/** The list or map that a phrase names. */
export function findListValue(reader: Reader, phrase: string): Term | undefined {
  const value = findValue(reader, phrase)
  if (value?.shape.kinds.has('list') || value?.shape.isMap) return value
  try {
    const { collection, tests } = findItems(reader, phrase)
    return tests.length === 0 ? collection.list : undefined
  } catch (error) {
    if (error instanceof Untranslatable) return undefined
    throw error
  }
}

/** A list of texts or numbers, or the keys of a map. */
function findList(reader: Reader, phrase: string): Term | undefined {
  const value = findValue(reader, phrase)
  if (value === undefined) return undefined
  const { kinds, isMap, item } = value.shape
  return isMap || (kinds.has('list') && item?.kinds.has('object') !== true) ? value : undefined
}
