import { z } from 'zod'
import { listUnembedded } from '../db/queries/experience-vectors.ts'
import { findExperience, type NewExperience, upsertExperience } from '../db/queries/experiences.ts'
import { canonicalJson } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Json } from '../domain/json.ts'
import {
  type ActionStep,
  executorAgentId,
  experienceLimits,
  hashesOf,
  numbered,
} from '../learning/experience.ts'
import { maxFailureScore } from '../learning/experience-score.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { embedExperiences, neededVectors } from './embed-experiences.ts'
import {
  agentId,
  experienceOutput,
  outcomeType,
  sessionId,
  tags,
  toExperienceOutput,
} from './experience-output.ts'
import { scoreExperience } from './score-experience.ts'
import { anyJson } from './shapes.ts'
import { openWithholding } from './withhold-sensitive.ts'

const { actions, situation, tool, outputSummary, outcome, customerId, sequenceBytes } =
  experienceLimits
/** Whoever records waits so long for a model of a server. */
const embedWithinMs = 2_000

const actionInput = z.strictObject({
  step: z.int().optional().describe('Its place, from 1; left out, it is counted'),
  tool: z.string().regex(/\S/, 'must not be empty').max(tool),
  input: anyJson.default(null).describe('What it was called with'),
  outputSummary: z.string().max(outputSummary).default('').describe('What came of it, in short'),
})

/**
 * Records how a situation was met, for whoever meets one like it. What the same agent has recorded before, in the same
 * words, makes no second one: it is counted, and keeps the score that it had first. One that says the same in almost the
 * same words is kept, and not found: nobody gains a rank by repeating themselves.
 *
 * What fits a pattern that any active playbook marks as sensitive is withheld from it.
 */
export const recordExperience = defineOperation({
  name: 'recordExperience',
  summary: 'Record how a situation was met, for whoever meets one like it',
  input: z
    .strictObject({
      agentId: agentId.optional().describe('Whose experience it is; default: whoever records it'),
      situation: z
        .string()
        .regex(/\S/, 'must not be empty')
        .max(situation)
        .describe('What was to be done'),
      actionSequence: z
        .array(actionInput)
        .min(1, 'must have at least one action')
        .max(actions, `must have at most ${actions} actions`)
        .describe('What was done, in order'),
      outcome: z.string().regex(/\S/, 'must not be empty').max(outcome).describe('What came of it'),
      outcomeType,
      score: z.number().min(0).max(1).optional().describe('How good it was, 0 to 1; default 0'),
      scoreBy: z
        .enum(['heuristic', 'model'])
        .optional()
        .describe(
          'In place of a score: the rule of docs/experiences.md, or a model where a key is set, else the rule',
        ),
      tags: tags.default([]),
      sessionId: sessionId.optional().describe('Any text that tells what belongs together'),
      customerId: z
        .string()
        .min(1)
        .max(customerId)
        .optional()
        .describe('Whom it is about, so that it goes when that customer is erased'),
    })
    .superRefine((given, context) => {
      for (const [path, message] of contradictions(given)) {
        context.addIssue({ code: 'custom', path: [...path], message })
      }
    }),
  output: z.object({
    experience: experienceOutput,
    isNew: z.boolean().describe('False: it was there already, and was counted'),
  }),
  errors: [],
  roles: ['agent', 'admin'],
  async run(context, given) {
    const { app, caller, db } = context
    const now = app.clock.now()
    const withhold = await openWithholding(db)
    const sequence = numbered(
      given.actionSequence.map((action) => ({
        tool: withhold.text(action.tool),
        input: withhold.value(action.input),
        outputSummary: withhold.text(action.outputSummary),
      })),
    )
    refuseTooLarge(sequence)
    const told = {
      situation: withhold.text(given.situation),
      actionSequence: sequence,
      outcome: withhold.text(given.outcome),
      outcomeType: given.outcomeType,
    }
    const experience: NewExperience = {
      ...told,
      ...hashesOf(told.situation, sequence),
      ...(await scoreExperience(app, told, given)),
      id: newId('experience', now),
      agentId: given.agentId ?? caller.principal.id,
      tags: [...new Set(given.tags)],
      sessionId: given.sessionId ?? null,
      customerId: given.customerId ?? null,
      executionId: null,
      recordedBy: caller.principal,
      createdAt: new Date(now),
    }
    const id = await upsertExperience(db.kysely, db.tenantId, experience)
    await embed(context, id)
    const stored = await findExperience(db.kysely, id)
    return {
      // Whoever erased it in this very moment leaves what was asked to be recorded.
      experience: toExperienceOutput(
        stored ?? { ...experience, useCount: 0, lastUsedAt: null, repeatCount: 0, repeatsId: null },
      ),
      isNew: id === experience.id,
    }
  },
})

/** It is recorded whether it can be embedded now or not. */
async function embed({ app, db }: OperationContext, id: string): Promise<void> {
  try {
    const needed = await neededVectors(app)
    const items = await listUnembedded(db.kysely, needed.mark, 1, [id])
    if (items.length > 0) await embedExperiences(app, db.tenantId, items, needed, embedWithinMs)
  } catch (error) {
    app.log.warn({ err: error, experienceId: id }, 'an experience is embedded later')
  }
}

interface Told {
  readonly agentId?: string | undefined
  readonly actionSequence: readonly { readonly step?: number | undefined }[]
  readonly outcomeType: string
  readonly score?: number | undefined
  readonly scoreBy?: string | undefined
}

/** What cannot be so together. */
function contradictions(told: Told): readonly (readonly [readonly (string | number)[], string])[] {
  const { score, scoreBy } = told
  const misplaced = told.actionSequence.flatMap(({ step }, index) =>
    step === undefined || step === index + 1
      ? []
      : [[['actionSequence', index, 'step'], `must be ${index + 1}, its place`] as const],
  )
  return [
    ...misplaced,
    ...(told.agentId === executorAgentId
      ? [[['agentId'], `must be another: '${executorAgentId}' has those of runs alone`] as const]
      : []),
    ...(score !== undefined && scoreBy !== undefined
      ? [[['scoreBy'], 'must be left out where there is a score'] as const]
      : []),
    ...(told.outcomeType === 'failure' && score !== undefined && score > maxFailureScore
      ? [[['score'], `must be at most ${maxFailureScore} of a failure`] as const]
      : []),
  ]
}

function refuseTooLarge(sequence: readonly ActionStep[]): void {
  const json: Json = sequence.map((action) => ({ ...action }))
  const bytes = Buffer.byteLength(canonicalJson(json))
  if (bytes <= sequenceBytes) return
  const message = `takes ${bytes} bytes as JSON, and may take ${sequenceBytes}`
  const problems = [{ path: 'actionSequence', message }]
  throw new ServiceError('REQUEST_INVALID', { operation: 'recordExperience', problems })
}
