import type { Change, Place } from '../../src/diff/change.ts'
import type { Definition } from '../../src/domain/definition.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'

type Mutable = { [name: string]: Json }

/** A list of steps or branches, by what holds it. */
type Holder = readonly [step: string | null, branch: string | number | null]

interface Branch {
  own: Mutable
  steps: string[]
}

interface Step {
  own: Mutable
  steps: string[] | undefined
  otherwise: string[] | undefined
  branches: Branch[] | undefined
}

/**
 * The later definition, made of the earlier one and of nothing but the changes: what they do not tell is missing in it.
 * Written without the code under test, as a reader of the JSON would do it.
 */
export function applyChanges(before: Definition, changes: readonly Change[]): JsonObject {
  const document = JSON.parse(JSON.stringify(before))
  const { steps: roots, ...top } = document
  const tree = new Tree(top)
  tree.roots = tree.take(roots)
  tree.apply(changes)
  return tree.document()
}

class Tree {
  roots: string[] = []
  readonly #top: Mutable
  readonly #steps = new Map<string, Step>()

  constructor(top: Mutable) {
    this.#top = top
  }

  take(list: JsonObject[]): string[] {
    return list.map((value) => {
      const { steps, otherwise, choose, ...own }: JsonObject = value
      const step: Step = {
        own: { ...own },
        steps: Array.isArray(steps) ? this.take(steps) : undefined,
        otherwise: Array.isArray(otherwise) ? this.take(otherwise) : undefined,
        branches: Array.isArray(choose)
          ? choose.map(({ steps: inBranch, ...rest }: JsonObject) => ({
              own: { ...rest },
              steps: this.take(inBranch as JsonObject[]),
            }))
          : undefined,
      }
      if (typeof otherwise === 'string') step.own.otherwise = otherwise
      this.#steps.set(String(value.key), step)
      return String(value.key)
    })
  }

  apply(changes: readonly Change[]): void {
    const isPart = ({ beforePlace, afterPlace }: Change) =>
      (beforePlace ?? afterPlace) !== undefined
    const ofSteps = changes.filter(({ of, field }) => of === 'step' && field === '')
    const ofBranches = changes.filter((one) => one.field !== '' && isPart(one))
    const ofFields = changes.filter((one) => one.field !== '' && !isPart(one))
    for (const { kind, before, after } of ofSteps) {
      if (kind === 'renamed') this.#rename(String(before), String(after))
    }
    // What leaves its place, leaves it before anything comes to one.
    for (const { kind, name } of ofSteps) {
      if (kind === 'removed' || kind === 'moved') this.#takeOut(String(name))
    }
    const moved = this.#takeBranches(ofBranches)
    for (const { kind, name, after } of ofSteps) {
      if (kind === 'added') {
        const none = { steps: undefined, otherwise: undefined, branches: undefined }
        this.#steps.set(String(name), { own: { ...Object(after) }, ...none })
      }
    }
    for (const change of [...ofBranches].sort(byPosition)) {
      const { kind, name, after, afterPlace } = change
      if (kind === 'removed' || afterPlace === undefined) continue
      const branch = kind === 'added' ? { own: { ...Object(after) }, steps: [] } : moved.get(change)
      const step = this.#steps.get(String(name))
      if (step === undefined || branch === undefined) throw new Error('no such branch')
      step.branches ??= []
      step.branches.splice(afterPlace.position - 1, 0, branch)
    }
    for (const change of [...ofSteps].sort(byPosition)) {
      const { kind, name, afterPath } = change
      if (kind !== 'added' && kind !== 'moved') continue
      const position = Number(/\[(\d+)\]$/.exec(afterPath ?? '')?.[1])
      this.#listOf(change).splice(position, 0, String(name))
    }
    // A field names the items around it as they are afterwards: lists are put in order from the outside in.
    const groups = new Map<string, Change[]>()
    for (const change of ofFields) {
      const { of, name, field } = change
      const sign = JSON.stringify([of, name, ...partsOfPath(field).slice(0, -1)])
      groups.set(sign, [...(groups.get(sign) ?? []), change])
    }
    const inward = [...groups.values()].sort((a, b) => depthOf(a) - depthOf(b))
    for (const group of inward) this.#applyFields(group)
  }

  document(): JsonObject {
    return { ...this.#top, steps: this.roots.map((key) => this.#write(key)) }
  }

  #write(key: string): JsonObject {
    const step = this.#steps.get(key)
    if (step === undefined) throw new Error(`no step ${key}`)
    const list = (keys: string[]) => keys.map((one) => this.#write(one))
    return {
      ...step.own,
      ...(step.steps && step.steps.length > 0 && { steps: list(step.steps) }),
      ...(step.branches &&
        step.branches.length > 0 && {
          choose: step.branches.map(({ own, steps }) => ({ ...own, steps: list(steps) })),
        }),
      ...(step.otherwise && step.otherwise.length > 0 && { otherwise: list(step.otherwise) }),
    }
  }

  #lists(): string[][] {
    const lists = [this.roots]
    for (const { steps, otherwise, branches } of this.#steps.values()) {
      if (steps) lists.push(steps)
      if (otherwise) lists.push(otherwise)
      for (const branch of branches ?? []) lists.push(branch.steps)
    }
    return lists
  }

