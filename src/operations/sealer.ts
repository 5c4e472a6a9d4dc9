import { randomBytes } from 'node:crypto'
import { canonicalJson } from '../domain/canonical.ts'
import { foldText, lettersOf } from '../domain/folded-text.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { membersOf, type ValuePath } from '../domain/sensitive-places.ts'
import {
  digestOf,
  isMark,
  markOf,
  pointerOf,
  replaceParts,
  type SealedPart,
  type SensitiveValue,
  sensitiveText,
} from '../domain/sensitive-value.ts'
import type { SensitivePlace } from '../executor/sensitivity.ts'
import { withhold } from '../reply/withhold.ts'

/** A key of the table; what stands deeper than so many characters is kept apart with what is around it. */
const maxPointerLength = 500
/** Smaller numbers stand for too much else to be found by their value. */
const leastSecretNumber = 1_000
/** Shorter texts in what a playbook has put together, by letters and digits, stand for too much else as well. */
const leastPart = 3

/** A column of a row that is sealed, and what is kept apart of it. */
export interface Column {
  readonly ordinal: number
  readonly part: SealedPart
  readonly apart: SensitiveValue[]
}

/** Takes sensitive places, and whatever holds a value from one of them, out of values that are to be stored. */
export class Sealer {
  readonly #entries: Map<string, SensitiveValue>
  readonly #secrets = new Set<string | number>()
  /** What stands in places that are not sensitive, and so is no secret in what is put together of both. */
  readonly #clear = new Set<string>()

  /** `stored`: what is kept apart already. */
  constructor(stored: readonly SensitiveValue[]) {
    this.#entries = new Map(stored.map((one) => [placeOf(one), one]))
  }

  /** Notes texts that are to be found wherever they stand. */
  learnTexts(texts: readonly string[]): void {
    for (const text of texts) this.#secrets.add(text)
  }

  /** Notes the values in sensitive places, to be found elsewhere. */
  learn(value: Json, places: readonly SensitivePlace[]): void {
    this.#noteClear(value, [], new Set(places.map(({ path }) => pointerOf(path))))
    for (const { path, mask, isMarked = false } of places) {
      if (mask !== undefined) continue
      const part = partAt(value, path) ?? null
      if (isMarked || !isPutTogether(part)) this.#learnAll(part)
      else this.#learnParts(part)
    }
  }

