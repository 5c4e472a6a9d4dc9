import { z } from 'zod'
import { type Experience, experienceLimits, outcomeTypes } from '../learning/experience.ts'
import { anyJson, instant } from './shapes.ts'

export const agentId = z
  .string()
  .min(1)
  .max(experienceLimits.agentId)
  .describe('Whose experience; `executor` for runs, which record themselves')

export const outcomeType = z.enum(outcomeTypes)

export const tags = z
  .array(z.string().min(1).max(experienceLimits.tag))
  .max(experienceLimits.tags)
  .readonly()

export const sessionId = z.string().min(1).max(experienceLimits.sessionId)

const actionStep = z
  .object({
    step: z.int().describe('Its place, from 1'),
    tool: z.string(),
    input: anyJson,
    outputSummary: z.string(),
  })
  .meta({ id: 'ActionStep' })

/** One experience, as it is answered. */
export const experienceOutput = z
  .object({
    id: z.string(),
    agentId: z.string(),
    situation: z.string(),
    actionSequence: z.array(actionStep).readonly(),
    outcome: z.string(),
    outcomeType,
    score: z.number().describe('0 to 1; it never changes'),
    scoredBy: z
      .enum(['given', 'heuristic', 'model'])
      .describe(
        'Who has said so: whoever recorded it, the rule of docs/experiences.md, or a model',
      ),
    tags: z.array(z.string()).readonly(),
    sessionId: z.string().nullable(),
    customerId: z.string().nullable(),
    executionId: z.string().nullable().describe('The run that has recorded itself'),
    useCount: z.int().describe('How often it was found and shown'),
    lastUsedAt: instant.nullable(),
    repeatCount: z.int().describe('How often the same was recorded again'),
    repeatsId: z
      .string()
      .nullable()
      .describe('The one that said this first, in almost the same words: only that one is found'),
    createdAt: instant,
  })
  .meta({ id: 'Experience' })

export type ExperienceOutput = z.infer<typeof experienceOutput>

export function toExperienceOutput(experience: Experience): ExperienceOutput {
  const { lastUsedAt, createdAt, actionSequence, ...rest } = experience
  return {
    ...rest,
    actionSequence: actionSequence.map((action) => ({ ...action })),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
}
