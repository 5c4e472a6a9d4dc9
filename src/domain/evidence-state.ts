import type { AuditEvent } from './audit.ts'
import { canonicalJson, hashOf } from './canonical.ts'
import type { HeaderLine, RowLine, RowTable } from './evidence.ts'
import { type EvidenceProblem, isTwice } from './evidence-acts.ts'
import { SwitchReconciliation } from './evidence-switches.ts'
import type { JsonObject } from './json.ts'
import type { RecordRow } from './record.ts'
import { type StateTable, stateColumns } from './record-fields.ts'

interface KnownState {
  readonly table: StateTable
  readonly asOf: number
  readonly id: string
  readonly row: RecordRow
  /** What the events up to `asOf` leave of it; undefined while none speaks of it. */
  told: JsonObject | undefined
}

/**
 * Compares rows that have no hash with what the events of their acts say: who may act and by which keys, what is stopped,
 * which procedures there are, and the settings. It holds a row of each.
 */
export class StateReconciliation {
  readonly #header: HeaderLine
  readonly #known = new Map<string, KnownState>()
  readonly #readUpTo = new Map<string, number>()
  /** Rows that events speak of and that are not there, with the first such event. */
  readonly #missing = new Map<string, number>()
  readonly #switches = new SwitchReconciliation()
  /** The key of each procedure that has versions, as these say it, by its id. */
  readonly #keys = new Map<string, string>()
  /** The procedures that are there, by their keys. */
  readonly #procedures = new Map<string, KnownState>()
  /** Whether events say that something went live by approvals, and without any. */
  readonly #wasGoverned = new Set<boolean>()

  /** Of evidence that begins with this. */
  constructor(header: HeaderLine) {
    this.#header = header
  }

  /** Whether the evidence has these rows: of one run, and of the first format, it has none. */
  get isThere(): boolean {
    return this.#header.scope === 'all' && this.#header.format > 1
  }

