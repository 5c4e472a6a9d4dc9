/**
 * How well search finds the right playbook, on public customer messages that are not in this repository.
 *
 *   STEPWARDEN_CASES=… npm run bench:retrieval [-- --json] [-- --calibrate] [-- --model NAME]
 *
 * Each set is a tenant of an embedded database, its catalogue is created and activated, and every message is searched
 * for by the operation that everybody uses. `recallAt1` and `recallAt3` are shares of the messages that have an answer;
 * `f1` counts `selected` and `ambiguous` as an answer with the first candidate; `precision` and `selected` count
 * `selected` alone, the latter as a share of all messages. `mean` weighs each set the same.
 *
 * `--calibrate` measures the thresholds instead: on each half of the messages, with the quality that they have on the
 * other half, and on all. `--model` takes the place of the offline model: `ngram-512-v1`.
 *
 * `--experiences` records the texts of the catalogue as experiences and looks the messages up among them, and measures
 * from which similarity on they are told to be alike. `--repeats` measures from which similarity on two situations are
 * taken to be one in other words.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AppContext, createContext } from '../src/context.ts'
import { openDatabase } from '../src/db/connect.ts'
import { memoryDataDir } from '../src/db/embedded.ts'
import { sha256 } from '../src/domain/canonical.ts'
import type { Caller } from '../src/operations/define.ts'
import { operations } from '../src/operations/registry.ts'
import { type CalibrationSample, calibrate, measure } from '../src/search/calibrate.ts'
import type { Thresholds } from '../src/search/embedder.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import {
  addTenant,
  type CaseQuery,
  definitionOf,
  keyOf,
  readProcedures,
  readQueries,
  sets,
} from './retrieval/cases.ts'
import { experienceReport } from './retrieval/experiences.ts'
import { repeatReport } from './retrieval/repeats.ts'

/** As many searches at once as the embedder takes into a batch. */
const searchesAtOnce = 64

interface Answer {
  readonly query: CaseQuery
  readonly expected: string | null
  readonly decision: 'selected' | 'ambiguous' | 'no_match'
  /** Keys of the candidates, best first. */
  readonly keys: readonly string[]
  /** The nearest, whatever its place among the candidates, with its lead over the second. */
  readonly nearestKey: string | undefined
  readonly similarity: number
  readonly lead: number
}

async function answerSet(app: AppContext, folder: string, set: string): Promise<Answer[]> {
  const caller = await addTenant(app, set)
  for (const procedure of readProcedures(folder, set)) {
    const definition = definitionOf(procedure)
    await operations.createProcedure.invoke(app, caller, { definition })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: definition.key,
      versionNumber: 1,
      seenActive: null,
    })
  }
  const queries = readQueries(folder, set)
  const answers: Answer[] = []
  for (let start = 0; start < queries.length; start += searchesAtOnce) {
    const some = queries.slice(start, start + searchesAtOnce)
    answers.push(...(await Promise.all(some.map((query) => answer(app, caller, query)))))
  }
  return answers
}

async function answer(app: AppContext, caller: Caller, query: CaseQuery): Promise<Answer> {
  const { candidates, decision, lead } = await operations.searchProcedures.invoke(app, caller, {
    issue: query.query,
  })
  const [nearest] = [...candidates].sort((a, b) => b.similarity - a.similarity)
  return {
    query,
    expected: query.expected === null ? null : keyOf(query.expected),
    decision,
    keys: candidates.map(({ procedureKey }) => procedureKey),
    nearestKey: nearest?.procedureKey,
    similarity: nearest?.similarity ?? 0,
    lead: lead ?? 1,
  }
}

function isRight({ expected, keys }: Answer, count: number): boolean {
  return expected !== null && keys.slice(0, count).includes(expected)
}

