import type { AuditEvent } from './audit.ts'
import { canonicalJson } from './canonical.ts'
import type { EvidenceProblem } from './evidence-acts.ts'
import type { Json, JsonObject } from './json.ts'
import type { RecordRow } from './record.ts'

interface KnownSwitch {
  readonly row: RecordRow
  readonly asOf: number
}

/** What events say of one switch: that it was engaged, and later perhaps lifted. */
interface ToldSwitch {
  readonly seq: number
  readonly reason: Json
  /** The canonical text of whoever did it. */
  readonly by: string
  lifted: { readonly seq: number; readonly by: string } | undefined
}

const actions: ReadonlySet<string> = new Set([
  'procedure.stopped',
  'tool.stopped',
  'procedure.allowed',
  'tool.allowed',
])

/**
 * Compares switches with the events that engage and lift them. Of a procedure or tool one is engaged at a time, so the first
 * row of it is of the first event, and so on.
 */
export class SwitchReconciliation {
  readonly #known = new Map<string, KnownSwitch[]>()
  readonly #told = new Map<string, ToldSwitch[]>()

  /** Rows come in the order in which the switches were engaged. */
  takeRow(row: RecordRow, asOf: number): void {
    listOf(this.#known, `${row.kind} ${row.name}`).push({ row, asOf })
  }

  takeEvent({ action, entityKind, seq, actor }: AuditEvent, details: JsonObject): void {
    if (!actions.has(action)) return
    const list = listOf(this.#told, `${entityKind} ${details.procedureKey ?? details.tool}`)
    if (action.endsWith('.stopped')) {
      list.push({ seq, reason: details.reason ?? null, by: actor, lifted: undefined })
      return
    }
    const last = list.at(-1)
    if (last?.lifted === undefined && last !== undefined) last.lifted = { seq, by: actor }
  }

  /** After the last event. `readUpTo`: the event that all of the rows agree with at the least. */
  *finish(readUpTo: number): Generator<EvidenceProblem> {
    for (const [name, known] of this.#known) {
      const told = this.#told.get(name) ?? []
      for (const [index, one] of known.entries()) {
        const id = String(one.row.id)
        const problem = problemOf(one, told[index])
        if (problem !== undefined) yield { table: 'kill_switches', id, problem }
      }
    }
    for (const [name, told] of this.#told) {
      for (const { seq } of told.slice(this.#known.get(name)?.length ?? 0)) {
        if (seq > readUpTo) continue
        const problem = `It is gone, and event ${seq} speaks of it.`
        yield { table: 'kill_switches', id: name, problem }
      }
    }
  }
}

function problemOf({ row, asOf }: KnownSwitch, told: ToldSwitch | undefined): string | undefined {
  if (told === undefined || told.seq > asOf) {
    return 'No event engages it: it was written past the service.'
  }
  if (row.reason !== told.reason || canonicalJson(row.engaged_by) !== told.by) {
    return `It was not engaged by whom and for what event ${told.seq} says.`
  }
  const lifted = told.lifted !== undefined && told.lifted.seq <= asOf ? told.lifted : undefined
  if (lifted === undefined) {
    return row.lifted_at === null ? undefined : 'No event lifts it: it was lifted past the service.'
  }
  if (row.lifted_at !== null && canonicalJson(row.lifted_by) === lifted.by) return undefined
  return `It was not lifted by whom event ${lifted.seq} says.`
}

function listOf<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}