  /** Takes a row, before any event, and answers what is wrong with it alone. */
  takeRow({ table, row, asOf }: RowLine): readonly EvidenceProblem[] {
    if (table === 'procedure_versions') {
      this.#keys.set(String(row.procedure_id), String(row.procedure_key))
    }
    if (!isStateTable(table)) return []
    if (!this.#readUpTo.has(table)) this.#readUpTo.set(table, asOf)
    const id = String(row.id ?? this.#header.tenant)
    const key = `${table}/${id}`
    if (!this.isThere) return [{ table, id, problem: 'Evidence of this kind has no such row.' }]
    if (this.#known.has(key)) return [{ table, id, problem: isTwice }]
    const known = { table, id, asOf, row, told: undefined }
    this.#known.set(key, known)
    if (table === 'procedures') this.#procedures.set(String(row.key), known)
    if (table === 'kill_switches') this.#switches.takeRow(row, asOf)
    return []
  }

  takeEvent(event: AuditEvent, details: JsonObject): void {
    const { action, seq } = event
    const id = event.entityId ?? ''
    const { tenant } = this.#header
    switch (action) {
      case 'principal.created':
        this.#tell('principals', id, seq, { ...details, disabledAt: null })
        break
      case 'principal.changed':
        this.#tell('principals', id, seq, details)
        break
      case 'key.created':
        this.#tell('api_keys', id, seq, { ...details, isRevoked: false })
        break
      case 'key.revoked':
        this.#tell('api_keys', id, seq, { isRevoked: true })
        break
      case 'retention.set':
        this.#tell('tenants', tenant, seq, { days: details.days ?? null })
        break
      case 'calendar.set':
        this.#tell('tenants', tenant, seq, { calendar: event.afterHash })
        break
      case 'governance.changed':
        this.#tell('governance', tenant, seq, details)
        break
      default:
        if (event.entityKind === 'version') this.#takeVersionEvent(event, details)
        else this.#switches.takeEvent(event, details)
    }
  }

  /** After the last event. */
  *finish(): Generator<EvidenceProblem> {
    if (!this.isThere) return
    for (const known of this.#known.values()) {
      const { table, id } = known
      for (const problem of this.#judge(known)) yield { table, id, problem }
    }
    for (const [id, key] of this.#keys) {
      const known = this.#known.get(`procedures/${id}`)
      if (known?.row.key === key) continue
      const problem =
        known === undefined ? 'It is gone, and has versions.' : `Its versions are of ${key}.`
      yield { table: 'procedures', id, problem }
    }
    for (const table of ['tenants', 'governance']) {
      const id = this.#header.tenant
      if (!this.#known.has(`${table}/${id}`)) yield { table, id, problem: 'It is gone.' }
    }
    for (const [key, seq] of this.#missing) {
      const [table = '', id = ''] = key.split('/')
      if (seq > this.#upTo(table)) continue
      yield { table, id, problem: `It is gone, and event ${seq} speaks of it.` }
    }
    yield* this.#switches.finish(this.#upTo('kill_switches'))
  }

  /** What cannot be judged, for lack of an event. */
  get limit(): string | undefined {
    const known = this.#known.get(`governance/${this.#header.tenant}`)
    if (known?.told !== undefined || known?.row.required_approvals !== 0) return undefined
    return 'No event says since when this deployment asks for no approval: that it did before would not show.'
  }

  #upTo(table: string): number {
    return this.#readUpTo.get(table) ?? this.#header.asOf ?? 0
  }

  #tell(table: StateTable, id: string, seq: number, told: JsonObject): void {
    const key = `${table}/${id}`
    const known = this.#known.get(key)
    if (known === undefined) {
      if (!this.#missing.has(key)) this.#missing.set(key, seq)
    } else if (seq <= known.asOf) {
      known.told = { ...known.told, ...told }
    }
  }

  #takeVersionEvent({ action, seq }: AuditEvent, details: JsonObject): void {
    if (action === 'version.activated' && details.approvalDigest !== undefined) {
      this.#wasGoverned.add(details.approvalDigest !== null)
    }
    // Whoever made the procedure has told its key with the first version.
    const known = this.#procedures.get(String(details.procedureKey))
    if (known !== undefined && seq <= known.asOf) known.told = {}
  }

  #judge({ table, row, told }: KnownState): readonly string[] {
    switch (table) {
      case 'procedures':
        return told === undefined ? [isUntold] : []
      case 'principals':
        return told === undefined
          ? [isUntold]
          : differences([
              ['kind', row.kind, told.kind ?? row.kind],
              ['name', row.name, told.name],
              ['roles', row.roles, told.roles],
              ['groups', row.groups, told.groups],
              ['disabled_at', row.disabled_at, told.disabledAt],
            ])
      case 'api_keys':
        return told === undefined
          ? [isUntold]
          : differences([
              ['principal_id', row.principal_id, told.principalId],
              ['name', row.name, told.name],
              ['expires_at', row.expires_at, told.expiresAt],
              ['revoked_at', row.revoked_at !== null, told.isRevoked],
            ])
      case 'tenants':
        return differences([
          ['retention_days', row.retention_days, told?.days ?? null],
          ['calendar', row.calendar && hashOf(row.calendar), told?.calendar ?? null],
        ])
      case 'governance':
        return this.#judgeGovernance(row, told)
      case 'kill_switches':
        return []
      default:
        return table satisfies never
    }
  }

  #judgeGovernance(row: RecordRow, told: JsonObject | undefined): readonly string[] {
    const { required_approvals: required } = row
    if (told !== undefined) {
      return differences([['required_approvals', required, told.requiredApprovals]])
    }
    if (!this.#wasGoverned.has(required === 0)) return []
    return [`It asks for ${required} approvals, and once did not: no event speaks of the change.`]
  }
}

const isUntold = 'No event speaks of it: it was written past the service.'

function differences(
  columns: readonly (readonly [column: string, found: unknown, told: unknown])[],
): readonly string[] {
  return columns.flatMap(([column, found, told]) =>
    canonicalJson(found ?? null) === canonicalJson(told ?? null)
      ? []
      : [`Its ${column} is not what the events say: it was changed past the service.`],
  )
}

function isStateTable(table: RowTable): table is StateTable & RowTable {
  return Object.hasOwn(stateColumns, table)
}
