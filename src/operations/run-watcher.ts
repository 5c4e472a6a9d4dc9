import type { AppContext } from '../context.ts'
import { listChangedExecutions, type WatchedExecution } from '../db/queries/watched-executions.ts'

/** How often a run is looked at: at first, and at most while nothing comes. */
const [firstLookMs, longestLookMs] = [200, 2_000]

/** One run as one stream follows it. */
export interface WatchedRun<T> {
  /** Rises whenever the run may have more to tell than was read before. */
  readonly turn: number
  /**
   * Reads the run, together with all who read it for the same credential in the same turn: what they may see of it is the
   * same. A failure is the failure of all of them.
   */
  readonly read: (credential: string, read: () => Promise<T>) => Promise<T>
  /** Resolves when there is a turn after this one, after `ms`, or when nobody waits any more. */
  readonly after: (turn: number, ms: number, signal: AbortSignal) => Promise<void>
  readonly close: () => void
}

interface Entry<T> extends WatchedExecution {
  revision: number | null
  turn: number
  /** How long it waits from one look to the next, and when that is. */
  pauseMs: number
  lookAt: number
  readonly waiting: Set<() => void>
  readonly reading: Map<string, Promise<T>>
  watchers: number
}

/**
 * Looks for all event streams of a process which of the runs that they follow have changed: one statement a look, however
 * many streams there are, of however many runs and tenants. What a run that has changed has to tell is read by its streams.
 */
export interface RunWatcher<T> {
  readonly watch: (tenantId: string, executionId: string) => WatchedRun<T>
  readonly close: () => Promise<void>
}

export function createRunWatcher<T>({ database, log }: AppContext): RunWatcher<T> {
  const entries = new Map<string, Entry<T>>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let isClosed = false

  const schedule = (): void => {
    if (timer !== undefined || entries.size === 0 || isClosed) return
    // All that is due by then is asked for at once.
    timer = setTimeout(() => {
      looking = look().finally(() => {
        timer = undefined
        schedule()
      })
    }, firstLookMs)
  }

  const look = async (): Promise<void> => {
    const now = performance.now()
    const due = [...entries.values()].filter(({ lookAt }) => lookAt <= now)
    if (due.length === 0) return
    for (const entry of due) {
      entry.pauseMs = Math.min(entry.pauseMs * 1.3, longestLookMs)
      entry.lookAt = now + entry.pauseMs
    }
    try {
      const changed = await listChangedExecutions(database, due)
      for (const { tenantId, executionId, revision } of changed) {
        const entry = entries.get(keyOf(tenantId, executionId))
        if (entry !== undefined) tell(entry, revision)
      }
    } catch (error) {
      // The next look may find the database again; streams read by themselves once in a while, and end when they cannot.
      log.info({ err: error }, 'the runs that are followed could not be looked at')
    }
  }

  return {
    watch(tenantId, executionId) {
      const key = keyOf(tenantId, executionId)
      const entry = entries.get(key) ?? newEntry<T>(tenantId, executionId)
      entries.set(key, entry)
      entry.watchers += 1
      // Somebody has come to see it: others may have slowed down.
      hurry(entry)
      schedule()
      return {
        get turn() {
          return entry.turn
        },
        read: (credential, read) => readTogether(entry, credential, read),
        after: (turn, ms, signal) => nextTurn(entry, turn, ms, signal),
        close() {
          entry.watchers -= 1
          if (entry.watchers === 0) entries.delete(key)
        },
      }
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}

function newEntry<T>(tenantId: string, executionId: string): Entry<T> {
  return {
    ...{ tenantId, executionId, revision: null, turn: 0, watchers: 0 },
    ...{ pauseMs: firstLookMs, lookAt: 0, waiting: new Set(), reading: new Map() },
  }
}

function keyOf(tenantId: string, executionId: string): string {
  return `${tenantId} ${executionId}`
}

function hurry(entry: Entry<unknown>): void {
  entry.pauseMs = firstLookMs
  entry.lookAt = performance.now()
}

/** A run has another revision than the one that was known: whoever waits reads it. */
function tell(entry: Entry<unknown>, revision: number): void {
  entry.revision = revision
  entry.turn += 1
  hurry(entry)
  entry.reading.clear()
  for (const wake of [...entry.waiting]) wake()
}

function readTogether<T>(
  { reading }: Entry<T>,
  credential: string,
  read: () => Promise<T>,
): Promise<T> {
  const known = reading.get(credential)
  if (known !== undefined) return known
  // Only as long as it is being read: a record may be large, and nobody needs it twice.
  const begun: Promise<T> = read().finally(() => {
    if (reading.get(credential) === begun) reading.delete(credential)
  })
  reading.set(credential, begun)
  return begun
}

async function nextTurn(
  entry: Entry<unknown>,
  turn: number,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (entry.turn > turn || signal.aborted) return
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      entry.waiting.delete(wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
    entry.waiting.add(wake)
  })
}
