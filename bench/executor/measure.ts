import type { BenchDatabase } from './database.ts'
import type { Measurement } from './options.ts'
import { openRawB } from './raw-b.ts'
import { openStepwarden } from './stepwarden.ts'
import type { Engine } from './workload.ts'

/** Median, least and most over the rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** How fast one engine was with a number of clients. */
export interface Rate {
  readonly engine: string
  readonly clients: number
  readonly perSecond: Spread
  /** Rate as a share of the baseline's in the same round. */
  readonly ratio: Spread
  /** Processor time of this process per execution; the server's is not in it. */
  readonly cpuMs: number
}

/** What one execution writes to the write-ahead log. A lease that is renewed meanwhile adds a fraction of a commit. */
export interface Cost {
  readonly engine: string
  readonly commits: number
  readonly walBytes: number
  readonly walRatio: number
}

interface Sample {
  readonly engine: string
  readonly perSecond: number
  readonly cpuMs: number
}

/** Before the first round: code that is not yet compiled, and connections that are not open, must not count. */
const warmUpSeconds = 3
/** Before each sample, so that what the engine before it left behind does not count. */
const settleSeconds = 0.25
/** Enough that page splits of the indexes average out. */
const costExecutions = 250

type Progress = (line: string) => void

/** Closed loops: each client starts an execution, waits until it is durable, and starts the next. */
export async function measureRates(
  database: BenchDatabase,
  measurement: Measurement,
  signal: AbortSignal,
  progress: Progress,
): Promise<readonly Rate[]> {
  const rates: Rate[] = []
  for (const clients of measurement.clients) {
    await using baseline = openRawB(database.url, clients)
    await using service = await openStepwarden(database.url, clients, measurement.tenants)
    const engines = [baseline, ...service.engines]
    progress(`c = ${clients}: warming up`)
    for (const engine of engines) await runFor(engine, clients, warmUpSeconds, signal)
    const rounds: (readonly Sample[])[] = []
    for (let round = 0; round < measurement.rounds; round++) {
      const samples: Sample[] = []
      // Who comes first changes from round to round, so that a machine that slows down favours nobody.
      for (const engine of rotate(engines, round)) {
        await runFor(engine, clients, settleSeconds, signal)
        samples.push(await runFor(engine, clients, measurement.seconds, signal))
      }
      rounds.push(samples)
      progress(`c = ${clients}: round ${round + 1} of ${measurement.rounds}`)
    }
    rates.push(...engines.map(({ name }) => rateOf(name, clients, rounds)))
  }
  return rates
}

/** What an execution of each engine writes, with one client. */
export async function measureCosts(
  database: BenchDatabase,
  measurement: Measurement,
  signal: AbortSignal,
  progress: Progress,
): Promise<readonly Cost[]> {
  await using baseline = openRawB(database.url, 1)
  await using service = await openStepwarden(database.url, 1, measurement.tenants)
  const costs: Cost[] = []
  for (const engine of [baseline, ...service.engines]) {
    const { commits, bytes } = await database.walOf(async () => {
      for (let index = 0; index < costExecutions; index++) {
        signal.throwIfAborted()
        await engine.runOne(index)
      }
    })
    const walBytes = bytes / costExecutions
    costs.push({
      engine: engine.name,
      commits: commits / costExecutions,
      walBytes,
      walRatio: walBytes / (costs[0]?.walBytes ?? walBytes),
    })
    progress(`cost of ${engine.name}`)
  }
  return costs
}

async function runFor(
  engine: Engine,
  clients: number,
  seconds: number,
  signal: AbortSignal,
): Promise<Sample> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1_000
  let count = 0
  const client = async (): Promise<void> => {
    while (performance.now() < deadline && !signal.aborted) {
      count += 1
      await engine.runOne(count)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  signal.throwIfAborted()
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    engine: engine.name,
    perSecond: (count / elapsedMs) * 1_000,
    cpuMs: (user + system) / 1_000 / count,
  }
}

function rateOf(engine: string, clients: number, rounds: readonly (readonly Sample[])[]): Rate {
  const sampleOf = (samples: readonly Sample[], name: string): Sample => {
    const sample = samples.find((one) => one.engine === name)
    if (sample === undefined) throw new TypeError(`every round has a sample of ${name}`)
    return sample
  }
  const own = rounds.map((samples) => sampleOf(samples, engine))
  return {
    engine,
    clients,
    perSecond: spreadOf(own.map(({ perSecond }) => perSecond)),
    ratio: spreadOf(
      rounds.map(
        (samples) => sampleOf(samples, engine).perSecond / sampleOf(samples, 'raw-b').perSecond,
      ),
    ),
    cpuMs: spreadOf(own.map(({ cpuMs }) => cpuMs)).median,
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number): number => sorted[index] ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  }
}

function rotate<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
