import type { ActionStep } from './experience.ts'

/** What of an experience is shown to a model. */
export interface ShownExperience {
  readonly relevance: number
  readonly experience: {
    readonly situation: string
    readonly actionSequence: readonly Pick<ActionStep, 'step' | 'tool' | 'outputSummary'>[]
    readonly outcome: string
    readonly useCount: number
  }
}

/** Longer ones are cut: a prompt has room for other things. */
const lengths = { situation: 1_000, summary: 300, outcome: 1_000, tool: 200 } as const
const shownSteps = 50

/**
 * Experiences as a block of a prompt; empty when there is none. Each text is on one line of its own, so that nothing that a
 * customer or a tool has said can end the block, or look like another part of it.
 */
export function formatExperiences(matches: readonly ShownExperience[]): string {
  if (matches.length === 0) return ''
  const lines = ['', '--- Relevant procedures from past experience ---']
  for (const [index, { relevance, experience }] of matches.entries()) {
    const { situation, actionSequence, outcome, useCount } = experience
    lines.push(
      '',
      `Procedure ${index + 1} (relevance: ${relevance.toFixed(2)}, used ${useCount}x):`,
      `Situation: ${oneLine(situation, lengths.situation)}`,
      'Steps taken:',
      ...actionSequence.slice(0, shownSteps).map(stepLine),
      ...(actionSequence.length > shownSteps
        ? [`  … and ${actionSequence.length - shownSteps} more`]
        : []),
      `Outcome: ${oneLine(outcome, lengths.outcome)}`,
    )
  }
  lines.push('--- End of past procedures ---', '', '')
  return lines.join('\n')
}

function stepLine({
  step,
  tool,
  outputSummary,
}: ShownExperience['experience']['actionSequence'][number]): string {
  return `  ${step}. ${oneLine(tool, lengths.tool)}: ${oneLine(outputSummary, lengths.summary)}`
}

/** Without what ends a line, in any script, or cannot be seen. */
export function oneLine(text: string, maxLength: number): string {
  const line = text
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    // What turns the direction of a line round; joiners are part of how some scripts are written.
    .replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g, '')
    .trim()
  if (line.length <= maxLength) return line
  const cut = line.slice(0, maxLength - 1)
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`
}
