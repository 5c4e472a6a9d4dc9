import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { type Problem, pathText } from './problem.ts'

export type Path = readonly (string | number)[]

/**
 * What is kept while a document of another notation is rewritten into a definition: what was left out or became
 * something else, what is wrong, and where each part came from. Paths of notes and problems are those of the document.
 */
export class CarryOver {
  readonly notes: Problem[] = []
  readonly problems: Problem[] = []
  readonly #origins = new Map<string, Path>()

  note(path: Path, message: string): void {
    this.notes.push({ path: pathText(path), message })
  }

  refuse(path: Path, message: string): void {
    this.problems.push({ path: pathText(path), message })
  }

  /** Says where in the document a part of the definition came from. */
  trace(to: Path, from: Path): void {
    this.#origins.set(pathText(to), from)
  }

  /** Where in the document a path of the definition lies; for what was made up, the nearest part around it. */
  originOf(path: string): string {
    for (let end = path.length; end > 0; end = lastLink(path, end)) {
      const origin = this.#origins.get(path.slice(0, end))
      if (origin !== undefined) return `${pathText(origin)}${path.slice(end)}`
    }
    return path
  }
}

function lastLink(path: string, end: number): number {
  return Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1), 0)
}

/** A member of an object, and where it stands in the document. */
export interface Member {
  readonly value: Json
  readonly path: Path
}

/** A name without what tells `trigger_conditions`, `TriggerConditions` and `triggerConditions` apart. */
function foldedName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** The names that fields may be written by, folded, each with the field that is meant. */
export function nameTable(
  fields: Iterable<string>,
  others: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const own = Array.from(fields, (field) => [foldedName(field), field] as const)
  return new Map([...own, ...Object.entries(others)])
}

/**
 * The members of an object by the names of `table`. Those that say nothing (`null`, and where notations write it for
 * null, the empty text) are left out, and what the table does not know keeps its name: the parser refuses it.
 */
export function readMembers(
  value: JsonObject,
  path: Path,
  table: ReadonlyMap<string, string>,
  carry: CarryOver,
): Map<string, Member> {
  const members = new Map<string, Member>()
  for (const [name, member] of Object.entries(value)) {
    const field = table.get(foldedName(name))
    if (field !== undefined && (member === null || member === '')) continue
    const here = [...path, name]
    const first = members.get(field ?? name)
    if (first === undefined) members.set(field ?? name, { value: member, path: here })
    else carry.refuse(here, `says what ${pathText(first.path)} says; keep one of the two`)
  }
  return members
}

/** Puts members together as a part of the definition at a path. */
export function writeMembers(
  members: ReadonlyMap<string, Member>,
  path: Path,
  carry: CarryOver,
): JsonObject {
  for (const [field, { path: from }] of members) carry.trace([...path, field], from)
  return Object.fromEntries(Array.from(members, ([field, { value }]) => [field, value]))
}

/** The same value with every text in it, but no name, put through `change`. */
export function mapTexts(
  value: Json,
  path: Path,
  change: (text: string, path: Path) => string,
): Json {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value))
    return value.map((item, index) => mapTexts(item, [...path, index], change))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      mapTexts(member, [...path, name], change),
    ]),
  )
}
