/**
 * How well search finds the right playbook, on public customer messages that are not in this repository.
 *
 *   STEPWARDEN_CASES=… npm run bench:retrieval [-- --json] [-- --calibrate]
 *
 * Each set is searched in its own catalogue. `recallAt1` and `recallAt3` are shares of the messages that have an
 * answer; `f1` counts `selected` and `ambiguous` as an answer with the first candidate; `precision` and `selected` count
 * `selected` alone, the latter as a share of all messages. `mean` weighs each set the same.
 *
 * `--calibrate` measures the thresholds instead: on each half of the messages, with the quality that they have on the
 * other half, and on all.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../src/domain/canonical.ts'
import type { Definition } from '../src/domain/definition.ts'
import { newId } from '../src/domain/ids.ts'
import { buildSummary } from '../src/domain/summary.ts'
import { type CalibrationSample, calibrate, measure } from '../src/search/calibrate.ts'
import { cosine, type Embedder, type Thresholds } from '../src/search/embedder.ts'
import { literalMatches, literalText } from '../src/search/literal.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import { type Ranking, rankCandidates } from '../src/search/rank.ts'

const sets = ['banking77', 'clinc150', 'bitext'] as const

interface CaseProcedure {
  readonly key: string
  readonly name: string
  readonly category: string
  readonly description: string
  readonly issue_patterns: readonly string[]
}

interface CaseQuery {
  readonly id: string
  readonly query: string
  /** Null when no procedure is right. */
  readonly expected: string | null
}

interface Answer {
  readonly query: CaseQuery
  readonly ranking: Ranking
  /** The same search with no threshold, for recall and calibration. */
  readonly nearest: Ranking
}

function readLines<T>(path: string): readonly T[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T)
}

function definitionOf({ issue_patterns, ...fields }: CaseProcedure): Definition {
  return { ...fields, issuePatterns: issue_patterns, steps: [] }
}

async function answerSet(folder: string, set: string, embedder: Embedder): Promise<Answer[]> {
  const procedures = readLines<CaseProcedure>(join(folder, `${set}.procedures.jsonl`))
  const queries = readLines<CaseQuery>(join(folder, `${set}.queries.jsonl`))
  const purposes = await embedder.embed(
    procedures.map((procedure) => buildSummary(definitionOf(procedure)).purpose),
  )
  const vectors = await embedder.embed(queries.map(({ query }) => query))
  const versionId = newId('version', 0)
  return queries.map((query, row) => {
    const text = literalText(query.query)
    const vector = vectors[row] ?? new Float32Array(embedder.dimensions)
    const candidates = procedures.map((procedure, column) => ({
      procedureKey: procedure.key,
      versionId,
      versionNumber: 1,
      similarity: cosine(vector, purposes[column] ?? new Float32Array(embedder.dimensions)),
      literal: literalMatches(procedure.issue_patterns, text).length > 0,
      trackRecord: { runs: 0, successes: 0 },
    }))
    const unfiltered = { minSimilarity: -1, margin: 0, calibrated: true }
    return {
      query,
      ranking: rankCandidates(candidates, embedder.thresholds),
      nearest: rankCandidates(candidates, unfiltered),
    }
  })
}

function isRight({ query }: Answer, keys: readonly string[]): boolean {
  return query.expected !== null && keys.includes(query.expected)
}

function nearestKeys({ nearest }: Answer, count: number): readonly string[] {
  return nearest.candidates.slice(0, count).map(({ procedureKey }) => procedureKey)
}

function score(answers: readonly Answer[]) {
  const answerable = answers.filter(({ query }) => query.expected !== null)
  const answered = answers.filter(({ ranking }) => ranking.decision !== 'no_match')
  const selected = answers.filter(({ ranking }) => ranking.decision === 'selected')
  const countRight = (some: readonly Answer[]): number =>
    some.filter((answer) =>
      isRight(
        answer,
        answer.ranking.candidates.slice(0, 1).map(({ procedureKey }) => procedureKey),
      ),
    ).length
  const recallAt = (count: number): number =>
    answerable.filter((answer) => isRight(answer, nearestKeys(answer, count))).length /
    answerable.length
  return {
    recallAt1: recallAt(1),
    recallAt3: recallAt(3),
    f1: (2 * countRight(answered)) / (answered.length + answerable.length),
    precision: countRight(selected) / selected.length,
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
    hasAnswer: answer.query.expected !== null,
    isBestRight: isRight(answer, nearestKeys(answer, 1)),
    similarity: answer.nearest.candidates[0]?.similarity ?? 0,
    lead: answer.nearest.lead ?? 1,
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
  const bySet: Answer[][] = []
  for (const set of sets) bySet.push(await answerSet(folder, set, ngramEmbedder))

  if (process.argv.includes('--calibrate')) {
    console.log(JSON.stringify(calibrateByHalves(bySet), null, 2))
    return
  }
  const scores = bySet.map(score)
  const report = {
    ...Object.fromEntries(scores.map((one, index) => [sets[index], rounded(one)])),
    mean: rounded(meanOf(scores)),
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(report, null, 2))
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
