import { defaultCategory } from './defaults.ts'
import type { Definition } from './definition.ts'
import { type StepKind, stepKind, walkSteps } from './step.ts'

/** What search shows and what it embeds. */
export interface Summary {
  /** The whole text, for people and models. */
  readonly summary: string
  /** The lines that say what the procedure is for: these are embedded, since the actions measurably blur it. */
  readonly purpose: string
}

/** Kinds that people would call an action; the others only order them, wait or end. */
const actionKinds: ReadonlySet<StepKind> = new Set(['tool', 'compute', 'ask', 'approval', 'call'])

/**
 * Builds the readable text of a definition: name, description and category, what it is for, its actions in the order
 * of the document, and what makes it escalate. Lines with nothing to say are left out; nothing is cut. Confidential
 * rules are not named, since models read the summary.
 */
export function buildSummary(definition: Definition): Summary {
  const purpose = [
    sentence(definition.name),
    definition.description.trim(),
    sentence(`Category: ${definition.category ?? defaultCategory}`),
    ...listLine('Use for', definition.issuePatterns ?? [], '; '),
  ]
  const actions = [...walkSteps(definition.steps)]
    .filter((step) => actionKinds.has(stepKind(step)))
    .map((step) => step.key.replaceAll('_', ' '))
  const rules = (definition.escalationRules ?? [])
    .filter((rule) => rule.confidential !== true)
    .map((rule) => rule.text)
  const summary = [
    ...purpose,
    ...listLine('Important actions', actions, ', '),
    ...listLine('Escalate for', rules, '; '),
  ]
  return { summary: summary.join('\n'), purpose: purpose.join('\n') }
}

function listLine(label: string, items: readonly string[], separator: string): readonly string[] {
  if (items.length === 0) return []
  const words = items.map((item) => item.trim().replace(/\.$/, ''))
  return [`${label}: ${words.join(separator)}.`]
}

function sentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
