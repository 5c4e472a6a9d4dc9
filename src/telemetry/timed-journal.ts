import type { Journal } from '../executor/ports.ts'
import type { Meter } from './meter.ts'

/** A journal of which each commit is timed. One that fails is not: what it took says nothing of commits. */
export function timedJournal(journal: Journal, meter: Meter): Journal {
  return {
    async commit(claim, commit) {
      const begun = performance.now()
      const committed = await journal.commit(claim, commit)
      meter.committed((performance.now() - begun) / 1_000)
      return committed
    },
  }
}
