import { z } from 'zod'
import type { TenantDb } from '../db/connect.ts'
import { type FoundVersion, listCandidates } from '../db/queries/candidates.ts'
import { listEmbeddingModels, type RegisteredModel } from '../db/queries/embedding-models.ts'
import { listSensitiveInputs } from '../db/queries/embeddings.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import { sensitiveValues } from '../domain/scalars.ts'
import { maxShownLength, sensitiveInText } from '../domain/sensitive-text.ts'
import { withhold } from '../reply/withhold.ts'
import { unmeasured } from '../search/embedder.ts'
import { literalMatches, literalTails, literalText } from '../search/literal.ts'
import {
  type Candidate,
  candidatesToFetch,
  type Ranking,
  rankCandidates,
  topKLimits,
} from '../search/rank.ts'
import { inSpan } from '../telemetry/span.ts'
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
  calibrated: z
    .boolean()
    .describe('The thresholds of the model were measured; one that was not selects nothing'),
  lead: z.number().nullable().describe('How far the best is ahead of the second'),
  model: z
    .string()
    .describe('The embedding model; similarities of two models say nothing of each other'),
  fellBack: z
    .boolean()
    .describe('The model in use did not answer in time, and this is the offline one'),
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
  errors: ['EMBEDDING_MODEL_DIFFERS', 'EMBEDDER_UNAVAILABLE'],
  roles: ['agent', 'admin'],
  run: search,
})

interface SearchRequest {
  readonly issue: string
  /** Of the run that may follow; what is sensitive of it is kept from models. */
  readonly input?: JsonObject | undefined
  readonly category?: string | undefined
  readonly topK: number
  readonly minSimilarity?: number | undefined
  readonly context?: JsonObject | undefined
}

export async function search(
  context: OperationContext,
  request: SearchRequest,
): Promise<z.infer<typeof selectionOutput>> {
  const { meter } = context.app
  return inSpan(
    context.app,
    'search',
    () => ({ attributes: { 'stepwarden.tenant.id': context.db.tenantId } }),
    async (app, span) => {
      const selection = await searchOnce({ ...context, app }, request)
      meter?.searched(selection.decision)
      if (selection.fellBack) meter?.searchFellBack()
      span?.set({
        'stepwarden.search.decision': selection.decision,
        'stepwarden.search.candidates': selection.candidates.length,
        'stepwarden.search.fell_back': selection.fellBack,
        'stepwarden.procedure.key': selection.procedureKey ?? undefined,
      })
      return selection
    },
  )
}

async function searchOnce(
  context: OperationContext,
  request: SearchRequest,
): Promise<z.infer<typeof selectionOutput>> {
  const text = literalText(request.issue, request.context)
  const { found, models, model, fellBack } = await findCandidates(context, request, text)
  const candidates = found.map(
    ({ issuePatterns, runs, successes, ...version }): Candidate => ({
      ...version,
      literal: literalMatches(issuePatterns, text).length > 0,
      trackRecord: { runs, successes },
    }),
  )
  const thresholds = models.find(({ name }) => name === model) ?? unmeasured
  const ranking = rankCandidates(candidates, thresholds, {
    topK: request.topK,
    ...(request.minSimilarity !== undefined && { minSimilarity: request.minSimilarity }),
  })
  return { ...toSelection(ranking), model, fellBack, calibrated: thresholds.calibrated }
}

interface FoundCandidates {
  readonly found: readonly FoundVersion[]
  readonly models: readonly RegisteredModel[]
  /** The one that they were found by. */
  readonly model: string
  readonly fellBack: boolean
}

/** A switch that ends while a model is asked makes the search begin again. Who meets more of them has other troubles. */
const maxTries = 4

async function findCandidates(
  { app, db }: OperationContext,
  request: SearchRequest,
  text: string,
): Promise<FoundCandidates> {
  const { category, topK } = request
  let current = ''
  for (let tries = 0; tries < maxTries; tries += 1) {
    const models = await listEmbeddingModels(app.database.system)
    current = models.find(({ isCurrent }) => isCurrent)?.name ?? app.embedders.offline.model
    const issue = app.embedders.isHosted(current) ? await issueToSend(db, request) : request.issue
    const { model, vector, fellBack } = await inSpan(
      app,
      `embeddings ${current}`,
      () => ({
        ...(app.embedders.isHosted(current) && { kind: 'client' as const }),
        attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': current },
      }),
      async (_app, span) => {
        const embedded = await app.embedders.embedQuery(current, issue, app.log)
        span?.set({ 'gen_ai.response.model': embedded.model })
        return embedded
      },
    )
    const found = await listCandidates(db, {
      model,
      mustBe: fellBack ? 'complete' : 'current',
      vector,
      category,
      nearest: candidatesToFetch(topK),
      text,
      tails: literalTails(text),
      literal: topKLimits.max,
    })
    if (found !== undefined) return { found, models, model, fellBack }
    // A catalogue of which some is missing would make the next best look like the best.
    if (fellBack) throw new ServiceError('EMBEDDING_MODEL_DIFFERS', { current, offline: model })
  }
  const problem = `was no longer the one in use, ${maxTries} times, when it had answered`
  throw new ServiceError('EMBEDDER_UNAVAILABLE', { model: current, problem })
}

/**
 * The issue without what leaves the service for no server: which playbook it is for is not known yet, so what any of the
 * tenant's marks as sensitive is withheld, by value and by pattern.
 */
async function issueToSend(
  db: TenantDb,
  { issue, input = {}, context = {} }: SearchRequest,
): Promise<string> {
  const schemas = await listSensitiveInputs(db)
  const withheld = schemas.flatMap((schema) => [
    ...sensitiveValues(input, schema),
    ...sensitiveValues(context, schema),
    ...sensitiveInText(schema, issue),
  ])
  return withhold(issue.slice(0, maxShownLength), withheld)
}

function toSelection(
  ranking: Ranking,
): Omit<z.infer<typeof selectionOutput>, 'model' | 'fellBack' | 'calibrated'> {
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
