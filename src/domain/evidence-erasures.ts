import type { AuditEvent } from './audit.ts'
import { sha256 } from './canonical.ts'
import { erasureActions } from './erasure.ts'
import type { RecordLine } from './evidence.ts'
import { type EvidenceProblem, parseDetails } from './evidence-acts.ts'

/** What an event says was erased, less what was found to be. */
interface ToldErasure {
  readonly eventId: string
  readonly count: number
  left: number
  /** The hashes of the ids that are left, added up without carry: zero once each was found exactly once. */
  marks: bigint
}

const actions: ReadonlySet<string> = new Set(erasureActions)

/**
 * Compares erased runs with the events that tell of their erasure. It holds a few values per event, and of the evidence of
 * one run the ids.
 */
export class ErasureReconciliation {
  readonly #isWhole: boolean
  readonly #told = new Map<number, ToldErasure>()
  /** Of the evidence of one run: event and run. */
  readonly #named = new Set<string>()
  #lastSeq = 0

  /** `isWhole`: all events and records are to come; else those of one run. */
  constructor(isWhole: boolean) {
    this.#isWhole = isWhole
  }

  takeEvent(event: AuditEvent): void {
    this.#lastSeq = event.seq
    if (!actions.has(event.action)) return
    const { executions } = parseDetails(event.details)
    const ids = Array.isArray(executions) ? executions.map(String) : []
    if (!this.#isWhole) {
      for (const id of ids) this.#named.add(`${event.seq} ${id}`)
      return
    }
    this.#told.set(event.seq, {
      eventId: event.id,
      count: ids.length,
      left: ids.length,
      marks: ids.reduce((marks, id) => marks ^ markOf(id), 0n),
    })
  }

  takeRecord(line: RecordLine): readonly EvidenceProblem[] {
    const { executionId, erasedBy: seq } = line
    if (line.of !== 'run' || line.salt !== undefined) return []
    if (seq === undefined) return [problemOf(executionId, 'no event tells of it')]
    // It was erased while this evidence was read.
    if (this.#isWhole && seq > this.#lastSeq) return []
    const told = this.#told.get(seq)
    if (told !== undefined) {
      told.left -= 1
      told.marks ^= markOf(executionId)
      return []
    }
    if (this.#named.has(`${seq} ${executionId}`)) return []
    return [problemOf(executionId, `event ${seq} does not tell of it`)]
  }

  /** After the last line. */
  finish(): readonly EvidenceProblem[] {
    const problems: EvidenceProblem[] = []
    for (const [seq, { eventId, count, left, marks }] of this.#told) {
      if (left === 0 && marks === 0n) continue
      problems.push({
        table: 'audit_events',
        id: eventId,
        problem: `Event ${seq} tells of ${count} runs that were erased, and these are not the ones that are.`,
      })
    }
    return problems
  }
}

function markOf(id: string): bigint {
  return BigInt(`0x${sha256(id)}`)
}

function problemOf(id: string, why: string): EvidenceProblem {
  return { table: 'erased_records', id, problem: `The run has no values any more, and ${why}.` }
}
