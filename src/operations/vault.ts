import { randomBytes } from 'node:crypto'
import type { NewExecution } from '../db/queries/insert-execution.ts'
import { canonicalJson } from '../domain/canonical.ts'
import type { Reason } from '../domain/escalation.ts'
import type {
  AttemptRecord,
  ExecutionEnd,
  ExecutionStart,
  Said,
  StepRow,
} from '../domain/execution.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { membersOf, sensitivePlaces, type ValuePath } from '../domain/sensitive-places.ts'
import { sensitiveInText } from '../domain/sensitive-text.ts'
import {
  digestOf,
  isMark,
  markOf,
  pointerOf,
  replaceParts,
  type SealedPart,
  type SensitiveValue,
  sensitiveText,
  withoutMarks,
} from '../domain/sensitive-value.ts'
import type { Commit, Journal } from '../executor/ports.ts'
import type { SensitivePlace, Sensitivity } from '../executor/sensitivity.ts'
import { withhold } from '../reply/withhold.ts'

/** A key of the table; what stands deeper than so many characters is kept apart with what is around it. */
const maxPointerLength = 500

/** What is to be stored in place of something, and apart from it. */
interface Sealed<T> {
  readonly value: T
  readonly apart: readonly SensitiveValue[]
}

/**
 * Keeps the sensitive values of one run out of its rows. Kept apart are the places that the plan says are sensitive, and
 * whatever else holds a value from one of them that the run has met so far: a tool that answers its input again, an error
 * that quotes it. Only what is stored goes through here: the run itself works on whole values.
 */
export class Vault {
  readonly #sensitivity: Sensitivity
  readonly #entries: Map<string, SensitiveValue>
  readonly #secrets = new Set<string | number>()
  /** Whole values that were sealed in part, by their canonical JSON: copies of them are sealed in the same places. */
  readonly #known = new Map<string, readonly SensitivePlace[]>()

  /** `stored`: what is kept apart of the run already. */
  constructor(sensitivity: Sensitivity, stored: readonly SensitiveValue[]) {
    this.#sensitivity = sensitivity
    this.#entries = new Map(stored.map((one) => [placeOf(one), one]))
  }

