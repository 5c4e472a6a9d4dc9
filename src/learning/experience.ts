import { hashOf, sha256 } from '../domain/canonical.ts'
import { foldText } from '../domain/folded-text.ts'
import type { Id } from '../domain/ids.ts'
import type { Json } from '../domain/json.ts'

export const outcomeTypes = ['success', 'partial_success', 'failure'] as const
export type OutcomeType = (typeof outcomeTypes)[number]

/** Whose experiences those of runs are, which record themselves. Nobody else may be called so. */
export const executorAgentId = 'executor'

/** What is refused beyond these. Lengths are UTF-16 units. */
export const experienceLimits = {
  actions: 1_000,
  agentId: 200,
  situation: 65_536,
  tool: 200,
  outputSummary: 2_000,
  outcome: 10_000,
  tags: 50,
  tag: 100,
  sessionId: 128,
  customerId: 200,
  /** The whole action sequence, as canonical JSON in UTF-8. */
  sequenceBytes: 1_048_576,
} as const

/** One thing that was done. */
export interface ActionStep {
  /** Its place, from 1 without gaps. */
  readonly step: number
  readonly tool: string
  readonly input: Json
  readonly outputSummary: string
}

/** One way in which one situation was met. */
export interface Experience {
  readonly id: Id<'experience'>
  readonly agentId: string
  readonly situation: string
  readonly actionSequence: readonly ActionStep[]
  readonly outcome: string
  readonly outcomeType: OutcomeType
  /** 0 to 1. */
  readonly score: number
  readonly scoredBy: 'given' | 'heuristic' | 'model'
  readonly tags: readonly string[]
  readonly sessionId: string | null
  readonly customerId: string | null
  readonly executionId: Id<'execution'> | null
  readonly useCount: number
  readonly lastUsedAt: Date | null
  readonly repeatCount: number
  readonly repeatsId: Id<'experience'> | null
  readonly createdAt: Date
}

/** By what experiences are told to be the same. */
export interface ExperienceHashes {
  readonly situationHash: string
  readonly actionHash: string
  /** Of the tools in their order, whatever they were called with. */
  readonly approachHash: string
}

export function hashesOf(
  situation: string,
  actions: readonly Pick<ActionStep, 'tool' | 'input' | 'outputSummary'>[],
): ExperienceHashes {
  const folded = foldText(situation).text.replaceAll(/ +/g, ' ').trim()
  return {
    situationHash: sha256(folded),
    actionHash: hashOf(
      actions.map(({ tool, input, outputSummary }) => ({ tool, input, outputSummary })),
    ),
    approachHash: hashOf(actions.map(({ tool }) => tool)),
  }
}

/** The actions with their places, from 1. */
export function numbered(actions: readonly Omit<ActionStep, 'step'>[]): readonly ActionStep[] {
  return actions.map(({ tool, input, outputSummary }, index) => ({
    step: index + 1,
    tool,
    input,
    outputSummary,
  }))
}
