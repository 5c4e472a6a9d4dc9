import type { Figure, FigureSource } from './meter.ts'

/** Whoever looks more often sees the same again: a board that is open often must cost nothing. */
const freshMs = 5_000
/** A database that does not answer must not keep anybody from the other figures. */
const waitMs = 2_000

interface Reading {
  readonly pool?: FigureSource['pool']
  /** Absent when they could not be read in time. */
  readonly figures?: readonly Figure[] | undefined
}

/** What is read of the database when somebody looks: once in a while, by one at a time. */
export function createFigureCache(now: () => number = () => performance.now()) {
  let source: FigureSource | undefined
  let reading: Promise<readonly Figure[] | undefined> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  return {
    from(given: FigureSource): void {
      source = given
    },
    async now(): Promise<Reading> {
      if (source === undefined) return {}
      const { pool, figures } = source
      if (reading === undefined || now() - readAt >= freshMs) {
        readAt = now()
        // Why it fails is told where requests meet the same; here the figures are missing.
        reading = figures().catch(() => undefined)
      }
      return { pool, figures: await withinTime(reading) }
    },
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, waitMs, undefined)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
