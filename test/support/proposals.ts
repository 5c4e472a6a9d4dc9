import type { AppContext } from '../../src/context.ts'
import type { Id } from '../../src/domain/ids.ts'
import type { ProposalEvidence } from '../../src/learning/proposal.ts'
import type { Caller } from '../../src/operations/define.ts'
import { type Proposed, propose, type Suggestion } from '../../src/operations/propose.ts'
import { callerOf } from './caller.ts'

/** A definition that any tool set can run. */
export const plainDefinition = (key: string, name = key) => ({
  ...{ key, name, description: 'What was learned.', internal: true },
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
  completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
})

export const plainEvidence = (more: Partial<ProposalEvidence> = {}): ProposalEvidence => ({
  source: 'experiences',
  madeWith: 'rules',
  experienceIds: [],
  executionIds: [],
  agreement: null,
  parameters: [],
  guards: [],
  ...more,
})

/** Proposes a new procedure, of what `told` says: another one is other evidence. */
export function proposePlain(
  app: AppContext,
  key: string,
  more: Partial<Suggestion> = {},
  by: Caller = callerOf('bot', ['agent']),
): Promise<Proposed> {
  return propose(app, by.principal.tenantId, by, {
    kind: 'demonstration',
    definition: plainDefinition(key),
    evidence: plainEvidence(),
    learnedFrom: { told: key },
    ...more,
  })
}

/** Proposes an improvement of a version. */
export function proposeBetter(
  app: AppContext,
  version: { readonly procedureKey: string; readonly versionId: string },
  feedback: string,
  more: Partial<Suggestion> = {},
): Promise<Proposed> {
  return proposePlain(app, version.procedureKey, {
    kind: 'improvement',
    definition: plainDefinition(version.procedureKey, feedback),
    baseVersionId: version.versionId as Id<'version'>,
    evidence: plainEvidence({ source: 'feedback', feedback }),
    learnedFrom: { told: feedback },
    ...more,
  })
}
