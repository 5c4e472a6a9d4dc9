import type { AuditEvent } from './audit.ts'
import { hashOf } from './canonical.ts'
import type { RowLine } from './evidence.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { actRecordHash, type RecordRow, recordVersion } from './record.ts'

/** Something that does not fit, with the row that it was found at. */
export interface EvidenceProblem {
  readonly table: string
  readonly id: string
  /** One sentence for people. */
  readonly problem: string
}

interface KnownRow {
  readonly line: Pick<RowLine, 'table' | 'asOf'>
  readonly id: string
  /** Itself, or the version that it is about. */
  readonly versionId: string
  readonly hash: string
  readonly status: string | undefined
  /** What the events up to `asOf` say of it. */
  acted: { readonly hash: string; readonly seq: number } | undefined
}

/** What an active version went live with. */
interface Approved {
  readonly versionId: string
  readonly digest: string
  readonly authorIds: readonly Json[]
}

/**
 * Compares rows that people have written with the events of those acts. It holds a hash per version, review and activation,
 * whatever the number of events and runs.
 */
export class ActReconciliation {
  readonly #rows = new Map<string, KnownRow>()
  readonly #contracts = new Set<string>()
  /** Rows that events speak of and that are not there, with the event that made them known. */
  readonly #missing = new Map<string, number>()
  readonly #statuses = new Map<string, { readonly seq: number; readonly status: string }[]>()
  readonly #active = new Map<string, string>()
  /** Versions of which an event speaks that carries no hashes, as events once did. */
  readonly #early = new Set<string>()
  readonly #approved: Approved[] = []
  /** Who has approved what, by digest. */
  readonly #approvals = new Map<string, Json[]>()
  /** Up to which event each table was read, at the least. */
  readonly #readUpTo = new Map<string, number>()
  notCovered = 0

  get rowCount(): number {
    return this.#rows.size + this.#contracts.size
  }

  /** Takes a row, before any event, and answers what is wrong with it alone. */
  takeRow(line: RowLine): readonly EvidenceProblem[] {
    const { table, row, asOf } = line
    if (!this.#readUpTo.has(table)) this.#readUpTo.set(table, asOf)
    if (table === 'tool_contracts') return this.#takeContract(row)
    const id = String(row.id)
    const extra = line.scenarios === undefined ? {} : { scenarios: line.scenarios }
    this.#rows.set(`${table}/${id}`, {
      line: { table, asOf },
      id,
      versionId: table === 'procedure_versions' ? id : String(row.version_id),
      hash: actRecordHash(table, row, extra),
      status: typeof row.status === 'string' ? row.status : undefined,
      acted: undefined,
    })
    if (table === 'reviews') this.#takeReview(row)
    return table === 'procedure_versions' ? this.#checkVersion(id, row) : []
  }

  takeEvent(event: AuditEvent): void {
    if (event.entityKind !== 'version') return
    const details = parseDetails(event.details)
    const { records } = details
    if (isJsonObject(records)) {
      for (const [key, hash] of Object.entries(records)) this.#takeRecord(key, hash, event.seq)
    } else this.#early.add(event.entityId ?? '')
    const id = event.entityId ?? ''
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

  /** After the last event. `isWhole`: all events were seen, so that what none of them speaks of was never done. */
  *finish(isWhole: boolean): Generator<EvidenceProblem> {
    for (const known of this.#rows.values()) yield* this.#judge(known, isWhole)
    for (const one of this.#approved) yield* this.#judgeApproval(one)
    for (const [key, seq] of this.#missing) {
      const [table = '', id = ''] = key.split('/')
      if (!isWhole || seq > (this.#readUpTo.get(table) ?? 0)) continue
      yield { table, id, problem: `It is gone, and event ${seq} speaks of it.` }
    }
  }

  *#judge(known: KnownRow, isWhole: boolean): Generator<EvidenceProblem> {
    const { acted, id, hash, line, status } = known
    const { table } = line
    if (acted === undefined) {
      const wasEarly = table !== 'reviews' && this.#early.has(known.versionId)
      if (wasEarly || !isWhole) this.notCovered += 1
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
    if (!isWhole || status === undefined || acted === undefined) return
    const history = this.#statuses.get(id) ?? []
    const told = history.filter(({ seq }) => seq <= line.asOf).at(-1)?.status ?? 'draft'
    if (told !== status) {
      yield { table, id, problem: `Its status is ${status}, and by the events it is ${told}.` }
    }
  }

  #takeReview(row: RecordRow): void {
    if (row.verdict !== 'approve') return
    const digest = String(row.digest)
    this.#approvals.set(digest, [...(this.#approvals.get(digest) ?? []), row.reviewer_id ?? null])
  }

  *#judgeApproval({ versionId, digest, authorIds }: Approved): Generator<EvidenceProblem> {
    const by = this.#approvals.get(digest) ?? []
    if (by.some((reviewer) => !authorIds.includes(reviewer))) return
    const problem = 'Nobody but its authors has approved what it went live with.'
    yield { table: 'procedure_versions', id: versionId, problem }
  }

  #takeRecord(key: string, value: Json, seq: number): void {
    const known = this.#rows.get(key)
    if (known === undefined) {
      if (!this.#missing.has(key)) this.#missing.set(key, seq)
    } else if (seq <= known.line.asOf) {
      known.acted = { hash: String(value), seq }
    }
  }

  #setStatus(id: string, status: string, seq: number): void {
    const history = this.#statuses.get(id) ?? []
    history.push({ seq, status })
    this.#statuses.set(id, history)
  }

  #takeContract(row: RecordRow): readonly EvidenceProblem[] {
    const hash = String(row.hash)
    this.#contracts.add(hash)
    const problems: EvidenceProblem[] = []
    const found = { table: 'tool_contracts', id: hash }
    if (hashOf(row.contract) !== hash) {
      problems.push({ ...found, problem: 'It does not have the hash that it is named by.' })
    }
    if (isJsonObject(row.contract) && row.contract.name !== row.name) {
      problems.push({ ...found, problem: 'Its name is not the one in its contract.' })
    }
    return problems
  }

  #checkVersion(id: string, row: RecordRow): readonly EvidenceProblem[] {
    const problems: EvidenceProblem[] = []
    const found = { table: 'procedure_versions', id }
    const { approval_digest: digest, author_ids: authorIds } = row
    if (typeof digest === 'string') {
      const ids = Array.isArray(authorIds) ? authorIds : []
      this.#approved.push({ versionId: id, digest, authorIds: ids })
    }
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

/** The details of an event; empty for what is no JSON, which the hash of the event shows. */
export function parseDetails(details: string): JsonObject {
  try {
    const value: unknown = JSON.parse(details)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