function score(answers: readonly Answer[]) {
  const answerable = answers.filter(({ expected }) => expected !== null)
  const answered = answers.filter(({ decision }) => decision !== 'no_match')
  const selected = answers.filter(({ decision }) => decision === 'selected')
  const countRight = (some: readonly Answer[], count: number): number =>
    some.filter((one) => isRight(one, count)).length
  return {
    recallAt1: countRight(answerable, 1) / answerable.length,
    recallAt3: countRight(answerable, 3) / answerable.length,
    f1: (2 * countRight(answered, 1)) / (answered.length + answerable.length),
    precision: countRight(selected, 1) / selected.length,
    selected: selected.length / answers.length,
  }
}

type Score = ReturnType<typeof score>

function meanOf(scores: readonly Score[]): Score {
  const mean = (field: keyof Score): number =>
    scores.reduce((sum, one) => sum + one[field], 0) / scores.length
  return {
    recallAt1: mean('recallAt1'),
    recallAt3: mean('recallAt3'),
    f1: mean('f1'),
    precision: mean('precision'),
    selected: mean('selected'),
  }
}

function sampleOf(answer: Answer): CalibrationSample {
  return {
    hasAnswer: answer.expected !== null,
    isBestRight: answer.expected !== null && answer.expected === answer.nearestKey,
    similarity: answer.similarity,
    lead: answer.lead,
  }
}

/** Thresholds measured on some messages, and what they are worth on others, set by set. */
function calibrateOn(
  learn: readonly (readonly Answer[])[],
  test: readonly (readonly Answer[])[],
): { readonly thresholds: Thresholds; readonly quality: object } {
  const thresholds = calibrate(learn.map((answers) => answers.map(sampleOf)))
  const quality = Object.fromEntries(
    test.map((answers, index) => [
      sets[index],
      rounded(measure(answers.map(sampleOf), thresholds)),
    ]),
  )
  return { thresholds, quality }
}

function calibrateByHalves(bySet: readonly (readonly Answer[])[]): object {
  const half = (odd: boolean) =>
    bySet.map((answers) =>
      answers.filter(({ query }) => Number.parseInt(sha256(query.id).slice(0, 2), 16) % 2 === +odd),
    )
  return {
    learntOnFirstHalf: calibrateOn(half(false), half(true)),
    learntOnSecondHalf: calibrateOn(half(true), half(false)),
    learntOnAll: calibrateOn(bySet, bySet),
  }
}

function rounded(figures: object): object {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(Number(value) * 1000) / 1000]),
  )
}

async function main(folder: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      calibrate: { type: 'boolean' },
      model: { type: 'string' },
      experiences: { type: 'boolean' },
      repeats: { type: 'boolean' },
    },
  })
  await using database = await openDatabase({ dataDir: memoryDataDir, requiredApprovals: 0 })
  await using app = await createContext(
    database,
    { tenantId: 'default', logLevel: 'warn' },
    { tools: [], ...(values.model === ngramEmbedder.model && { embedder: ngramEmbedder }) },
  )
  console.error(`${app.embedders.offline.model}, on an embedded database; some minutes`)
  if (values.experiences === true || values.repeats === true) {
    const report = values.experiences === true ? experienceReport : repeatReport
    console.log(JSON.stringify(await report(app, folder), null, 2))
    return
  }
  const bySet: Answer[][] = []
  for (const set of sets) bySet.push(await answerSet(app, folder, set))

  if (values.calibrate === true) {
    console.log(JSON.stringify(calibrateByHalves(bySet), null, 2))
    return
  }
  const scores = bySet.map(score)
  const report = {
    ...Object.fromEntries(scores.map((one, index) => [sets[index], rounded(one)])),
    mean: rounded(meanOf(scores)),
  }
  if (values.json === true) console.log(JSON.stringify(report, null, 2))
  else console.table(report)
}

const cases = process.env.STEPWARDEN_CASES
if (cases === undefined || cases === '') {
  console.error(
    'STEPWARDEN_CASES is not set: nothing was measured. Set it to the folder that holds retrieval/.',
  )
  process.exitCode = 1
} else {
  await main(join(cases, 'retrieval'))
}
