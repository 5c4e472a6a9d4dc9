import type { AuditEvent } from './audit.ts'
import { canonicalJson } from './canonical.ts'
import type { EndLine, HeaderLine, RecordLine, RowLine } from './evidence.ts'
import { type EvidenceProblem, maxSkewMs } from './evidence-acts.ts'
import type { Json } from './json.ts'
import type { RecordRow } from './record.ts'

/** What a run says of the version that it is of, which has the same columns. */
const named = ['procedure_id', 'procedure_key', 'version_number', 'definition_hash']

interface KnownVersion {
  readonly says: string
  readonly contracts: Json
}

/**
 * Compares runs with the versions that they name. Evidence of one run must have all that this run rests on: its record,
 * version, contracts, and when that served. It holds a few values per version.
 */
export class OriginReconciliation {
  readonly #header: HeaderLine
  readonly #versions = new Map<string, KnownVersion>()
  /** Of the evidence of one run: hashes of contracts, and since when which version has served. */
  readonly #contracts = new Set<string>()
  readonly #served: { readonly versionId: string; readonly since: Json }[] = []
  /** Versions of which an event says that they were made. */
  readonly #created = new Set<string>()
  /** Up to which event each row agrees. */
  readonly #asOf = new Set<number>()
  #run: RecordRow | undefined
  #runId: string | undefined

  /** Of evidence that begins with this. */
  constructor(header: HeaderLine) {
    this.#header = header
  }

  takeRow({ table, row, asOf }: RowLine): void {
    if (table === 'procedure_versions') {
      const says = canonicalJson(named.map((column) => row[column] ?? null))
      this.#versions.set(String(row.id), { says, contracts: row.tool_contracts ?? null })
    }
    if (this.#header.scope === 'all') return
    this.#asOf.add(asOf)
    if (table === 'tool_contracts') this.#contracts.add(String(row.hash))
    if (table === 'activations') {
      this.#served.push({ versionId: String(row.version_id), since: row.active_from ?? null })
    }
  }

  takeEvent({ action, entityId }: AuditEvent): void {
    if (this.#header.scope === 'run' && action === 'version.created') {
      this.#created.add(entityId ?? '')
    }
  }

  takeRecord(line: RecordLine): readonly EvidenceProblem[] {
    const { executionId, run } = line
    const problems: string[] = []
    if (this.#header.scope === 'run') {
      this.#runId ??= executionId
      if (executionId !== this.#runId) problems.push(`This is the evidence of ${this.#runId}.`)
      if (line.of === 'run' && this.#run !== undefined) problems.push('It is there more than once.')
    }
    if (run) {
      if (line.of === 'run') this.#run = run.execution
      const version = this.#versions.get(String(run.execution.version_id))
      const says = canonicalJson(named.map((column) => run.execution[column] ?? null))
      if (version !== undefined && version.says !== says) {
        problems.push('The version that it names is another one, or has another definition.')
      }
    }
    return problems.map((problem) => ({ table: 'executions', id: executionId, problem }))
  }

  /** After the last line. */
  *finish(end: EndLine | undefined): Generator<EvidenceProblem> {
    if (this.#header.scope === 'all') return
    const run = this.#run
    if (run === undefined) {
      yield { table: 'evidence', id: 'record', problem: 'It has no record of a run.' }
      return
    }
    for (const asOf of this.#asOf) {
      if (asOf === end?.seq) continue
      const problem = `A row is of event ${asOf}, and the evidence of event ${end?.seq}.`
      yield { table: 'evidence', id: 'row', problem }
    }
    yield* this.#judgeOrigin(run)
  }

  *#judgeOrigin(run: RecordRow): Generator<EvidenceProblem> {
    const versionId = String(run.version_id)
    const version = this.#versions.get(versionId)
    const found = { table: 'procedure_versions', id: versionId }
    if (version === undefined) {
      yield { ...found, problem: 'It is not there, and the run is of it.' }
      return
    }
    if (!this.#created.has(versionId)) {
      yield { ...found, problem: 'The event that says how it was made is not there.' }
    }
    if (this.#versions.size > 1) {
      yield { ...found, problem: 'There are others beside it.' }
    }
    if (canonicalJson(version.contracts) !== canonicalJson(run.tool_contracts)) {
      yield { ...found, problem: 'It pins other contracts than the run was started with.' }
    }
    for (const hash of Object.values(Object(run.tool_contracts)).map(String)) {
      if (this.#contracts.has(hash)) continue
      yield { table: 'tool_contracts', id: hash, problem: 'It is not there, and the run names it.' }
    }
    const started = Date.parse(String(run.created_at))
    const hasServed = this.#served.some(
      ({ versionId: id, since }) =>
        id === versionId && Date.parse(String(since)) <= started + maxSkewMs,
    )
    if (!hasServed) {
      yield { ...found, problem: 'No time of service of it is there that begins before the run.' }
    }
  }
}
