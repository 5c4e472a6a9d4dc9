import type { Fact } from './demonstration-facts.ts'
import type { Column, FactTest } from './fact-test.ts'

/** A test of one value that tells some runs from others. */
export interface LearnedTest {
  readonly column: Column
  readonly test: FactTest
}

/** A rule that would have handed runs to a person. */
export interface LearnedRule extends LearnedTest {
  /** The failures that it holds of; empty where it stands for what no run has met. */
  readonly failures: readonly number[]
}

/** So many successes before what none of them has met is left to a person. */
const minSeen = 3

/**
 * The test that holds of just the runs in which something was done, and of none of the others; undefined where no value
 * tells them apart. What it lets through is what was seen, and no more.
 */
export function separatingTest(
  columns: readonly Column[],
  done: readonly number[],
  undone: readonly number[],
): LearnedTest | undefined {
  if (done.length === 0 || undone.length === 0) return undefined
  const found: { readonly learned: LearnedTest; readonly rank: number }[] = []
  for (const column of columns) {
    const [yes, no] = [valuesAt(column, done), valuesAt(column, undone)]
    if (yes === undefined || no === undefined) continue
    const test = numberTest(yes, no) ?? wordTest(column, yes, no)
    if (test === undefined) continue
    found.push({ learned: { column, test }, rank: rankOf(column, test) })
  }
  return found.sort((a, b) => a.rank - b.rank)[0]?.learned
}

/**
 * The rules by which failures would have been kept from happening, and no success: the one that holds of most failures
 * first, until no further failure is told by any. Columns stand in the order in which they become known.
 */
export function rulesOfFailures(
  columns: readonly Column[],
  successes: readonly number[],
  failures: readonly number[],
): readonly LearnedRule[] {
  const rules: LearnedRule[] = []
  let left = failures
  while (left.length > 0) {
    let best: (LearnedRule & { readonly rank: number }) | undefined
    for (const column of columns) {
      for (const test of failureTests(column, successes, left)) {
        const told = left.filter((run) => isTold(test, column.values[run]))
        const rank = rankOf(column, test)
        const isBetter =
          best === undefined ||
          told.length > best.failures.length ||
          (told.length === best.failures.length && rank < best.rank)
        if (told.length > 0 && isBetter) best = { column, test, failures: told, rank }
      }
    }
    if (best === undefined) break
    const { column, test, failures: told } = best
    rules.push({ column, test, failures: told })
    left = left.filter((run) => !told.includes(run))
  }
  return rules
}

/** Of the values that a schema lists those that no success has met: what was never seen goes to a person. */
export function rulesOfTheUnseen(
  columns: readonly Column[],
  successes: readonly number[],
): readonly LearnedRule[] {
  return columns.flatMap((column) => {
    const seen = valuesAt(column, successes)
    if (seen === undefined || successes.length < minSeen || column.listed.length === 0) return []
    const words = wordsOf(seen)
    const isAll = column.listed.every((one) => words.some((word) => word === one))
    return isAll ? [] : [{ column, test: { kind: 'notIn', values: words }, failures: [] }]
  })
}

function failureTests(
  column: Column,
  successes: readonly number[],
  failures: readonly number[],
): readonly FactTest[] {
  const good = valuesAt(column, successes)
  if (good === undefined) return []
  if (column.listed.length > 0) return [{ kind: 'notIn', values: wordsOf(good) }]
  const numbers = good.filter((one) => typeof one === 'number')
  if (numbers.length === good.length) {
    return [
      { kind: 'above', limit: Math.max(...numbers) },
      { kind: 'below', limit: Math.min(...numbers) },
    ]
  }
  const bad = failures.flatMap((run) => {
    const value = column.values[run]
    return value === undefined || good.includes(value) ? [] : [value]
  })
  return isOfFew(column) && bad.length > 0 ? [{ kind: 'in', values: wordsOf(bad) }] : []
}

/** Whether a value that is known fails a test: what never came to be known tells nothing. */
function isTold(test: FactTest, value: Fact | undefined): boolean {
  if (value === undefined) return false
  if ('values' in test) return (test.kind === 'in') === test.values.some((one) => one === value)
  return (
    typeof value === 'number' && (test.kind === 'above' ? value > test.limit : value < test.limit)
  )
}

function numberTest(yes: readonly Fact[], no: readonly Fact[]): FactTest | undefined {
  const [done, undone] = [yes, no].map((values) =>
    values.filter((one): one is number => typeof one === 'number'),
  )
  if (done?.length !== yes.length || undone?.length !== no.length) return undefined
  if (Math.max(...done) < Math.min(...undone)) return { kind: 'atMost', limit: Math.max(...done) }
  if (Math.min(...done) > Math.max(...undone)) return { kind: 'atLeast', limit: Math.min(...done) }
  return undefined
}

function wordTest(column: Column, yes: readonly Fact[], no: readonly Fact[]): FactTest | undefined {
  if (column.listed.length === 0 && !isOfFew(column)) return undefined
  if (yes.some((one) => typeof one === 'number' || no.includes(one))) return undefined
  return { kind: 'in', values: wordsOf(yes) }
}

/** Whether the same few words come again and again: names and ids do not. */
function isOfFew({ values }: Column): boolean {
  const known = values.filter((one) => one !== undefined)
  return new Set(known).size * 3 <= known.length
}

/** What a schema lists is asked before what only happens to come again, and words before figures. */
function rankOf({ listed }: Column, test: FactTest): number {
  return 'values' in test ? (listed.length > 0 ? 0 : 1) : 2
}

/** The values in these runs; undefined unless all are known. */
function valuesAt({ values }: Column, runs: readonly number[]): readonly Fact[] | undefined {
  const known = runs.flatMap((run) => values[run] ?? [])
  return known.length === runs.length && runs.length > 0 ? known : undefined
}

function wordsOf(values: readonly Fact[]): readonly (string | boolean)[] {
  const words = values.filter((one) => typeof one !== 'number')
  return [...new Set(words)].sort((a, b) => (String(a) < String(b) ? -1 : 1))
}
