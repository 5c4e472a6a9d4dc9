import { openContext } from '../../src/context.ts'
import { lookAfterAudit } from '../../src/operations/audit-chore.ts'
import { lookAfterExperiences } from '../../src/operations/experience-chore.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openStepwarden } from '../executor/stepwarden.ts'
import type { Engine } from '../executor/workload.ts'
import { createScratchDatabase } from '../scratch-database.ts'

const atOnce = 8
const poolSize = 10
/**
 * What recording costs the executor: rounds of runs, six reads each, with the chore that records them and without, in turn,
 * in one process and its event loop. A worker looks every 15 s, so a round is to be longer. Runs are sealed in all of them. Answers executions a second, and the ratios of
 * neighbouring rounds.
 */
export async function measureRecording(
  server: string,
  { pairs, roundSeconds }: { readonly pairs: number; readonly roundSeconds: number },
  tell: (line: string) => void,
): Promise<object> {
  await using scratch = await createScratchDatabase(server)
  await using stepwarden = await openStepwarden(scratch.url, poolSize, 1)
  // The configuration of a process has no pool size; the database takes one all the same.
  const database = { url: scratch.url, poolSize }
  await using worker = await openContext(
    { database, tenantId: 'default', logLevel: 'error' },
    { tools: [], embedder: ngramEmbedder },
  )
  const [engine] = stepwarden.engines.filter(({ name }) => name === 'operation')
  if (engine === undefined) throw new TypeError('the service has an engine of whole operations')
  const stopping = new AbortController()
  const sealing = lookAfterAudit(worker, stopping.signal)
  let index = 0
  const round = async (isRecording: boolean): Promise<number> => {
    const over = new AbortController()
    const recording = isRecording ? lookAfterExperiences(worker, over.signal) : Promise.resolve()
    const began = performance.now()
    const until = began + roundSeconds * 1_000
    const first = index
    const desk = async (of: Engine) => {
      while (performance.now() < until) {
        index += 1
        await of.runOne(index)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, () => desk(engine)))
    const perSecond = (index - first) / ((performance.now() - began) / 1_000)
    over.abort()
    await recording
    return perSecond
  }
  await round(true)
  const [on, off, ratios]: [number[], number[], number[]] = [[], [], []]
  for (let pair = 0; pair < pairs; pair += 1) {
    // Which of them comes first changes, so that neither has the better places.
    const first = await round(pair % 2 === 0)
    const second = await round(pair % 2 !== 0)
    const [withIt, without] = pair % 2 === 0 ? [first, second] : [second, first]
    on.push(withIt)
    off.push(without)
    ratios.push(withIt / without)
    tell(`${pair + 1} of ${pairs}: ${withIt.toFixed(0)} with, ${without.toFixed(0)} without`)
  }
  stopping.abort()
  await sealing
  const { rows } = await scratch.admin.query<{ n: number }>(
    'SELECT count(*)::integer AS n FROM experiences',
  )
  return {
    ...{ pairs, roundSeconds, runs: index, recorded: rows[0]?.n ?? 0 },
    perSecond: { recording: Math.round(middle(on)), without: Math.round(middle(off)) },
    ratio: {
      median: hundredths(middle(ratios)),
      of: [...ratios].sort((a, b) => a - b).map(hundredths),
    },
  }
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (place: number) => sorted[place] ?? 0
  const half = sorted.length / 2
  return sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2
}

function hundredths(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
