import type { AuditEvent } from './audit.ts'
import { hashOf } from './canonical.ts'
import type { HeaderLine, RowLine, RowTable } from './evidence.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { actRecordHash, type RecordRow, recordVersion } from './record.ts'
import { type ActTable, actFields } from './record-fields.ts'

/** Something that does not fit, with the row that it was found at. */
export interface EvidenceProblem {
  readonly table: string
  readonly id: string
  /** One sentence for people. */
  readonly problem: string
}

interface KnownRow {
  readonly table: ActTable
  readonly asOf: number
  readonly id: string
  /** Itself, or the version that it is about. */
  readonly versionId: string
  readonly hash: string
  readonly status: string | undefined
  /** What the events up to `asOf` say of it. */
  acted: { readonly hash: string; readonly seq: number } | undefined
}

/** A row that an event speaks of and that is not there. */
interface MissingRow {
  readonly seq: number
  /** When the event was written, in epoch milliseconds. */
  readonly at: number
  /** The version that the event is about. */
  readonly versionId: string
  /** Of a review: what it was said of. */
  readonly digest: string | null
}

/**
 * Compares rows that people have written with the events of those acts. It holds a hash per version, review and activation,
 * whatever the number of events and runs.
 */
export class ActReconciliation {
  readonly #header: HeaderLine
  readonly #rows = new Map<string, KnownRow>()
  readonly #contracts = new Set<string>()
  /** What versions went live with. */
  readonly #approved = new Set<string>()
  readonly #missing = new Map<string, MissingRow>()
  readonly #statuses = new Map<string, { readonly seq: number; readonly status: string }[]>()
  readonly #active = new Map<string, string>()
  /** Versions of which an event speaks that carries no hashes, as events once did, and what these events say was done. */
  readonly #early = new Map<string, Set<string>>()
  /** Whether an event has carried hashes: from then on every one does. */
  #isHashed = false
  /** Up to which event each table was read, at the least. */
  readonly #readUpTo = new Map<string, number>()
  notCovered = 0

  /** Of evidence that begins with this. */
  constructor(header: HeaderLine) {
    this.#header = header
  }

  get rowCount(): number {
    return this.#rows.size + this.#contracts.size
  }

  /** Takes a row, before any event, and answers what is wrong with it alone. */
  takeRow(line: RowLine): readonly EvidenceProblem[] {
    const { table, row, asOf } = line
    if (!this.#readUpTo.has(table)) this.#readUpTo.set(table, asOf)
    if (table === 'tool_contracts') return this.#takeContract(line)
    if (!isActTable(table)) return []
    const id = String(row.id)
    const key = `${table}/${id}`
    const extra = line.scenarios === undefined ? {} : { scenarios: line.scenarios }
    if (this.#rows.has(key)) return [{ table, id, problem: isTwice }]
    this.#rows.set(key, {
      table,
      asOf,
      id,
      versionId: table === 'procedure_versions' ? id : String(row.version_id),
      hash: actRecordHash(table, row, extra),
      status: typeof row.status === 'string' ? row.status : undefined,
      acted: undefined,
    })
    return table === 'procedure_versions' ? this.#checkVersion(id, row) : []
  }

  takeEvent(event: AuditEvent, details: JsonObject): void {
    if (event.entityKind !== 'version') return
    const { records } = details
    const id = event.entityId ?? ''
    if (isJsonObject(records)) {
      this.#isHashed = true
      for (const [key, hash] of Object.entries(records)) this.#takeRecord(key, hash, event)
    } else if (!this.#isHashed) {
      const actions = this.#early.get(id) ?? new Set()
      this.#early.set(id, actions.add(event.action))
    }
    if (event.action === 'version.deleted') this.#missing.delete(`procedure_versions/${id}`)
    if (event.action === 'version.activated') {
      const procedure = String(details.procedureKey)
      const before = this.#active.get(procedure)
      if (before !== undefined) this.#setStatus(before, 'deprecated', event.seq)
      this.#active.set(procedure, id)
      this.#setStatus(id, 'active', event.seq)
    }
    if (event.action === 'version.deprecated') {
      this.#active.delete(String(details.procedureKey))
      this.#setStatus(id, 'deprecated', event.seq)
    }
  }

