import { z } from 'zod'
import {
  findCurrentModel,
  listLiteralVersions,
  listNearestVersions,
} from '../db/queries/embeddings.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import { literalMatches, literalText } from '../search/literal.ts'
import {
  type Candidate,
  candidatesToFetch,
  type Ranking,
  rankCandidates,
  topKLimits,
} from '../search/rank.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { jsonObject } from './shapes.ts'

const candidate = z.object({
  procedureKey: z.string(),
  versionNumber: z.int(),
  similarity: z.number().describe('1 − cosine distance'),
  literal: z.boolean().describe('One of its issue patterns stands in the issue or its context'),
  qualified: z.boolean().describe('At or above the threshold'),
  withinMargin: z
    .boolean()
    .describe('So close behind the best that the track record decides the order'),
  trackScore: z.number().describe('Success rate × min(runs / 10, 1)'),
})

export const selectionOutput = z.object({
  decision: z.enum(['selected', 'ambiguous', 'no_match']),
  procedureKey: z.string().nullable().describe('Of the selected version'),
  versionNumber: z.int().nullable(),
  similarity: z.number().nullable(),
  candidates: z.array(candidate),
  minSimilarity: z.number().describe('The threshold that held'),
  margin: z.number(),
  lead: z.number().nullable().describe('How far the best is ahead of the second'),
  model: z
    .string()
    .describe('The embedding model; similarities of two models say nothing of each other'),
})

export const searchInput = {
  issue: z
    .string()
    .regex(/\S/, 'must not be empty')
    .max(1_000_000, 'must have at most 1,000,000 characters')
    .describe("The customer's words"),
  category: z.string().max(200).optional(),
  topK: z.int().min(topKLimits.min).max(topKLimits.max).default(topKLimits.default),
  minSimilarity: z.number().min(0).max(1).optional().describe('May only raise the threshold'),
  context: jsonObject.optional().describe('What else is known of the case'),
}

/** Finds the active versions that fit an issue. Only the caller's tenant is seen, by construction. */
export const searchProcedures = defineOperation({
  name: 'searchProcedures',
  summary: 'Find the playbook that fits a ticket',
  input: z.strictObject(searchInput),
  output: selectionOutput,
  errors: ['EMBEDDING_MODEL_DIFFERS'],
  roles: ['agent', 'admin'],
  run: search,
})

interface SearchRequest {
  readonly issue: string
  readonly category?: string | undefined
  readonly topK: number
  readonly minSimilarity?: number | undefined
  readonly context?: JsonObject | undefined
}

export async function search(
  { app, db }: OperationContext,
  request: SearchRequest,
): Promise<z.infer<typeof selectionOutput>> {
  const model = await findCurrentModel(db.kysely)
  if (model === undefined || model.name !== app.embedder.model) {
    throw new ServiceError('EMBEDDING_MODEL_DIFFERS', {
      current: model?.name ?? null,
      configured: app.embedder.model,
    })
  }
  const [vector] = await app.embedder.embed([request.issue])
  if (vector === undefined) throw new TypeError('an embedder gives a vector per text')
  const text = literalText(request.issue, request.context)
  const scope = {
    tenantId: db.tenantId,
    model: model.name,
    vector,
    category: request.category,
  }
  const [nearest, literal] = await Promise.all([
    listNearestVersions(db, { ...scope, limit: candidatesToFetch(request.topK) }),
    listLiteralVersions(db, { ...scope, limit: topKLimits.max, text }),
  ])
  const found = new Map([...nearest, ...literal].map((version) => [version.versionId, version]))
  const candidates = [...found.values()].map(
    ({ procedureKey, versionId, versionNumber, similarity, issuePatterns }): Candidate => ({
      procedureKey,
      versionId,
      versionNumber,
      similarity,
      literal: literalMatches(issuePatterns, text).length > 0,
      trackRecord: { runs: 0, successes: 0 },
    }),
  )
  const ranking = rankCandidates(candidates, model, {
    topK: request.topK,
    ...(request.minSimilarity !== undefined && { minSimilarity: request.minSimilarity }),
  })
  return { ...toSelection(ranking), model: model.name }
}

function toSelection(ranking: Ranking): Omit<z.infer<typeof selectionOutput>, 'model'> {
  const selected = ranking.decision === 'selected' ? ranking.selected : undefined
  return {
    decision: ranking.decision,
    procedureKey: selected?.procedureKey ?? null,
    versionNumber: selected?.versionNumber ?? null,
    similarity: selected?.similarity ?? null,
    candidates: ranking.candidates.map(({ versionId, trackRecord, ...shown }) => shown),
    minSimilarity: ranking.minSimilarity,
    margin: ranking.margin,
    lead: ranking.lead,
  }
}