  #rename(old: string, key: string): void {
    const step = this.#steps.get(old)
    if (step === undefined) throw new Error(`no step ${old}`)
    this.#steps.delete(old)
    this.#steps.set(key, { ...step, own: { ...step.own, key } })
    for (const list of this.#lists()) {
      for (const [index, one] of list.entries()) if (one === old) list[index] = key
    }
  }

  #takeOut(key: string): void {
    for (const list of this.#lists()) {
      const index = list.indexOf(key)
      if (index !== -1) list.splice(index, 1)
    }
  }

  /** Takes branches out that are removed or moved, and answers the moved ones. */
  #takeBranches(changes: readonly Change[]): ReadonlyMap<Change, Branch> {
    const moved = new Map<Change, Branch>()
    const leaving = changes.filter(({ kind }) => kind === 'removed' || kind === 'moved')
    const last = [...leaving].sort(
      (a, b) => (b.beforePlace?.position ?? 0) - (a.beforePlace?.position ?? 0),
    )
    for (const change of last) {
      const branches = this.#steps.get(String(change.name))?.branches ?? []
      const [branch] = branches.splice((change.beforePlace?.position ?? 0) - 1, 1)
      if (branch !== undefined && change.kind === 'moved') moved.set(change, branch)
    }
    return moved
  }

  #listOf({ afterPath, afterPlace }: Change): string[] {
    const [, branch] = holderOf(afterPath ?? '', afterPlace)
    const key = afterPlace?.step ?? null
    if (key === null) return this.roots
    const step = this.#steps.get(key)
    if (step === undefined) throw new Error(`no step ${key}`)
    if (branch === 'steps') {
      step.steps ??= []
      return step.steps
    }
    if (branch === 'otherwise') {
      step.otherwise ??= []
      return step.otherwise
    }
    const found = step.branches?.[Number(branch)]
    if (found === undefined) throw new Error(`no branch ${branch} of ${key}`)
    return found.steps
  }

  /** Applies the changes of members of one object, or of items of one list. */
  #applyFields(changes: readonly Change[]): void {
    const [{ of, name, field } = { of: 'step', name: '', field: '' }] = changes
    const step = of === 'step' ? this.#steps.get(String(name)) : undefined
    let path = partsOfPath(field).slice(0, -1)
    let holder: unknown = step?.own ?? this.#top
    if (step?.branches !== undefined && path[0] === 'choose') {
      holder = step.branches[Number(path[1])]?.own
      path = path.slice(2)
    }
    for (const part of path) holder = Object(holder)[part]
    if (Array.isArray(holder)) editList(holder, changes)
    else editObject(Object(holder), changes)
  }
}

function editObject(object: Mutable, changes: readonly Change[]): void {
  for (const { kind, field, after } of changes) {
    const name = String(partsOfPath(field).at(-1))
    if (kind === 'removed') delete object[name]
    else object[name] = structuredClone(after) ?? null
  }
}

function editList(list: Json[], changes: readonly Change[]): void {
  const indexIn = (path: string | null) => Number(/\[(\d+)\]$/.exec(path ?? '')?.[1])
  const leaving = changes.filter(({ kind }) => kind === 'removed' || kind === 'moved')
  const taken = new Map<Change, Json>()
  const last = [...leaving].sort((a, b) => indexIn(b.beforePath) - indexIn(a.beforePath))
  for (const change of last) {
    const [item] = list.splice(indexIn(change.beforePath), 1)
    if (item !== undefined) taken.set(change, item)
  }
  const coming = changes.filter(({ kind }) => kind === 'added' || kind === 'moved')
  for (const change of coming.sort((a, b) => indexIn(a.afterPath) - indexIn(b.afterPath))) {
    const item = change.kind === 'added' ? structuredClone(change.after) : taken.get(change)
    list.splice(indexIn(change.afterPath), 0, item ?? null)
  }
  for (const { kind, afterPath, after } of changes) {
    if (kind === 'changed') list[indexIn(afterPath)] = after ?? null
  }
}

function depthOf([first]: readonly Change[]): number {
  return partsOfPath(first?.field ?? '').length
}

function byPosition(a: Change, b: Change): number {
  return (a.afterPlace?.position ?? 0) - (b.afterPlace?.position ?? 0)
}

function holderOf(path: string, place: Place | undefined): Holder {
  const list = path.replace(/\[\d+\]$/, '')
  const choice = /choose\[(\d+)\]\.steps$/.exec(list)?.[1]
  const name = list.endsWith('.otherwise') ? 'otherwise' : 'steps'
  return [place?.step ?? null, choice === undefined ? name : Number(choice)]
}

function partsOfPath(text: string): (string | number)[] {
  const parts = text.match(/\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.[\]]+/g) ?? []
  return parts.map((part) =>
    part.startsWith('[') ? (JSON.parse(part.slice(1, -1)) as string | number) : part,
  )
}
