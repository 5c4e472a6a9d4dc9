import { canonicalJson } from '../domain/canonical.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { pathText } from '../domain/problem.ts'
import { Alignment } from './alignment.ts'
import type { Change } from './change.ts'
import type { Renames } from './renames.ts'

type Path = readonly (string | number)[]

/** What is compared: of which part, and where it stands in that part and in both documents. */
export interface Scope {
  readonly of: Change['of']
  readonly name: string | null
  readonly field: Path
  readonly before: Path
  readonly after: Path
}

/** A member of what is compared. An item of a list may have stood at another index before. */
function inside(scope: Scope, after: string | number, before: string | number = after): Scope {
  return {
    ...scope,
    field: [...scope.field, after],
    before: [...scope.before, before],
    after: [...scope.after, after],
  }
}

/** What a change says besides its place. */
type Said = Omit<Change, 'kind' | 'of' | 'name' | 'field' | 'beforePath' | 'afterPath'>

/**
 * Gathers in what JSON values differ: members by their names, items of lists by what they say. The order of keys is
 * nothing; the order of a list is something, and is told of as few items as there can be.
 */
export class Comparison {
  readonly changes: Change[] = []
  readonly #renames: Renames

  constructor(renames: Renames) {
    this.#renames = renames
  }

  add(kind: Change['kind'], scope: Scope, said: Said): void {
    this.changes.push({
      kind,
      of: scope.of,
      name: scope.name,
      field: pathText(scope.field),
      beforePath: kind === 'added' ? null : pathText(scope.before),
      afterPath: kind === 'removed' ? null : pathText(scope.after),
      ...said,
    })
  }

  compare(before: Json, after: Json, scope: Scope): void {
    if (isJsonObject(before) && isJsonObject(after)) this.compareMembers(before, after, scope)
    else if (isList(before) && isList(after)) this.#compareItems(before, after, scope)
    else if (before !== after) {
      const follows = isText(before) && this.#renames.follow(before) === after
      this.add('changed', scope, { before, after, ...(follows && { follows }) })
    }
  }

  /** `order`: the names that come first, in their order; the others follow by name. */
  compareMembers(
    before: JsonObject,
    after: JsonObject,
    scope: Scope,
    order: readonly string[] = [],
  ): void {
    const followed = this.#followedNames(before, after, scope)
    for (const name of namesOf(before, after, order)) {
      const old = followed.get(name) ?? name
      const there = inside(scope, name, old)
      const [was, is] = [memberOf(before, old), memberOf(after, name)]
      if (is !== undefined && was !== undefined) {
        if (old !== name) this.add('renamed', there, { before: old, after: name, follows: true })
        this.compare(was, is, there)
      } else if (is !== undefined) this.add('added', there, { after: is })
      else if (was !== undefined && ![...followed.values()].includes(name)) {
        this.add('removed', there, { before: was })
      }
    }
  }

  #compareItems(before: readonly Json[], after: readonly Json[], scope: Scope): void {
    const alignment = alignItems(before, after, this.#renames)
    const moved = alignment.moved()
    for (const [index, item] of before.entries()) {
      if (alignment.afterOf(index) === undefined) {
        this.add('removed', inside(scope, index), { before: item })
      }
    }
    for (const [index, item] of after.entries()) {
      const from = alignment.beforeOf(index)
      const there = inside(scope, index, from)
      if (from === undefined) {
        this.add('added', there, { after: item })
        continue
      }
      if (moved.has(index)) this.add('moved', there, { after: item })
      this.compare(before[from] ?? null, item, there)
    }
  }

  /** The members of a scenario that are named after a step: by the new name the old one. */
  #followedNames(before: JsonObject, after: JsonObject, scope: Scope): ReadonlyMap<string, string> {
    const names = scope.of === 'scenario' ? Object.keys(before) : []
    return new Map(
      names.flatMap((old) => {
        const name = this.#renames.follow(old)
        const isFollowed = name !== old && !Object.hasOwn(after, old) && Object.hasOwn(after, name)
        return isFollowed && !Object.hasOwn(before, name) ? [[name, old] as const] : []
      }),
    )
  }
}

/**
 * Which item of a list is which of another: those that are equal; those that say the same with new keys of steps; objects
 * with the same key, name or text, or else with the same condition; and of what has none of these, objects with objects
 * and lists with lists, in their order.
 */
export function alignItems(
  before: readonly Json[],
  after: readonly Json[],
  renames: Renames,
): Alignment {
  const alignment = new Alignment(before.length, after.length)
  const pairBy = (
    beforeSign: (item: Json) => string | undefined,
    afterSign: (item: Json) => string | undefined = beforeSign,
  ) =>
    alignment.pairBy(
      (index) => beforeSign(before[index] ?? null),
      (index) => afterSign(after[index] ?? null),
    )
  pairBy(canonicalJson)
  pairBy(
    (item) => (isText(item) ? renames.follow(item) : undefined),
    (item) => (isText(item) ? item : undefined),
  )
  pairBy((item) => textMember(item, ['key', 'name', 'text']))
  pairBy((item) => textMember(item, ['when']))
  pairBy((item) => {
    if (textMember(item, ['key', 'name', 'text']) !== undefined) return undefined
    if (isJsonObject(item)) return 'object'
    return isList(item) ? 'list' : undefined
  })
  return alignment
}

/** The first of these members that is a text, with its name. */
function textMember(item: Json, names: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined
  for (const name of names) {
    const member = memberOf(item, name)
    if (isText(member)) return `${name} ${member}`
  }
  return undefined
}

/** Only what the object itself has: data may have a member of any name. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** The same object with its members in an order, for who reads it. */
export function ordered(object: JsonObject, order: readonly string[]): JsonObject {
  return Object.fromEntries(namesOf(object, {}, order).map((name) => [name, object[name] ?? null]))
}

function namesOf(
  before: JsonObject,
  after: JsonObject,
  order: readonly string[],
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const others = [...names].filter((name) => !order.includes(name)).sort()
  return [...order.filter((name) => names.has(name)), ...others]
}

/** `Array.isArray` does not tell a list that is readonly from what is none. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string'
}