  /** After the last event. */
  *finish(): Generator<EvidenceProblem> {
    for (const known of this.#rows.values()) yield* this.#judge(known)
    for (const [key, told] of this.#missing) {
      const [table = '', id = ''] = key.split('/')
      if (!this.#isExpected(table, told)) continue
      yield { table, id, problem: `It is gone, and event ${told.seq} speaks of it.` }
    }
  }

  /** Whether evidence that has no row of this must have one: of one run, the version and what was said of it. */
  #isExpected(table: string, { seq, at, versionId, digest }: MissingRow): boolean {
    const { scope, asOf, madeAt } = this.#header
    if (scope === 'run') {
      const isItsOwn = this.#rows.has(`procedure_versions/${versionId}`)
      return table === 'reviews'
        ? isItsOwn || this.#approved.has(String(digest))
        : isItsOwn && table === 'procedure_versions'
    }
    const readUpTo = this.#readUpTo.get(table) ?? asOf
    // What was written before evidence of the first format was begun was there when it was read.
    return readUpTo === undefined ? at + maxSkewMs < Date.parse(madeAt) : seq <= readUpTo
  }

  *#judge(known: KnownRow): Generator<EvidenceProblem> {
    const { acted, id, hash, table, asOf, status } = known
    if (acted === undefined) {
      if (this.#wasEarly(known)) this.notCovered += 1
      else yield { table, id, problem: 'No event speaks of it: it was written past the service.' }
    } else if (!acted.hash.startsWith(`${recordVersion}:`)) {
      yield {
        table,
        id,
        problem: `Event ${acted.seq} has another version of records than this code knows.`,
      }
    } else if (acted.hash !== hash) {
      yield {
        table,
        id,
        problem: `It is not as event ${acted.seq} has left it: a column was changed past the service.`,
      }
    }
    if (this.#header.scope === 'run' || status === undefined || acted === undefined) return
    const history = this.#statuses.get(id) ?? []
    const told = history.filter(({ seq }) => seq <= asOf).at(-1)?.status ?? 'draft'
    if (told !== status) {
      yield { table, id, problem: `Its status is ${status}, and by the events it is ${told}.` }
    }
  }

  /** Whether an event from before they carried hashes tells of the act that has written a row. */
  #wasEarly({ table, versionId }: KnownRow): boolean {
    const actions = this.#early.get(versionId)
    if (table === 'procedure_versions') return actions !== undefined
    return table === 'activations' && actions?.has('version.activated') === true
  }

  #takeRecord(key: string, value: Json, event: AuditEvent): void {
    const { seq, at, entityId, afterHash: digest } = event
    const known = this.#rows.get(key)
    if (known === undefined) {
      if (this.#missing.has(key)) return
      this.#missing.set(key, { seq, at, versionId: entityId ?? '', digest })
    } else if (seq <= known.asOf) {
      known.acted = { hash: String(value), seq }
    }
  }

  #setStatus(id: string, status: string, seq: number): void {
    const history = this.#statuses.get(id) ?? []
    history.push({ seq, status })
    this.#statuses.set(id, history)
  }

  #takeContract({ row, scenarios }: RowLine): readonly EvidenceProblem[] {
    const hash = String(row.hash)
    const found = { table: 'tool_contracts', id: hash }
    if (this.#contracts.has(hash)) return [{ ...found, problem: isTwice }]
    this.#contracts.add(hash)
    const problems: EvidenceProblem[] = []
    if (hashOf(row.contract) !== hash) {
      problems.push({ ...found, problem: 'It does not have the hash that it is named by.' })
    }
    if (isJsonObject(row.contract) && row.contract.name !== row.name) {
      problems.push({ ...found, problem: 'Its name is not the one in its contract.' })
    }
    if (scenarios !== undefined)
      problems.push({ ...found, problem: 'A contract has no scenarios.' })
    return problems
  }

  #checkVersion(id: string, row: RecordRow): readonly EvidenceProblem[] {
    const problems: EvidenceProblem[] = []
    const found = { table: 'procedure_versions', id }
    if (typeof row.approval_digest === 'string') this.#approved.add(row.approval_digest)
    if (hashOf(row.definition) !== row.definition_hash) {
      problems.push({ ...found, problem: 'Its definition does not have its definition hash.' })
    }
    for (const [tool, hash] of Object.entries(Object(row.tool_contracts))) {
      if (!this.#contracts.has(String(hash))) {
        problems.push({ ...found, problem: `The contract that it pins of ${tool} is gone.` })
      }
    }
    return problems
  }
}

/** By how much the clocks of those who write may differ, and how long an act may wait for its place in the chain. */
export const maxSkewMs = 60_000

/** What is said of a row that evidence has more than once. */
export const isTwice = 'It is there more than once.'

function isActTable(table: RowTable): table is ActTable & RowTable {
  return Object.hasOwn(actFields, table)
}

/** The details of an event; empty for what is no JSON, which the hash of the event shows. */
export function parseDetails(details: string): JsonObject {
  try {
    const value: unknown = JSON.parse(details)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
