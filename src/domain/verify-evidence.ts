import { type AuditEvent, type AuditHead, findBrokenLink } from './audit.ts'
import { type Checkpoint, type CheckpointKey, judgeCheckpoint } from './checkpoint.ts'
import type { EndLine, EvidenceLine, HeaderLine, RecordLine, RowLine } from './evidence.ts'
import {
  ActReconciliation,
  type EvidenceProblem,
  maxSkewMs,
  parseDetails,
} from './evidence-acts.ts'
import { ApprovalReconciliation } from './evidence-approvals.ts'
import { ErasureReconciliation } from './evidence-erasures.ts'
import { LineOrder } from './evidence-order.ts'
import { OriginReconciliation } from './evidence-origins.ts'
import { SealReconciliation } from './evidence-seals.ts'
import { StateReconciliation } from './evidence-state.ts'
import type { JsonObject } from './json.ts'
import { strayColumns } from './stray-columns.ts'

/** What evidence shows. */
export interface EvidenceVerdict {
  readonly ok: boolean
  /** In the order in which they were found, at most 20; the first names the first row that does not fit. */
  readonly problems: readonly EvidenceProblem[]
  readonly problemCount: number
  readonly counts: {
    readonly events: number
    /** Versions, activations and contracts. */
    readonly rows: number
    /** Of these, the ones whose events carry no hash of them. */
    readonly notCovered: number
    readonly seals: number
    readonly records: number
    /** Runs that were erased; what is left of them is right. */
    readonly erased: number
    /** Runs that have ended and wait for their seal. */
    readonly unsealed: number
    readonly checkpoints: number
  }
  /** The last event that a signed checkpoint proves; null for none. */
  readonly provedUpTo: number | null
  /** What this cannot prove, one sentence each. */
  readonly limits: readonly string[]
}

const maxProblems = 20
const noDetails: JsonObject = {}

/** All that compares lines of evidence with each other. */
interface Comparisons {
  readonly header: HeaderLine
  readonly acts: ActReconciliation
  readonly approvals: ApprovalReconciliation
  readonly states: StateReconciliation
  readonly seals: SealReconciliation
  readonly erasures: ErasureReconciliation
  readonly origins: OriginReconciliation
}

/** The kinds of events that a comparison looks into. */
const comparedKinds: ReadonlySet<string> = new Set([
  'version',
  'principal',
  'key',
  'procedure',
  'tool',
  'tenant',
])

/**
 * Takes the lines of evidence one by one and says at the end what they show. Its memory grows with the number of versions,
 * activations, principals, seals, erasures and checkpoints, not with that of events and runs.
 */
export class EvidenceVerifier {
  readonly #keys: readonly CheckpointKey[]
  readonly #problems: EvidenceProblem[] = []
  readonly #limits: string[] = []
  readonly #checkpoints = new Map<number, Checkpoint[]>()
  readonly #given: readonly Checkpoint[]
  readonly #order = new LineOrder()
  /** From the header on. */
  #comparisons: Comparisons | undefined
  #head: AuditHead = { seq: 0, hash: null }
  /** The latest time of an event so far, in epoch milliseconds. */
  #latest = Number.NEGATIVE_INFINITY
  /** Whether a signed checkpoint stands in the stretch of events that was read last. */
  #isAnchored = false
  #problemCount = 0
  #eventCount = 0
  #checkpointCount = 0
  #provedUpTo: number | null = null

  /** `checkpoints`: those that were kept elsewhere; the evidence has its own. */
  constructor(keys: readonly CheckpointKey[] = [], checkpoints: readonly Checkpoint[] = []) {
    this.#keys = keys
    this.#given = checkpoints
  }

  take(line: EvidenceLine): void {
    const misplaced = this.#order.take(line)
    if (misplaced !== undefined) {
      this.#add([misplaced])
      return
    }
    if (line.kind === 'header') this.#takeHeader(line)
    const comparisons = this.#comparisons
    if (comparisons === undefined) return
    switch (line.kind) {
      case 'header':
        break
      case 'row':
        this.#takeRow(line, comparisons)
        break
      case 'checkpoint':
        this.#takeCheckpoint(line.checkpoint, comparisons.header)
        break
      case 'event':
        this.#takeEvent(line.event, comparisons)
        break
      case 'seal':
        this.#add(comparisons.seals.takeSeal(line))
        break
      case 'record':
        this.#takeRecord(line, comparisons)
        break
      case 'end':
        this.#takeEnd(line, comparisons)
        break
      default:
        line satisfies never
    }
  }