  #noteClear(value: Json, path: ValuePath, places: ReadonlySet<string>): void {
    if (places.has(pointerOf(path))) return
    if (typeof value === 'string' || typeof value === 'number') this.#clear.add(String(value))
    for (const [link, member] of membersOf(value)) this.#noteClear(member, [...path, link], places)
  }

  /** Of a list or an object that a playbook has made, what it may have made of a secret. */
  #learnParts(value: Json): void {
    if ((typeof value === 'string' || typeof value === 'number') && this.#isTelling(value)) {
      this.#secrets.add(value)
    }
    for (const [, member] of membersOf(value)) this.#learnParts(member)
  }

  /** A word without a digit that stands in no secret is one of the playbook's own, such as "active". */
  #isTelling(value: string | number): boolean {
    if (this.#secrets.has(value) || this.#clear.has(String(value))) return false
    if (typeof value === 'number') return Math.abs(value) >= leastSecretNumber
    if (lettersOf(foldText(value), '').text.length < leastPart) return false
    return (
      /\p{N}/u.test(value) ||
      [...this.#secrets].some((secret) => withhold(String(secret), [value]) !== String(secret))
    )
  }

  #learnAll(value: Json): void {
    if (typeof value === 'string' || typeof value === 'number') this.#secrets.add(value)
    for (const [, member] of membersOf(value)) this.#learnAll(member)
  }

  /** A value with its sensitive places sealed; `read`: the parts of it that are looked through for known values. */
  seal(
    column: Column,
    value: Json,
    places: readonly SensitivePlace[],
    read: readonly ValuePath[] = [[]],
  ): Json {
    const found: Found = { wholes: new Map(), texts: new Map() }
    for (const { path, mask } of places) {
      const text = mask && partAt(value, path)
      const shown = typeof text === 'string' && mask ? mask(text) : sensitiveText
      addText(found, path, shown)
    }
    for (const path of read) {
      const inside = partAt(value, path)
      if (inside !== undefined) this.#lookThrough(inside, path, found)
    }
    const parts = new Map<string, Json>()
    for (const [pointer, path] of found.wholes) {
      const original = partAt(value, path)
      if (original === undefined || original === null || isInside(pointer, found.wholes)) continue
      const entry = this.#entry(column, pointer, original, true)
      column.apart.push(entry)
      parts.set(pointer, markOf(entry.digest))
    }
    for (const [pointer, { path, shown }] of found.texts) {
      const original = partAt(value, path)
      if (original === undefined || isInside(`${pointer}/`, found.wholes)) continue
      column.apart.push(this.#entry(column, pointer, original))
      parts.set(pointer, shown)
    }
    return parts.size === 0 ? value : replaceParts(value, parts)
  }

  /** Finds what holds a known value, and what looks like a mark and is none. */
  #lookThrough(value: Json, path: ValuePath, found: Found): void {
    const pointer = pointerOf(path)
    if (found.wholes.has(pointer)) return
    if (isMark(value) || this.#isSecretNumber(value) || this.#hasSecretName(value)) {
      addWhole(found, path)
      return
    }
    if (typeof value !== 'string') {
      for (const [link, member] of membersOf(value))
        this.#lookThrough(member, [...path, link], found)
      return
    }
    const before = found.texts.get(pointer)?.shown ?? value
    const shown = this.#withheld(before)
    if (shown === value) return
    addText(found, path, shown)
  }

  #isSecretNumber(value: Json): boolean {
    return (
      typeof value === 'number' &&
      Math.abs(value) >= leastSecretNumber &&
      (this.#secrets.has(value) || this.#secrets.has(String(value)))
    )
  }

  #hasSecretName(value: Json): boolean {
    return isJsonObject(value) && Object.keys(value).some((name) => this.#withheld(name) !== name)
  }

  /** A text of a row's own; `isHidden`: it is sensitive as a whole. */
  sealText(column: Column, path: ValuePath, text: string, isHidden = false): string {
    const shown = isHidden ? sensitiveText : this.#withheld(text)
    if (shown !== text) column.apart.push(this.#entry(column, pointerOf(path), text))
    return shown
  }

  #withheld(text: string): string {
    return this.#secrets.size === 0 ? text : withhold(text, [...this.#secrets], sensitiveText)
  }

  /** One place of a run has one entry, however often its row is written. */
  #entry(
    { ordinal, part }: Column,
    pointer: string,
    original: Json,
    isWhole = false,
  ): SensitiveValue {
    const value = canonicalJson(original)
    const key = placeOf({ ordinal, part, pointer })
    const known = this.#entries.get(key)
    if (known !== undefined && known.value === value) return known
    const salt = randomBytes(16).toString('hex')
    const digest = digestOf(salt, value)
    const entry = { ordinal, part, pointer, isWhole, digest, salt, value }
    this.#entries.set(key, entry)
    return entry
  }
}

interface Found {
  readonly wholes: Map<string, ValuePath>
  readonly texts: Map<string, { readonly path: ValuePath; readonly shown: string }>
}

function addWhole({ wholes }: Found, path: ValuePath): void {
  let place = path
  while (pointerOf(place).length > maxPointerLength) place = place.slice(0, -1)
  wholes.set(pointerOf(place), place)
}

function addText(found: Found, path: ValuePath, shown: string): void {
  const pointer = pointerOf(path)
  if (shown === sensitiveText || pointer.length > maxPointerLength) {
    found.texts.delete(pointer)
    addWhole(found, path)
  } else found.texts.set(pointer, { path, shown })
}

/** Whether a place lies inside another one that is sealed as a whole. */
function isInside(pointer: string, wholes: ReadonlyMap<string, ValuePath>): boolean {
  for (let at = pointer.lastIndexOf('/'); at >= 0; at = pointer.lastIndexOf('/', at - 1)) {
    if (wholes.has(pointer.slice(0, at))) return true
    if (at === 0) break
  }
  return false
}

function placeOf({
  ordinal,
  part,
  pointer,
}: Pick<SensitiveValue, 'ordinal' | 'part' | 'pointer'>): string {
  return `${ordinal} ${part} ${pointer}`
}

function partAt(value: Json, path: ValuePath): Json | undefined {
  let part: Json | undefined = value
  for (const link of path) {
    part = membersOf(part ?? null).find(([name]) => name === link)?.[1]
  }
  return part
}

/** Whether a value is put together of others, which may be no secrets. */
function isPutTogether(value: Json): boolean {
  return typeof value === 'object'
}
