/** So many at once, for so long. */
export interface Load {
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** Does `one` again and again, on as many lanes as there are connections; the first tenth is not counted. */
export async function measureLoad(
  { connections, seconds }: Load,
  one: (lane: number) => Promise<void>,
): Promise<LoadResult> {
  const began = performance.now()
  const from = began + seconds * 100
  const until = began + seconds * 1_100
  const times: number[] = []
  let failed = 0
  await Promise.all(
    Array.from({ length: connections }, async (_, lane) => {
      while (performance.now() < until) {
        const at = performance.now()
        try {
          await one(lane)
        } catch {
          failed += 1
          continue
        }
        const ended = performance.now()
        if (at >= from && ended <= until) times.push(ended - at)
      }
    }),
  )
  times.sort((a, b) => a - b)
  const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1))
  return {
    perSecond: Math.round(times.length / seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed,
  }
}