  /** Adds what was found elsewhere: a replay that does not agree. */
  addProblem(problem: EvidenceProblem): void {
    this.#add([problem])
  }

  finish(): EvidenceVerdict {
    this.#add(this.#order.finish())
    const comparisons = this.#comparisons
    if (comparisons !== undefined) {
      const { seals, erasures, acts, approvals, states, origins } = comparisons
      this.#add(seals.finish())
      this.#add(erasures.finish())
      this.#add(acts.finish())
      this.#add(approvals.finish())
      this.#add(states.finish())
      this.#add(origins.finish(this.#order.end))
      this.#judgeRest(comparisons)
    }
    return {
      ok: this.#problemCount === 0,
      problems: this.#problems,
      problemCount: this.#problemCount,
      counts: {
        events: this.#eventCount,
        rows: comparisons?.acts.rowCount ?? 0,
        notCovered: comparisons?.acts.notCovered ?? 0,
        seals: comparisons?.seals.sealCount ?? 0,
        records: comparisons?.seals.recordCount ?? 0,
        erased: comparisons?.seals.erasedCount ?? 0,
        unsealed: this.#order.end?.unsealed ?? 0,
        checkpoints: this.#checkpointCount,
      },
      provedUpTo: this.#provedUpTo,
      limits: this.#limits,
    }
  }

  #add(problems: Iterable<EvidenceProblem>): void {
    for (const problem of problems) {
      this.#problemCount += 1
      if (this.#problems.length < maxProblems) this.#problems.push(problem)
    }
  }

  #limit(sentence: string): void {
    if (!this.#limits.includes(sentence)) this.#limits.push(sentence)
  }

