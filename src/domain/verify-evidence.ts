import { type AuditEvent, type AuditHead, findBrokenLink } from './audit.ts'
import { type Checkpoint, type CheckpointKey, judgeCheckpoint } from './checkpoint.ts'
import type { EvidenceLine } from './evidence.ts'
import { ActReconciliation, type EvidenceProblem } from './evidence-acts.ts'
import { ErasureReconciliation } from './evidence-erasures.ts'
import { SealReconciliation } from './evidence-seals.ts'

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

/**
 * Takes the lines of evidence one by one and says at the end what they show. Its memory grows with the number of versions,
 * activations, seals, erasures and checkpoints, not with that of events and runs.
 */
export class EvidenceVerifier {
  readonly #keys: readonly CheckpointKey[]
  readonly #problems: EvidenceProblem[] = []
  readonly #acts = new ActReconciliation()
  readonly #limits: string[] = []
  readonly #checkpoints = new Map<number, Checkpoint[]>()
  readonly #given: readonly Checkpoint[]
  #seals = new SealReconciliation(true)
  #erasures = new ErasureReconciliation(true)
  #isWhole = true
  #tenant = ''
  #madeAt = ''
  #head: AuditHead = { seq: 0, hash: null }
  /** Whether a signed checkpoint stands in the stretch of events that was read last. */
  #isAnchored = false
  #problemCount = 0
  #eventCount = 0
  #checkpointCount = 0
  #unsealed = 0
  #provedUpTo: number | null = null
  #hasBegun = false
  #isComplete = false

  /** `checkpoints`: those that were kept elsewhere; the evidence has its own. */
  constructor(keys: readonly CheckpointKey[] = [], checkpoints: readonly Checkpoint[] = []) {
    this.#keys = keys
    this.#given = checkpoints
  }

  take(line: EvidenceLine): void {
    if (!this.#hasBegun && line.kind !== 'header') {
      this.#add([{ table: 'evidence', id: 'header', problem: 'It does not begin with a header.' }])
    }
    this.#hasBegun = true
    switch (line.kind) {
      case 'header':
        this.#isWhole = line.scope === 'all'
        this.#tenant = line.tenant
        this.#madeAt = line.madeAt
        this.#seals = new SealReconciliation(this.#isWhole)
        this.#erasures = new ErasureReconciliation(this.#isWhole)
        for (const checkpoint of this.#given) this.#takeCheckpoint(checkpoint)
        break
      case 'row':
        this.#add(this.#acts.takeRow(line))
        break
      case 'checkpoint':
        this.#takeCheckpoint(line.checkpoint)
        break
      case 'event':
        this.#takeEvent(line.event)
        break
      case 'seal':
        this.#add(this.#seals.takeSeal(line))
        break
      case 'record':
        this.#add(this.#seals.takeRecord(line))
        this.#add(this.#erasures.takeRecord(line))
        break
      case 'end':
        this.#takeEnd(line)
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
    if (!this.#isComplete) {
      this.#add([
        { table: 'evidence', id: 'end', problem: 'It has no end: the rest of it was cut off.' },
      ])
    }
    this.#add(this.#seals.finish())
    this.#add(this.#erasures.finish())
    this.#add([...this.#acts.finish(this.#isWhole)])
    this.#judgeRest()
    return {
      ok: this.#problemCount === 0,
      problems: this.#problems,
      problemCount: this.#problemCount,
      counts: {
        events: this.#eventCount,
        rows: this.#acts.rowCount,
        notCovered: this.#acts.notCovered,
        seals: this.#seals.sealCount,
        records: this.#seals.recordCount,
        erased: this.#seals.erasedCount,
        unsealed: this.#unsealed,
        checkpoints: this.#checkpointCount,
      },
      provedUpTo: this.#provedUpTo,
      limits: this.#limits,
    }
  }

  #add(problems: readonly EvidenceProblem[]): void {
    this.#problemCount += problems.length
    for (const problem of problems) {
      if (this.#problems.length < maxProblems) this.#problems.push(problem)
    }
  }

  #limit(sentence: string): void {
    if (!this.#limits.includes(sentence)) this.#limits.push(sentence)
  }

  #takeCheckpoint(checkpoint: Checkpoint): void {
    if (checkpoint.tenant !== this.#tenant) return
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

  #takeEvent(event: AuditEvent): void {
    this.#eventCount += 1
    if (!this.#isWhole && event.seq > this.#head.seq + 1) {
      this.#endStretch()
      // What stands before a stretch is not at hand, so its first link is taken as it is.
      this.#head = { seq: event.seq - 1, hash: event.prevHash }
    }
    const problem = findBrokenLink(this.#head, event)
    if (problem !== undefined) this.#add([{ table: 'audit_events', id: event.id, problem }])
    if (event.tenantId !== this.#tenant) {
      const text = `Event ${event.seq} is of tenant ${event.tenantId}.`
      this.#add([{ table: 'audit_events', id: event.id, problem: text }])
    }
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
    this.#acts.takeEvent(event)
    this.#add(this.#seals.takeEvent(event))
    this.#erasures.takeEvent(event)
  }

  #takeEnd(end: { readonly seq: number; readonly hash: string | null; readonly unsealed: number }) {
    this.#isComplete = true
    this.#unsealed = end.unsealed
    if (!this.#isWhole) return
    if (end.seq !== this.#head.seq || end.hash !== this.#head.hash) {
      const problem = `The chain ends at event ${this.#head.seq}, and its head is event ${end.seq}: events were cut off, added or replaced.`
      this.#add([{ table: 'audit_heads', id: this.#tenant, problem }])
    }
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

  #judgeRest(): void {
    if (this.#acts.notCovered > 0) {
      this.#limit(
        `${this.#acts.notCovered} rows have no hash in the events that are here: a change of them would not show.`,
      )
    }
    if (!this.#isWhole) {
      if (!this.#isAnchored) this.#limitUnanchored()
      return
    }
    for (const [seq, checkpoints] of this.#checkpoints) {
      for (const { at } of checkpoints) {
        if (seq > this.#head.seq && at > this.#madeAt) {
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
    if (this.#unsealed > 0) {
      this.#limit(
        `${this.#unsealed} runs that have ended are not sealed yet: a change would not show.`,
      )
    }
  }
}
