import type { AuditEvent } from './audit.ts'
import type { RecordLine, SealLine } from './evidence.ts'
import { type EvidenceProblem, parseDetails } from './evidence-acts.ts'
import { isHash, MerkleRoot, placeOfPath, rootOfPath } from './merkle.ts'
import { type RecordLeaf, recordVersion, replyLeaf, runLeaf } from './record.ts'

export const sealAction = 'executions.sealed'

interface ToldSeal {
  readonly seq: number
  readonly root: string
  readonly count: number
  readonly first: string
  readonly last: string
  readonly recordVersion: number
}

/** The seal whose records come just now. */
interface OpenSeal {
  readonly line: SealLine
  /** Of the records as they are, and of the hashes that were stored with them. */
  readonly found: MerkleRoot
  readonly stored: MerkleRoot
  hasProblem: boolean
}

/** Compares sealed records with their seals, and these with their events. It holds a few values per seal. */
export class SealReconciliation {
  readonly #isWhole: boolean
  readonly #told = new Map<number, ToldSeal>()
  #open: OpenSeal | undefined
  #lastTold = 0
  sealCount = 0
  recordCount = 0
  erasedCount = 0

  /** `isWhole`: all events and records are to come; else those of one run, with its path. */
  constructor(isWhole: boolean) {
    this.#isWhole = isWhole
  }

  takeEvent(event: AuditEvent): readonly EvidenceProblem[] {
    if (event.action !== sealAction) return []
    const number = Number(event.entityId)
    const { root, count, first, last, recordVersion: version } = parseDetails(event.details)
    this.#told.set(number, {
      seq: event.seq,
      root: String(root),
      count: Number(count),
      first: String(first),
      last: String(last),
      recordVersion: Number(version),
    })
    const expected = this.#lastTold + 1
    this.#lastTold = number
    if (!this.#isWhole || number === expected) return []
    return [
      problemOf(
        'audit_events',
        event.id,
        `It is of seal ${number}, where seal ${expected} is due: one was made past the service.`,
      ),
    ]
  }

  takeSeal(line: SealLine): readonly EvidenceProblem[] {
    const problems = this.#close()
    this.sealCount += 1
    const told = this.#told.get(line.number)
    this.#told.delete(line.number)
    this.#open = { line, found: new MerkleRoot(), stored: new MerkleRoot(), hasProblem: false }
    const id = String(line.number)
    if (told === undefined) return [...problems, problemOf('seals', id, 'No event speaks of it.')]
    const differing = (['root', 'count', 'first', 'last', 'recordVersion'] as const).filter(
      (name) => told[name] !== line[name],
    )
    if (differing.length > 0) {
      this.#open.hasProblem = true
      const text = `Its ${differing.join(', ')} ${differing.length === 1 ? 'is' : 'are'} not what event ${told.seq} says.`
      return [...problems, problemOf('seals', id, text)]
    }
    if (line.recordVersion === recordVersion) return problems
    const text = `It has record version ${line.recordVersion}, which this code does not know.`
    return [...problems, problemOf('seals', id, text)]
  }

  takeRecord(line: RecordLine): readonly EvidenceProblem[] {
    this.recordCount += 1
    if (line.salt === undefined && line.of === 'run') this.erasedCount += 1
    const { executionId } = line
    const open = this.#open
    if (open?.line.number !== line.seal) {
      return [problemOf('sealed_records', executionId, `There is no seal ${line.seal}.`)]
    }
    const leaf = leafOf(line)
    if (leaf === undefined) {
      open.hasProblem = true
      const table = line.of === 'run' ? 'executions' : 'replies'
      return [problemOf(table, executionId, 'It was sealed, and is gone.')]
    }
    open.found.add(leaf.hash)
    if (isHash.test(line.leaf)) open.stored.add(line.leaf)
    const problem =
      leafProblem(line, leaf) ??
      (this.#isWhole ? placeProblem(line, open) : pathProblem(line, open, leaf))
    if (problem === undefined) return []
    open.hasProblem = true
    return [problem]
  }

  /** After the last line. */
  finish(): readonly EvidenceProblem[] {
    const problems = [...this.#close()]
    if (!this.#isWhole) return problems
    for (const [number, { seq }] of this.#told) {
      problems.push(
        problemOf('seals', String(number), `It is gone, and event ${seq} speaks of it.`),
      )
    }
    return problems
  }

  #close(): readonly EvidenceProblem[] {
    const open = this.#open
    this.#open = undefined
    if (open === undefined || !this.#isWhole) return []
    const { line, found, stored } = open
    const id = String(line.number)
    if (found.count !== line.count && !open.hasProblem) {
      return [
        problemOf('seals', id, `It has ${line.count} records, of which ${found.count} are there.`),
      ]
    }
    if (found.root() === line.root || (open.hasProblem && stored.root() === line.root)) return []
    if (open.hasProblem && found.count !== line.count) return []
    return [
      problemOf(
        'seals',
        id,
        'Its records do not give its root: one was replaced together with its hash, or two were swapped.',
      ),
    ]
  }
}

function leafOf(line: RecordLine): RecordLeaf | undefined {
  const { salt, digests } = line
  const concealment = { salt, digests }
  if (line.of === 'run') return line.run ? runLeaf(line.run, concealment) : undefined
  return line.reply ? replyLeaf(line.reply, concealment) : undefined
}

function leafProblem(line: RecordLine, leaf: RecordLeaf): EvidenceProblem | undefined {
  const { executionId } = line
  const row = line.of === 'run' ? line.run?.execution.id : line.reply?.execution_id
  if (row !== executionId) {
    return problemOf('sealed_records', executionId, `Its rows are those of ${String(row)}.`)
  }
  if (leaf.flaws.length > 0) {
    const text = `${leaf.flaws.join(', ')}: a value is there that nothing proves, beside the digest of an erased one or without its salt.`
    return problemOf('executions', executionId, text)
  }
  if (leaf.hash === line.leaf) return undefined
  return line.of === 'reply'
    ? problemOf('replies', executionId, 'It is not the reply that was sealed.')
    : problemOf(
        'executions',
        executionId,
        'It is not the run that was sealed: a column of it, or of its steps, reply, escalation or sensitive values was changed.',
      )
}

function placeProblem(line: RecordLine, { found }: OpenSeal): EvidenceProblem | undefined {
  if (line.position === found.count - 1) return undefined
  const text = `It stands at position ${line.position} of seal ${line.seal}, where ${found.count - 1} is due.`
  return problemOf('sealed_records', line.executionId, text)
}

function pathProblem(
  line: RecordLine,
  open: OpenSeal,
  leaf: RecordLeaf,
): EvidenceProblem | undefined {
  const path = line.path ?? []
  const { root, count, number } = open.line
  if (rootOfPath(leaf.hash, path) === root && placeOfPath(path, count) === line.position) {
    return undefined
  }
  const text = `Its path does not lead from position ${line.position} to the root of seal ${number}.`
  return problemOf('sealed_records', line.executionId, text)
}

function problemOf(table: string, id: string, problem: string): EvidenceProblem {
  return { table, id, problem }
}
