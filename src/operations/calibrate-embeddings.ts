import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import {
  listEmbeddingModels,
  lockEmbeddingModels,
  updateThresholds,
} from '../db/queries/embedding-models.ts'
import { listServedVersions, type ServedVersion } from '../db/queries/embeddings.ts'
import { ServiceError } from '../domain/errors.ts'
import { type CalibrationSample, calibrate, measure } from '../search/calibrate.ts'
import { cosine, type Embedder } from '../search/embedder.ts'
import { defineAdministration } from './define.ts'
import { embedAll, getEmbedder } from './embedding-models.ts'

/** Fewer would measure chance. */
const neededMatch = 20
const neededNoMatch = 10
/** Of each kind; more would make it slower, and no surer. */
const maxExamples = 400

/**
 * Measures the thresholds of a model on the examples of the caller's active versions, and stores them in place of those
 * that it had. It makes vectors of its own, so that a model can be measured before search is switched to it. When no
 * thresholds make nine of ten selections right, nothing is stored.
 */
export const calibrateEmbeddings = defineAdministration({
  name: 'calibrateEmbeddings',
  summary: 'Measure the thresholds of an embedding model on the examples of the active versions',
  input: z.strictObject({
    model: z.string().min(1).optional().describe('Default: the one that search uses'),
  }),
  output: z.object({
    model: z.string(),
    isStored: z.boolean().describe('False when no thresholds are good enough'),
    minSimilarity: z.number(),
    margin: z.number(),
    matchCount: z.int().describe('Examples that have an answer'),
    noMatchCount: z.int().describe('Examples that have none'),
    leftOut: z
      .object({
        matchedElsewhere: z.int().describe('Without an answer, and a match of another procedure'),
        repeated: z.int().describe('Without an answer, and there already'),
        beyondLimit: z.int().describe(`More than ${maxExamples} of a kind`),
      })
      .describe('Examples that were not measured on'),
    f1: z.number(),
    precision: z.number().describe('Of what would be selected, the share that is right'),
    selected: z.number().describe('The share of all that would be selected'),
  }),
  errors: ['EMBEDDING_MODEL_UNKNOWN', 'EXAMPLES_TOO_FEW', 'EMBEDDER_UNAVAILABLE'],
  roles: ['admin'],
  concernsAllTenants: true,
  async prepare({ app, db }, input) {
    const models = await listEmbeddingModels(app.database.system)
    const model = input.model ?? models.find(({ isCurrent }) => isCurrent)?.name ?? ''
    const embedder = getEmbedder(app, model)
    const served = await listServedVersions(db.kysely)
    const matches = listMatches(served)
    const { noMatches, ...sorted } = listNoMatches(served)
    const [match, noMatch] = [thinned(matches), thinned(noMatches)]
    if (match.length < neededMatch || noMatch.length < neededNoMatch) {
      const found = { match: match.length, noMatch: noMatch.length }
      const leftOut = sorted.matchedElsewhere + sorted.repeated
      throw new ServiceError('EXAMPLES_TOO_FEW', { ...found, neededMatch, neededNoMatch, leftOut })
    }
    const samples = await sampleAll(embedder, served, [...match, ...noMatch])
    const thresholds = calibrate([samples])
    const beyondLimit = matches.length - match.length + noMatches.length - noMatch.length
    const counts = { matchCount: match.length, noMatchCount: noMatch.length }
    const leftOut = { ...sorted, beyondLimit }
    return { model, thresholds, leftOut, ...counts, quality: measure(samples, thresholds) }
  },
  async change(_context, transaction, _input, { model, thresholds, quality, leftOut, ...counts }) {
    const { minSimilarity, margin, calibrated: isStored } = thresholds
    const output = { model, isStored, minSimilarity, margin, ...counts, leftOut, ...quality }
    if (!isStored) return { output, audit: [] }
    const models = await lockEmbeddingModels(transaction, 'update')
    const before = models.find(({ name }) => name === model)
    await updateThresholds(transaction, model, thresholds)
    return {
      output,
      audit: [
        {
          action: 'embeddings.calibrated',
          entityKind: 'embedding_model',
          entityId: model,
          details: {
            minSimilarity,
            margin,
            ...counts,
            before: before
              ? {
                  minSimilarity: before.minSimilarity,
                  margin: before.margin,
                  calibrated: before.calibrated,
                }
              : null,
          },
        },
      ],
    }
  },
})

interface Example {
  readonly text: string
  /** The procedure that it is for; null for one that none is known for. */
  readonly procedureKey: string | null
}

function listMatches(served: readonly ServedVersion[]): readonly Example[] {
  return served.flatMap(({ procedureKey, examples }) =>
    (examples.match ?? []).map((text) => ({ text, procedureKey })),
  )
}

/** What is no match for one procedure may be a match for another, and is an example there then. */
function listNoMatches(served: readonly ServedVersion[]) {
  const matches = new Set(listMatches(served).map(({ text }) => text))
  const all = served.flatMap(({ examples }) => examples.noMatch ?? [])
  const texts = [...new Set(all)]
  const noMatches = texts
    .filter((text) => !matches.has(text))
    .map((text): Example => ({ text, procedureKey: null }))
  return {
    noMatches,
    matchedElsewhere: texts.length - noMatches.length,
    repeated: all.length - texts.length,
  }
}

/** At most `maxExamples`, from all over the list. */
function thinned(examples: readonly Example[]): readonly Example[] {
  const step = Math.max(1, examples.length / maxExamples)
  const count = Math.min(examples.length, maxExamples)
  return Array.from({ length: count }, (_, index) => examples[Math.floor(index * step)]).filter(
    (example) => example !== undefined,
  )
}

async function sampleAll(
  embedder: Embedder,
  served: readonly ServedVersion[],
  examples: readonly Example[],
): Promise<readonly CalibrationSample[]> {
  const purposes = await embedAll(
    embedder,
    served.map(({ purpose }) => purpose),
  )
  const vectors = await embedAll(
    embedder,
    examples.map(({ text }) => text),
  )
  const samples: CalibrationSample[] = []
  for (const [index, { procedureKey }] of examples.entries()) {
    const vector = vectors[index]
    if (vector === undefined) throw new TypeError('an embedder gives a vector per text')
    const ranked = purposes
      .map((purpose, place) => ({ place, similarity: cosine(vector, purpose) }))
      .sort((a, b) => b.similarity - a.similarity)
    const [best, second] = ranked
    samples.push({
      hasAnswer: procedureKey !== null,
      isBestRight: best !== undefined && served[best.place]?.procedureKey === procedureKey,
      similarity: best?.similarity ?? 0,
      lead: (best?.similarity ?? 0) - (second?.similarity ?? 0),
    })
    // With a large catalogue this takes a while, and others want to be served.
    await setImmediate()
  }
  return samples
}
