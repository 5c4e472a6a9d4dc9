import { isStepEnded, type StepRow } from '../domain/execution.ts'
import type { Clock, RunObserver } from '../executor/ports.ts'
import type { Meter } from './meter.ts'
import type { Span, Traced } from './span.ts'

/** A run that is watched, until it is left here. */
export interface WatchedRun extends RunObserver {
  readonly committed: (rows: readonly StepRow[]) => void
  /** Ends what is still open: steps that wait, or were cut off. */
  readonly left: () => void
}

/** Counts and traces the steps of a run; undefined where neither is wanted. `span` is that of the execution. */
export function watchRun({
  meter,
  span,
  clock,
}: Pick<Traced, 'span'> & { readonly meter?: Meter; readonly clock: Clock }):
  | WatchedRun
  | undefined {
  if (meter === undefined && span === undefined) return undefined
  const steps = span && new StepSpans(span, Date.now() - clock.now())
  return {
    callBegins(row, { tool, effect }) {
      const begun = performance.now()
      const call = steps?.of(row).child(`execute_tool ${tool}`, {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'stepwarden.tool.effect': effect,
          'stepwarden.step.attempt': row.attempt,
        },
      })
      return {
        ...(call && { traceparent: call.traceparent }),
        ended(result, code) {
          meter?.toolCalled({ tool, effect, result, seconds: (performance.now() - begun) / 1_000 })
          if (call === undefined) return
          call.set({ 'stepwarden.tool.result': result })
          if (code !== undefined) call.fail(code)
          call.end()
        },
      }
    },
    committed(rows) {
      for (const row of rows) {
        if (!isStepEnded(row.status)) continue
        meter?.stepEnded(row.kind, row.status)
        steps?.end(row)
      }
    },
    left: () => steps?.endAll(),
  }
}

/** The spans of the steps of a run, by ordinal. */
class StepSpans {
  readonly #execution: Span
  /** What the clock of the service is behind the one of this machine, which spans are timed by. */
  readonly #behindMs: number
  readonly #begunAt = Date.now()
  readonly #open = new Map<number, Span>()

  constructor(execution: Span, behindMs: number) {
    this.#execution = execution
    this.#behindMs = behindMs
  }

  of(row: StepRow): Span {
    const known = this.#open.get(row.ordinal)
    if (known !== undefined) return known
    const span = this.#execution.child(`step ${row.kind}`, {
      // One that waited began before this process had the run: of that the record tells.
      startedAt: Math.max(row.startedAt + this.#behindMs, this.#begunAt),
      attributes: { 'stepwarden.step.key': row.stepKey, 'stepwarden.step.ordinal': row.ordinal },
    })
    this.#open.set(row.ordinal, span)
    return span
  }

  end(row: StepRow): void {
    const span = this.of(row)
    const endedAt = (row.endedAt ?? row.startedAt) + this.#behindMs
    span.set({ 'stepwarden.step.status': row.status, 'stepwarden.step.attempts': row.attempt })
    if (row.error !== null) span.fail(row.error.code)
    span.end(Math.max(endedAt, this.#begunAt))
    this.#open.delete(row.ordinal)
  }

  endAll(): void {
    for (const span of this.#open.values()) span.end()
    this.#open.clear()
  }
}