  #takeHeader(header: HeaderLine): void {
    const isWhole = header.scope === 'all'
    this.#comparisons = {
      header,
      acts: new ActReconciliation(header),
      approvals: new ApprovalReconciliation(),
      states: new StateReconciliation(header),
      seals: new SealReconciliation(isWhole),
      erasures: new ErasureReconciliation(isWhole),
      origins: new OriginReconciliation(header),
    }
    for (const checkpoint of this.#given) this.#takeCheckpoint(checkpoint, header)
  }

  #takeRow(line: RowLine, { header, acts, approvals, states, origins }: Comparisons): void {
    const { table, row, asOf } = line
    const id = String(row.id ?? row.hash ?? header.tenant)
    if (asOf < (header.asOf ?? 0)) {
      const problem = `It is of event ${asOf}, and the evidence of event ${header.asOf} at the least.`
      this.#add([{ table, id, problem }])
    }
    this.#add(strayColumns(line, header))
    this.#add(acts.takeRow(line))
    this.#add(approvals.takeRow(line))
    this.#add(states.takeRow(line))
    origins.takeRow(line)
  }

  #takeRecord(line: RecordLine, { header, seals, erasures, origins }: Comparisons): void {
    this.#add(strayColumns(line, header))
    this.#add(seals.takeRecord(line))
    this.#add(erasures.takeRecord(line))
    this.#add(origins.takeRecord(line))
  }

  #takeCheckpoint(checkpoint: Checkpoint, { tenant }: HeaderLine): void {
    if (checkpoint.tenant !== tenant) return
    this.#checkpointCount += 1
    const { seq, keyId } = checkpoint
    const judgement = judgeCheckpoint(checkpoint, this.#keys)
    if (judgement === 'unknown_key') {
      this.#limit(
        `Checkpoints of key ${keyId} cannot be judged: its public key was not given (--public-key).`,
      )
    } else if (judgement === 'forged') {
      this.#add([
        {
          table: 'checkpoints',
          id: String(seq),
          problem: `Its signature is not that of key ${keyId}.`,
        },
      ])
    } else {
      this.#checkpoints.set(seq, [...(this.#checkpoints.get(seq) ?? []), checkpoint])
    }
  }

  #takeEvent(event: AuditEvent, comparisons: Comparisons): void {
    const { header, acts, approvals, states, seals, erasures, origins } = comparisons
    this.#eventCount += 1
    if (header.scope === 'run' && event.seq > this.#head.seq + 1) {
      this.#endStretch()
      // What stands before a stretch is not at hand, so its first link is taken as it is.
      this.#head = { seq: event.seq - 1, hash: event.prevHash }
    }
    const problem = findBrokenLink(this.#head, event)
    if (problem !== undefined) this.#add([{ table: 'audit_events', id: event.id, problem }])
    if (event.tenantId !== header.tenant) {
      const text = `Event ${event.seq} is of tenant ${event.tenantId}.`
      this.#add([{ table: 'audit_events', id: event.id, problem: text }])
    }
    this.#judgeTime(event, header)
    for (const checkpoint of this.#checkpoints.get(event.seq) ?? []) {
      if (checkpoint.hash === event.hash) {
        this.#provedUpTo = event.seq
        this.#isAnchored = true
      } else {
        const text = `Event ${event.seq} has another hash than the checkpoint that was signed at ${checkpoint.at}: the chain was rewritten.`
        this.#add([{ table: 'audit_events', id: event.id, problem: text }])
      }
    }
    this.#checkpoints.delete(event.seq)
    this.#head = { seq: event.seq, hash: event.hash }
    const details: JsonObject = comparedKinds.has(event.entityKind)
      ? parseDetails(event.details)
      : noDetails
    acts.takeEvent(event, details)
    this.#add(approvals.takeEvent(event, details))
    states.takeEvent(event, details)
    this.#add(seals.takeEvent(event))
    erasures.takeEvent(event)
    origins.takeEvent(event)
  }

  /** Whoever writes an event takes the time before its place in the chain, so it may be a little behind; never far. */
  #judgeTime({ seq, id, at }: AuditEvent, { asOf, madeAt }: HeaderLine): void {
    if (at + maxSkewMs < this.#latest) {
      const text = `Event ${seq} is of a time before that of an event before it: it was back-dated, or a clock went back.`
      this.#add([{ table: 'audit_events', id, problem: text }])
      // Told once for each time that it goes back.
      this.#latest = at
    }
    this.#latest = Math.max(this.#latest, at)
    if (asOf === undefined || seq <= asOf || at + maxSkewMs >= Date.parse(madeAt)) return
    const text = `Event ${seq} was there before this evidence was begun, which says that its rows are of event ${asOf}.`
    this.#add([{ table: 'audit_events', id, problem: text }])
  }

  #takeEnd({ seq, hash }: EndLine, { header }: Comparisons): void {
    const { seq: last, hash: lastHash } = this.#head
    const isWhole = header.scope === 'all'
    // Of the evidence of one run the last event may be any before the end.
    if (seq === last ? hash === lastHash : !isWhole && seq > last) return
    const problem = `The chain ends at event ${last}, and its head is event ${seq}: events were cut off, added or replaced.`
    this.#add([{ table: 'audit_heads', id: header.tenant, problem }])
  }

  #endStretch(): void {
    if (this.#eventCount > 1 && !this.#isAnchored) this.#limitUnanchored()
    this.#isAnchored = false
  }

  #limitUnanchored(): void {
    this.#limit(
      `The events up to ${this.#head.seq} end in no signed checkpoint: that they are those of the service is not proved.`,
    )
  }

  #judgeRest({ header, acts, states }: Comparisons): void {
    if (acts.notCovered > 0) {
      this.#limit(
        `${acts.notCovered} rows have no hash in the events that are here: a change of them would not show.`,
      )
    }
    if (header.scope === 'run') {
      if (!this.#isAnchored) this.#limitUnanchored()
      return
    }
    if (header.format === 1) {
      this.#limit(
        'Evidence of format 1 has no principals, keys, switches and settings: a change of them would not show.',
      )
    }
    const { limit } = states
    if (limit !== undefined) this.#limit(limit)
    for (const [seq, checkpoints] of this.#checkpoints) {
      for (const { at } of checkpoints) {
        if (seq > this.#head.seq && at > header.madeAt) {
          this.#limit('Checkpoints that were made after this evidence say nothing of it.')
          continue
        }
        const text = `Event ${seq} was there when the checkpoint of ${at} was signed, and is gone: the end of the chain was cut off.`
        this.#add([{ table: 'audit_events', id: String(seq), problem: text }])
      }
    }
    if (this.#provedUpTo === null) {
      this.#limit(
        'Without a signed checkpoint neither a chain that was rewritten as a whole nor an end that was cut off would show.',
      )
    } else if (this.#provedUpTo < this.#head.seq) {
      this.#limit(
        `Events after ${this.#provedUpTo} have no signed checkpoint yet: that they were rewritten or cut off would not show.`,
      )
    }
    const unsealed = this.#order.end?.unsealed ?? 0
    if (unsealed > 0) {
      this.#limit(`${unsealed} runs that have ended are not sealed yet: a change would not show.`)
    }
  }
}
