import type { Said } from '../../src/domain/execution.ts'
import type { WordLine } from './people.ts'

/** What came of all that people said. The first four must be 0. */
export interface WordsVerdict {
  /** Taken, and not in the record as it was said. */
  readonly wordsLost: number
  /** In the record more than once, or more than one that closes a step. */
  readonly wordsTwice: number
  /** Taken though it was too late, from the wrong person, unfit, stale, or said already. */
  readonly wordsWrong: number
  /** In the record, and said by nobody. */
  readonly wordsUntrue: number

  readonly words: number
  readonly wordsTaken: number
  readonly wordsRefused: number
  /** Said while the way to the database broke, or by a process that was killed meanwhile. */
  readonly wordsUnclear: number
  /** Of those that were refused, by why they had to be. */
  readonly refusedRightly: Readonly<Record<string, number>>
}

/** A step that waited for people, as it is recorded. */
export interface WaitRow {
  readonly execution_id: string
  readonly step_key: string
  readonly iteration: string
  readonly kind: string
  readonly status: string
  readonly input: unknown
  readonly output: unknown
  readonly exchange: readonly Said[] | null
}

type Recorded = Exclude<Said, { readonly kind: 'reminded' }>

const kindOf = {
  answer: 'answered',
  words: 'unfit',
  approve: 'approved',
  deny: 'denied',
} as const satisfies Record<WordLine['act'], Said['kind']>

export function verifyWords(
  lines: readonly WordLine[],
  waits: readonly WaitRow[],
  tell: (what: string, of: object) => void,
): WordsVerdict {
  const found = { wordsLost: 0, wordsTwice: 0, wordsWrong: 0, wordsUntrue: 0 }
  const refusedRightly: Record<string, number> = {}
  const count = (what: keyof typeof found, of: object): void => {
    found[what] += 1
    tell(what, of)
  }
  const said = new Set<string>()
  const taken: WordLine[] = []
  let refused = 0
  for (const line of lines) {
    if (line.came === undefined) {
      said.add(keyOf(line, line.by, kindOf[line.act]))
      continue
    }
    if (line.came === 'unclear') continue
    if (line.came === 'taken') taken.push(line)
    else refused += 1
    if (line.refuse === undefined) continue
    if (line.came === 'taken') count('wordsWrong', line)
    else refusedRightly[line.refuse] = (refusedRightly[line.refuse] ?? 0) + 1
  }

  const rows = new Map(waits.map((row) => [placeOf(row), row]))
  for (const line of taken) {
    const row = rows.get(placeOf(line))
    if (!isRecorded(line, row)) count('wordsLost', { line, row })
  }
  for (const row of waits) {
    const exchange = row.exchange ?? []
    const recorded = exchange.filter((one): one is Recorded => one.kind !== 'reminded')
    for (const { kind, by } of recorded) {
      if (!said.has(keyOf(row, by.id, kind))) count('wordsUntrue', row)
    }
    if (isTwice(row, recorded) || exchange.length - recorded.length > 1) count('wordsTwice', row)
    // By the clock of whoever wrote it down, too late is too late.
    const deadline = deadlineOf(row)
    if (recorded.some(({ at }) => at >= deadline)) count('wordsWrong', row)
    const isAnswered = recorded.some(({ kind }) => kind === 'answered')
    if (row.kind === 'ask' && isAnswered !== (row.status === 'completed')) count('wordsUntrue', row)
  }
  const words = lines.filter(({ came }) => came === undefined).length
  return {
    ...found,
    words,
    wordsTaken: taken.length,
    wordsRefused: refused,
    wordsUnclear: words - taken.length - refused,
    refusedRightly,
  }
}

function isRecorded(line: WordLine, row: WaitRow | undefined): boolean {
  const kind = kindOf[line.act]
  const of = row?.exchange?.filter((one) => one.kind === kind && one.by.id === line.by) ?? []
  if (line.act === 'words') return of.some((one) => 'text' in one && one.text === line.value)
  return of.length === 1 && (line.act !== 'answer' || row?.output === line.value)
}

/** More than one word closes a step, or one person has said the same twice. */
function isTwice({ kind }: WaitRow, recorded: readonly Recorded[]): boolean {
  const closing = recorded.filter((one) => one.kind === 'answered' || one.kind === 'denied')
  if (closing.length > 1) return true
  const yes = recorded.filter((one) => one.kind === 'approved').map(({ by }) => by.id)
  if (kind === 'tool') return yes.length + closing.length > 1
  return new Set(yes).size < yes.length
}

function deadlineOf({ input }: WaitRow): number {
  const { deadline } = Object(input)
  return typeof deadline === 'string' ? Date.parse(deadline) : Number.POSITIVE_INFINITY
}

function placeOf(one: WordLine | WaitRow): string {
  return 'by' in one
    ? `${one.executionId} ${one.step} ${one.iteration}`
    : `${one.execution_id} ${one.step_key} ${one.iteration}`
}

function keyOf(one: WordLine | WaitRow, by: string, kind: string): string {
  return `${placeOf(one)} ${by} ${kind}`
}
