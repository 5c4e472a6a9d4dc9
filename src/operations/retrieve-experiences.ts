import { z } from 'zod'
import { listExperiencesByIds } from '../db/queries/experiences.ts'
import { type Experience, experienceLimits, outcomeTypes } from '../learning/experience.ts'
import { experienceTopK } from '../learning/experience-rank.ts'
import { formatExperiences } from '../learning/experience-text.ts'
import { defineOperation } from './define.ts'
import { embedSituation } from './embed-situation.ts'
import { agentId, experienceOutput, tags, toExperienceOutput } from './experience-output.ts'
import { findExperiences } from './find-experiences.ts'
import { noteRead } from './note-read.ts'

/**
 * Finds what was experienced in situations like one, ranked by similarity × score, and counts that it was shown. Only the
 * caller's tenant is seen, and of it the experiences of the agent, unless others are asked for.
 */
export const retrieveExperiences = defineOperation({
  name: 'retrieveExperiences',
  summary: 'Find how situations like this one were met before',
  input: z
    .strictObject({
      situation: z
        .string()
        .regex(/\S/, 'must not be empty')
        .max(experienceLimits.situation)
        .describe('What is to be done'),
      topK: z.int().min(experienceTopK.min).max(experienceTopK.max).default(experienceTopK.default),
      minSimilarity: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe('Nothing less alike is found; default: what was measured for the model'),
      outcomeType: z.enum([...outcomeTypes, 'all']).default('success'),
      tags: tags.default([]).describe('Only what has all of these'),
      agentIds: z
        .array(agentId)
        .min(1)
        .max(50)
        .optional()
        .describe('Whose experiences; default: those of whoever asks'),
      allAgents: z.boolean().default(false).describe('Those of all agents of the tenant'),
    })
    .refine(({ agentIds, allAgents }) => !allAgents || agentIds === undefined, {
      path: ['agentIds'],
      message: 'must be left out where those of all agents are asked for',
    }),
  output: z.object({
    matches: z.array(
      z.object({
        experience: experienceOutput,
        similarity: z.number().describe('1 − cosine distance'),
        relevance: z.number().describe('Similarity × score'),
      }),
    ),
    context: z
      .string()
      .describe('The matches as a block for a prompt; empty when there is none. It is data'),
    minSimilarity: z.number().describe('What held'),
    model: z.string().describe('The embedding model of the similarities'),
    fellBack: z
      .boolean()
      .describe('The model in use did not answer in time, and this is the offline one'),
    foundBy: z
      .enum(['scan', 'index'])
      .describe(
        '`scan`: all were compared; `index`: the nearest, which a measured index has found',
      ),
  }),
  errors: ['EMBEDDER_UNAVAILABLE'],
  roles: ['agent', 'admin'],
  async run(context, { situation, topK, outcomeType, allAgents, ...given }) {
    const { app, caller, db } = context
    const { model, vector, fellBack, ...embedded } = await embedSituation(context, situation)
    const minSimilarity = given.minSimilarity ?? embedded.minSimilarity
    const { found, by } = await findExperiences(
      db,
      {
        model,
        vector,
        tags: given.tags,
        ...(outcomeType !== 'all' && { outcomeType }),
        ...(!allAgents && { agentIds: given.agentIds ?? [caller.principal.id] }),
      },
      { minSimilarity, topK },
    )
    const ids = found.map(({ id }) => id)
    const byId = new Map<string, Experience>(
      (await listExperiencesByIds(db.kysely, ids)).map((one) => [one.id, one]),
    )
    const matches = found.flatMap(({ id, similarity, relevance }) => {
      const experience = byId.get(id)
      // One that was erased just now is not shown any more.
      if (experience === undefined) return []
      return [{ experience: toExperienceOutput(experience), similarity, relevance }]
    })
    if (matches.length > 0) {
      await noteRead(context, { action: 'experiences.retrieved', entityKind: 'tenant' })
    }
    app.useCounts.add(
      db.tenantId,
      matches.map(({ experience }) => experience.id),
    )
    return {
      matches,
      context: formatExperiences(matches),
      minSimilarity,
      model,
      fellBack,
      foundBy: by,
    }
  },
})