  /** What was begun, as it may be stored. */
  sealStart(execution: NewExecution): Sealed<NewExecution> {
    const { input: schema } = this.#sensitivity
    const { input, ticket } = execution.start
    const context = execution.context ?? {}
    const places = { input: wholes(input, schema), context: wholes(context, schema) }
    this.learnStart(execution.start)
    this.#learn(context, places.context)
    const apart: SensitiveValue[] = []
    const sealed = {
      ...execution,
      start: {
        ...execution.start,
        input: objectOf(this.#seal(apart, 0, 'input', input, places.input)),
        ticket: ticket && {
          ...ticket,
          text: this.#sealText(apart, 0, 'ticket', ['text'], ticket.text),
        },
      },
      context:
        execution.context && objectOf(this.#seal(apart, 0, 'context', context, places.context)),
    }
    return { value: sealed, apart }
  }

  /** What the run was begun with: its input, and what of the ticket looks like what is sensitive in it. */
  learnStart({ input, ticket }: Pick<ExecutionStart, 'input' | 'ticket'>): void {
    const { input: schema } = this.#sensitivity
    this.#learn(input, wholes(input, schema))
    for (const found of sensitiveInText(schema, ticket?.text ?? '')) this.#secrets.add(found)
  }

  /** The result of a run that was called, and where it is sensitive, before it stands in a row. */
  learnResult(result: Json, values: readonly SensitiveValue[]): void {
    const ofResult = values.filter(({ part }) => part === 'result')
    const pointers = new Set(ofResult.map(({ pointer }) => pointer))
    const paths = membersDeep(result).filter((path) => pointers.has(pointerOf(path)))
    const places = paths.map((path) => ({ path }))
    if (places.length > 0) this.#known.set(canonicalJson(result), places)
    this.#learn(result, places)
  }

  /** Rows of the run as they were loaded, with their values in them. */
  learnRows(rows: readonly StepRow[]): void {
    for (const row of rows) this.#meet(row)
  }

  sealCommit(commit: Commit): Commit {
    const rows = [...commit.added, ...commit.changed]
    this.learnRows(rows)
    const apart: SensitiveValue[] = []
    const seal = (row: StepRow): StepRow => {
      const sealed = this.#sealMet(row)
      apart.push(...sealed.apart)
      return sealed.value
    }
    const added = commit.added.map(seal)
    const changed = commit.changed.map(seal)
    const end = commit.end && this.#sealEnd(commit.end, apart)
    return { ...commit, added, changed, end, ...(apart.length > 0 && { sensitive: apart }) }
  }

  sealRow(row: StepRow): Sealed<StepRow> {
    this.#meet(row)
    return this.#sealMet(row)
  }

  /** A row as people may see it. */
  shown(row: StepRow): StepRow {
    const { value } = this.sealRow(row)
    return { ...value, input: withoutMarks(value.input), output: withoutMarks(value.output) }
  }

  #meet(row: StepRow): void {
    const { input, output } = this.#placesOf(row)
    this.#learn(row.input, input)
    this.#learn(row.output, output)
    if (output.length > 0) this.#known.set(canonicalJson(row.output), output)
  }

  #placesOf(row: StepRow) {
    const { input, output } = this.#sensitivity.placesOf(row)
    return { input, output: [...output, ...this.#copies(row.output, row.kind)] }
  }

  /** Where an output is one that was sealed before: a loop answers what its rounds did, a call what its run did. */
  #copies(output: Json, kind?: StepRow['kind']): readonly SensitivePlace[] {
    const places = this.#known.get(canonicalJson(output))
    if (places !== undefined) return places
    if (!Array.isArray(output) && kind !== 'call') return []
    return membersOf(output).flatMap(([link, member]) =>
      (this.#known.get(canonicalJson(member)) ?? []).map((place) => ({
        ...place,
        path: [link, ...place.path],
      })),
    )
  }

  #sealMet(row: StepRow): Sealed<StepRow> {
    const apart: SensitiveValue[] = []
    const { ordinal, error, attempts, exchange } = row
    const places = this.#placesOf(row)
    const read = readParts(row)
    const text = (part: SealedPart, path: ValuePath, value: string): string =>
      this.#sealText(apart, ordinal, part, path, value)
    const value: StepRow = {
      ...row,
      input: this.#seal(apart, ordinal, 'input', row.input, places.input, read.input),
      output: this.#seal(apart, ordinal, 'output', row.output, places.output, read.output),
      error: error && { ...error, message: text('error', ['message'], error.message) },
      attempts:
        attempts?.map((attempt, at): AttemptRecord => {
          const message = text('attempts', [at, 'message'], attempt.message)
          return { ...attempt, message }
        }) ?? null,
      ...(exchange !== undefined && {
        exchange: exchange.map((said, at) => this.#sealSaid(apart, row, said, at)),
      }),
    }
    return { value, apart }
  }

  #sealSaid(apart: SensitiveValue[], row: StepRow, said: Said, at: number): Said {
    const { ordinal, stepKey } = row
    const text = (path: ValuePath, value: string, isHidden = false): string =>
      this.#sealText(apart, ordinal, 'exchange', [at, ...path], value, isHidden)
    if (said.kind === 'unfit') {
      // Which of the words are the answer nobody can tell.
      const isHidden = this.#sensitivity.isAnswerSensitive(stepKey)
      return {
        ...said,
        text: text(['text'], said.text, isHidden),
        problems: said.problems.map((problem, place) => text(['problems', place], problem)),
      }
    }
    if ((said.kind !== 'approved' && said.kind !== 'denied') || said.comment === undefined) {
      return said
    }
    return { ...said, comment: text(['comment'], said.comment) }
  }

  #sealEnd(end: ExecutionEnd, apart: SensitiveValue[]): ExecutionEnd {
    const { result, reason } = end
    const made = isJsonObject(result) ? Object.keys(result) : []
    const places = [
      ...made
        .filter((name) => this.#sensitivity.output.has(name))
        .map((name) => ({ path: [name] })),
      ...this.#copies(result),
    ]
    this.#learn(result, places)
    return {
      ...end,
      result: this.#seal(apart, 0, 'result', result, places),
      reason: reason && this.#sealReason(apart, reason),
    }
  }

  #sealReason(apart: SensitiveValue[], reason: Reason): Reason {
    const { text } = reason
    return {
      ...reason,
      ...(text !== undefined && { text: this.#sealText(apart, 0, 'reason', ['text'], text) }),
      message: this.#sealText(apart, 0, 'reason', ['message'], reason.message),
    }
  }

  #learn(value: Json, places: readonly SensitivePlace[]): void {
    for (const { path, mask, isMarked = false } of places) {
      const part = partAt(value, path) ?? null
      if (mask === undefined && (isMarked || !isMade(part))) this.#learnAll(part)
    }
  }

  #learnAll(value: Json): void {
    if (typeof value === 'string' || typeof value === 'number') this.#secrets.add(value)
    for (const [, member] of membersOf(value)) this.#learnAll(member)
  }

  /** A value with its sensitive places sealed; `read`: the parts of it that are looked through for known values. */
  #seal(
    apart: SensitiveValue[],
    ordinal: number,
    part: SealedPart,
    value: Json,
    places: readonly SensitivePlace[],
    read: readonly ValuePath[] = [[]],
  ): Json {
    const found: Found = { wholes: new Map(), texts: new Map() }
    for (const { path, mask } of places) {
      const text = mask && partAt(value, path)
      const shown = typeof text === 'string' && mask ? mask(text) : sensitiveText
      if (shown === sensitiveText) addWhole(found, path)
      else found.texts.set(pointerOf(path), { path, shown })
    }
    for (const path of read) {
      const inside = partAt(value, path)
      if (inside !== undefined) this.#lookThrough(inside, path, found)
    }
    const parts = new Map<string, Json>()
    for (const [pointer, path] of found.wholes) {
      const original = partAt(value, path)
      if (original === undefined || original === null || isInside(pointer, found.wholes)) continue
      const entry = this.#entry(ordinal, part, pointer, original, true)
      apart.push(entry)
      parts.set(pointer, markOf(entry.digest))
    }
    for (const [pointer, { path, shown }] of found.texts) {
      const original = partAt(value, path)
      if (original === undefined || isInside(`${pointer}/`, found.wholes)) continue
      apart.push(this.#entry(ordinal, part, pointer, original))
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
    if (shown === sensitiveText || pointer.length > maxPointerLength) {
      found.texts.delete(pointer)
      addWhole(found, path)
    } else found.texts.set(pointer, { path, shown })
  }

  #isSecretNumber(value: Json): boolean {
    return (
      typeof value === 'number' &&
      Math.abs(value) >= 1_000 &&
      (this.#secrets.has(value) || this.#secrets.has(String(value)))
    )
  }

  #hasSecretName(value: Json): boolean {
    return isJsonObject(value) && Object.keys(value).some((name) => this.#withheld(name) !== name)
  }

  #sealText(
    apart: SensitiveValue[],
    ordinal: number,
    part: SealedPart,
    path: ValuePath,
    text: string,
    isHidden = false,
  ): string {
    const shown = isHidden ? sensitiveText : this.#withheld(text)
    if (shown !== text) apart.push(this.#entry(ordinal, part, pointerOf(path), text))
    return shown
  }

  #withheld(text: string): string {
    return this.#secrets.size === 0 ? text : withhold(text, [...this.#secrets], sensitiveText)
  }

  /** One place of a run has one entry, however often its row is written. */
  #entry(
    ordinal: number,
    part: SealedPart,
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

/** A journal that stores what is sensitive of a run apart. */
export function sealingJournal(journal: Journal, vault: Vault): Journal {
  return { commit: (claim, commit) => journal.commit(claim, vault.sealCommit(commit)) }
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

/** Whether a place lies inside another one that is sealed as a whole. */
function isInside(pointer: string, wholes: ReadonlyMap<string, ValuePath>): boolean {
  for (let at = pointer.lastIndexOf('/'); at >= 0; at = pointer.lastIndexOf('/', at - 1)) {
    if (wholes.has(pointer.slice(0, at))) return true
    if (at === 0) break
  }
  return false
}

/** What of a row is looked through: words of the definition, roles and times are no secrets of the run. */
function readParts({ kind }: StepRow): {
  readonly input: readonly ValuePath[]
  readonly output: readonly ValuePath[]
} {
  switch (kind) {
    case 'ask':
      return { input: [['message'], ['items']], output: [[]] }
    case 'approval':
      return { input: [['show'], ['items']], output: [] }
    case 'call':
      return { input: [['input'], ['items']], output: [[]] }
    case 'wait':
    case 'require':
    case 'choose':
      return { input: [], output: [] }
    default:
      return { input: [[]], output: [[]] }
  }
}

function wholes(value: Json, schema: Sensitivity['input']): readonly SensitivePlace[] {
  return sensitivePlaces(value, schema).map((path) => ({ path, isMarked: true }))
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

function membersDeep(value: Json, path: ValuePath = []): readonly ValuePath[] {
  return [
    path,
    ...membersOf(value).flatMap(([link, member]) => membersDeep(member, [...path, link])),
  ]
}

/** Whether a value is put together of others, which may be no secrets. */
function isMade(value: Json): boolean {
  return typeof value === 'object'
}

/** A mark stands inside the object that a run is given, or in place of all of it. */
function objectOf(value: Json): NewExecution['start']['input'] {
  return isJsonObject(value) ? value : {}
}
