import { createHmac } from 'node:crypto'
import { canonicalJson, hashOf } from './canonical.ts'
import { isJsonObject, type Json } from './json.ts'
import { leafHash } from './merkle.ts'
import { type ActTable, coveredColumns, type RunTable } from './record-fields.ts'
import { digestOf as digestOfSensitive } from './sensitive-value.ts'

/** The list of columns and the form that records have now. */
export const recordVersion = 1

/** A row with its columns as they are in evidence: instants as text in UTC with milliseconds. */
export type RecordRow = Readonly<Record<string, Json>>

/** All rows of one run that ended. */
export interface RunRows {
  readonly execution: RecordRow
  /** By ordinal. */
  readonly steps: readonly RecordRow[]
  /** Null for a run that was sealed without one. */
  readonly reply: RecordRow | null
  readonly escalation: RecordRow | null
  /** By ordinal, part and pointer. */
  readonly sensitive: readonly RecordRow[]
}

/** What stands for the personal columns of one run: the salt with the values, or digests by path without them. */
export interface Concealment {
  /** 64 hex digits, which as text are the key of the digests; absent once erased. */
  readonly salt?: string | undefined
  readonly digests?: Readonly<Record<string, string>> | undefined
}

/** A leaf, and what speaks against it even where the tree has it. */
export interface RecordLeaf {
  readonly hash: string
  /** Columns that do not fit to what conceals them: `step_executions.output`. */
  readonly flaws: readonly string[]
}

/**
 * The hash of a row that an act has written, with the version of its list of columns: `1:<hash>`. `extra` are columns that
 * belong to it from other tables.
 */
export function actRecordHash(table: ActTable, row: RecordRow, extra: RecordRow = {}): string {
  const covered = coveredColumns(table).map(([column]) => [column, row[column] ?? null] as const)
  const record = { v: recordVersion, table, row: { ...Object.fromEntries(covered), ...extra } }
  return `${recordVersion}:${hashOf(record)}`
}

/** The leaf of a run's record (docs/decisions/0016-seals.md). */
export function runLeaf(rows: RunRows, concealment: Concealment): RecordLeaf {
  const builder = new RecordBuilder(concealment)
  return builder.leaf({
    v: recordVersion,
    kind: 'run',
    execution: builder.part('executions', rows.execution),
    steps: rows.steps.map((row) => builder.part('step_executions', row)),
    reply: rows.reply && builder.part('replies', rows.reply),
    escalation: rows.escalation && builder.part('escalations', rows.escalation),
    sensitive: rows.sensitive.map((row) => builder.sensitivePart(row)),
  })
}

/** The leaf of a reply that came after its run was sealed. */
export function replyLeaf(reply: RecordRow, concealment: Concealment): RecordLeaf {
  const builder = new RecordBuilder(concealment)
  return builder.leaf({ v: recordVersion, kind: 'reply', reply: builder.part('replies', reply) })
}

/** The digests of all personal columns of some rows, by path: what erasure keeps. Null columns have none. */
export function digestsOf(
  rows: Iterable<readonly [RunTable, RecordRow]>,
  salt: string,
): Readonly<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const [table, row] of rows) {
    const place = placeOf(table, row)
    for (const [column, kind] of coveredColumns(table)) {
      const value = row[column] ?? null
      if (kind === 'personal' && value !== null) {
        digests[pathOf(table, place, column)] = digestOf(salt, table, place, column, value)
      }
    }
  }
  return digests
}

/** The rows of a run that have personal columns, with their tables. */
export function* tableRows(rows: RunRows): Generator<readonly [RunTable, RecordRow]> {
  yield ['executions', rows.execution]
  for (const step of rows.steps) yield ['step_executions', step]
  if (rows.reply !== null) yield ['replies', rows.reply]
  if (rows.escalation !== null) yield ['escalations', rows.escalation]
}

class RecordBuilder {
  readonly #flaws: string[] = []
  readonly #concealment: Concealment

  constructor(concealment: Concealment) {
    this.#concealment = concealment
  }

  leaf(record: Json): RecordLeaf {
    return { hash: leafHash(canonicalJson(record)), flaws: this.#flaws }
  }

  part(table: RunTable, row: RecordRow): RecordRow {
    const place = placeOf(table, row)
    const part: Record<string, Json> = {}
    for (const [column, kind] of coveredColumns(table)) {
      const value = row[column] ?? null
      part[column] = kind === 'structural' ? value : this.#conceal(table, place, column, value)
    }
    return part
  }

  /** What is kept apart is proved by its own digest, where it is at hand: with the run's salt a short one could be tried out. */
  sensitivePart(row: RecordRow): RecordRow {
    const { salt, value, digest } = row
    if (typeof salt === 'string' && typeof value === 'string') {
      const isGone = salt === '' && value === '' && this.#concealment.salt === undefined
      const isProved = salt.length === 32 && digestOfSensitive(salt, value) === digest
      if (!isGone && !isProved) this.#flaws.push('sensitive_values.value')
    }
    return this.part('sensitive_values', row)
  }

  #conceal(table: RunTable, place: Json, column: string, value: Json): string | null {
    const { salt, digests } = this.#concealment
    const kept = digests?.[pathOf(table, place, column)]
    if (kept !== undefined) {
      // Otherwise a digest could stand for a value that was changed.
      if (!isRemnant(value)) this.#flaws.push(`${table}.${column}`)
      return kept
    }
    if (value === null) return null
    if (salt !== undefined) return digestOf(salt, table, place, column, value)
    this.#flaws.push(`${table}.${column}`)
    return null
  }
}

/** What erasure leaves of a value: nothing, or where a column must have one, the emptiest; of a reason its code. */
function isRemnant(value: Json): boolean {
  if (value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).every((name) => name === 'code')
}

function placeOf(table: RunTable, row: RecordRow): Json {
  return table === 'step_executions' ? (row.ordinal ?? null) : null
}

function pathOf(table: RunTable, place: Json, column: string): string {
  return canonicalJson([table, place, column])
}

function digestOf(salt: string, table: RunTable, place: Json, column: string, value: Json): string {
  return createHmac('sha256', salt)
    .update(canonicalJson([table, place, column, value]))
    .digest('hex')
}
