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
  pointerOf,
  type SealedPart,
  type SensitiveValue,
  withoutMarks,
} from '../domain/sensitive-value.ts'
import type { Commit, Journal } from '../executor/ports.ts'
import type { SensitivePlace, Sensitivity } from '../executor/sensitivity.ts'
import { Sealer } from './sealer.ts'

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
  readonly #sealer: Sealer
  /** Whole values that were sealed in part, by their canonical JSON: copies of them are sealed in the same places. */
  readonly #known = new Map<string, readonly SensitivePlace[]>()

  /** `stored`: what is kept apart of the run already. */
  constructor(sensitivity: Sensitivity, stored: readonly SensitiveValue[]) {
    this.#sensitivity = sensitivity
    this.#sealer = new Sealer(stored)
  }

  /** What was begun, as it may be stored. */
  sealStart(execution: NewExecution): Sealed<NewExecution> {
    const { input: schema } = this.#sensitivity
    const { input, ticket } = execution.start
    const context = execution.context ?? {}
    const places = { input: wholes(input, schema), context: wholes(context, schema) }
    this.learnStart(execution.start)
    this.#sealer.learn(context, places.context)
    const apart: SensitiveValue[] = []
    const sealed = {
      ...execution,
      start: {
        ...execution.start,
        input: objectOf(
          this.#sealer.seal({ ordinal: 0, part: 'input', apart }, input, places.input),
        ),
        ticket: ticket && {
          ...ticket,
          text: this.#sealer.sealText({ ordinal: 0, part: 'ticket', apart }, ['text'], ticket.text),
        },
      },
      context:
        execution.context &&
        objectOf(
          this.#sealer.seal({ ordinal: 0, part: 'context', apart }, context, places.context),
        ),
    }
    return { value: sealed, apart }
  }

  /** What the run was begun with: its input, and what of the ticket looks like what is sensitive in it. */
  learnStart({ input, ticket }: Pick<ExecutionStart, 'input' | 'ticket'>): void {
    const { input: schema } = this.#sensitivity
    this.#sealer.learn(input, wholes(input, schema))
    this.#sealer.learnTexts(sensitiveInText(schema, ticket?.text ?? ''))
  }

  /** The result of a run that was called, and where it is sensitive, before it stands in a row. */
  learnResult(result: Json, values: readonly SensitiveValue[]): void {
    const ofResult = values.filter(({ part }) => part === 'result')
    const pointers = new Set(ofResult.map(({ pointer }) => pointer))
    const paths = membersDeep(result).filter((path) => pointers.has(pointerOf(path)))
    const places = paths.map((path) => ({ path }))
    if (places.length > 0) this.#known.set(canonicalJson(result), places)
    this.#sealer.learn(result, places)
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
    this.#sealer.learn(row.input, input)
    this.#sealer.learn(row.output, output)
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
      this.#sealer.sealText({ ordinal, part, apart }, path, value)
    const value: StepRow = {
      ...row,
      input: this.#sealer.seal(
        { ordinal, part: 'input', apart },
        row.input,
        places.input,
        read.input,
      ),
      output: this.#sealer.seal(
        { ordinal, part: 'output', apart },
        row.output,
        places.output,
        read.output,
      ),
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
      this.#sealer.sealText({ ordinal, part: 'exchange', apart }, [at, ...path], value, isHidden)
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
    this.#sealer.learn(result, places)
    return {
      ...end,
      result: this.#sealer.seal({ ordinal: 0, part: 'result', apart }, result, places),
      reason: reason && this.#sealReason(apart, reason),
    }
  }

  #sealReason(apart: SensitiveValue[], reason: Reason): Reason {
    const { text } = reason
    return {
      ...reason,
      ...(text !== undefined && {
        text: this.#sealer.sealText({ ordinal: 0, part: 'reason', apart }, ['text'], text),
      }),
      message: this.#sealer.sealText(
        { ordinal: 0, part: 'reason', apart },
        ['message'],
        reason.message,
      ),
    }
  }
}

/** A journal that stores what is sensitive of a run apart. */
export function sealingJournal(journal: Journal, vault: Vault): Journal {
  return { commit: (claim, commit) => journal.commit(claim, vault.sealCommit(commit)) }
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

function membersDeep(value: Json, path: ValuePath = []): readonly ValuePath[] {
  return [
    path,
    ...membersOf(value).flatMap(([link, member]) => membersDeep(member, [...path, link])),
  ]
}

/** A mark stands inside the object that a run is given, or in place of all of it. */
function objectOf(value: Json): NewExecution['start']['input'] {
  return isJsonObject(value) ? value : {}
}
