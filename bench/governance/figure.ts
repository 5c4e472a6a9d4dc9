import type { ScratchDatabase } from '../scratch-database.ts'

/** What a figure is measured with. */
export interface FigureContext {
  /** A migrated database that is the figure's own. */
  readonly database: ScratchDatabase
  /** Says how far it is, on standard error. */
  readonly progress: (line: string) => void
}

/** What came of one measurement, and the bar that it is held to. */
export interface FigureResult {
  /** What was measured, with its unit: `executions/s`. */
  readonly what: string
  readonly value: number
  /** Whether it must be at least or at most so much; null: no bar is set for it. */
  readonly bar: { readonly atLeast: number } | { readonly atMost: number } | null
}

/** One thing that is measured; each has a file of its own in this folder. */
export interface Figure {
  readonly name: string
  /** What was done, in one sentence without a full stop. */
  readonly about: string
  readonly measure: (context: FigureContext) => Promise<readonly FigureResult[]>
}
