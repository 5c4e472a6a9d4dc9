import { z } from 'zod'
import type { AppContext } from '../context.ts'
import {
  countOwnVectors,
  countVectors,
  listEmbeddingModels,
  type RegisteredModel,
} from '../db/queries/embedding-models.ts'
import { ngramEmbedder } from '../search/ngram-embedder.ts'
import { defineOperation } from './define.ts'
import { instant } from './shapes.ts'
import { isForDeployment } from './whole-deployment.ts'

const modelState = z.object({
  model: z.string(),
  dimensions: z.int(),
  minSimilarity: z.number(),
  margin: z.number(),
  calibrated: z.boolean().describe('Its thresholds were measured; one that is not selects nothing'),
  isCurrent: z.boolean().describe('Search uses its vectors'),
  isOffline: z.boolean().describe('Search falls back on it'),
  isAvailable: z.boolean().describe('This process can make vectors of it'),
  switchingSince: instant.nullable().describe('When the switch to it began that is under way'),
  vectorCount: z.int().describe('Of these versions, those that have a vector of it'),
})

type ModelState = z.infer<typeof modelState>

/** Which embedding models there are, which one search uses, and what is amiss. It never asks a model anything. */
export const getEmbeddings = defineOperation({
  name: 'getEmbeddings',
  summary: 'Show the embedding models, and how far a switch between them is',
  input: z.strictObject({}),
  output: z.object({
    models: z.array(modelState),
    versionCount: z
      .int()
      .describe('Versions of all tenants; over a network, of your own where there are several'),
    advice: z.array(z.string()).describe('What should be done; empty when all is well'),
  }),
  errors: [],
  roles: ['agent', 'author', 'approver', 'admin', 'auditor'],
  async run({ app, caller, db }) {
    const { system } = app.database
    const registered = await listEmbeddingModels(system)
    const { versions, byModel } = (await isForDeployment(app, caller))
      ? await countVectors(system.kysely)
      : await countOwnVectors(db.kysely)
    const models = registered.map((one) => toState(app, one, byModel.get(one.name) ?? 0))
    return { models, versionCount: versions, advice: [...adviceOn(models, versions)] }
  },
})

function toState(
  { embedders }: AppContext,
  model: RegisteredModel,
  vectorCount: number,
): ModelState {
  return {
    model: model.name,
    dimensions: model.dimensions,
    minSimilarity: model.minSimilarity,
    margin: model.margin,
    calibrated: model.calibrated,
    isCurrent: model.isCurrent,
    isOffline: model.name === embedders.offline.model,
    isAvailable: embedders.find(model.name) !== undefined,
    switchingSince: model.switchingSince?.toISOString() ?? null,
    vectorCount,
  }
}

/** What should be done, and by which command. */
function adviceOn(models: readonly ModelState[], versionCount: number): readonly string[] {
  const current = models.find(({ isCurrent }) => isCurrent)
  const offline = models.find(({ isOffline }) => isOffline)
  const target = models.find(({ switchingSince }) => switchingSince !== null)
  const lacking = ({ vectorCount }: ModelState): string =>
    `${versionCount - vectorCount} of ${versionCount} versions have no vector of it`
  const advice: string[] = []
  if (target !== undefined) {
    const giveUp =
      current === undefined || current === target
        ? ''
        : `, or 'stepwarden embeddings switch ${current.model}' to give it up`
    advice.push(
      `A switch to ${target.model} is under way; ${lacking(target)}. Run 'stepwarden embeddings switch ${target.model}' to carry it on${giveUp}.`,
    )
  }
  if (current === undefined || offline === undefined) return advice
  const { model } = current
  const wayBack =
    offline === current
      ? ''
      : `, or 'stepwarden embeddings switch ${offline.model}' to go back to the offline model`
  if (current.vectorCount < versionCount && target === undefined) {
    advice.push(
      `Search uses ${model}, and ${lacking(current)}. Run 'stepwarden embeddings switch ${model}' to make them.`,
    )
  }
  if (!current.isAvailable) {
    advice.push(
      `Search uses ${model}, which this process cannot ask: it falls back on ${offline.model}. Set ${model} up here${wayBack}.`,
    )
  }
  if (!current.calibrated) {
    advice.push(
      `Search uses ${model}, which was never measured, so it selects nothing. Run 'stepwarden embeddings calibrate ${model}'${wayBack}.`,
    )
  }
  if (model === ngramEmbedder.model && offline !== current && target === undefined) {
    advice.push(
      `Search uses ${model}, which compares words alone. Run 'stepwarden embeddings switch ${offline.model}' for meanings as well.`,
    )
  } else if (offline.vectorCount < versionCount && target === undefined && offline !== current) {
    advice.push(
      `Search cannot fall back on ${offline.model}: ${lacking(offline)}. Run 'stepwarden embeddings switch ${model}' to make them.`,
    )
  }
  return advice
}
