import { z } from 'zod'
import { listExperiencesOfVersion } from '../db/queries/experience-evidence.ts'
import { listExperiencesByIds } from '../db/queries/experiences.ts'
import type { ProcedureVersion } from '../db/queries/versions.ts'
import type { Definition } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import { parseDefinition } from '../domain/parse-definition.ts'
import type { Problem } from '../domain/problem.ts'
import { demonstrationOf } from '../learning/demonstration-of-experience.ts'
import type { Experience } from '../learning/experience.ts'
import { type LearnedGuard, maxDemonstrations } from '../learning/generalise.ts'
import { teach, withRule } from '../learning/improve.ts'
import { madeWithRules } from '../learning/proposal.ts'
import { checkVersion } from './check-version.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { findProcedureVersion } from './find-version.ts'
import { learnedOutput, toLearnedOutput } from './proposal-output.ts'
import { findProposed, type Proposed, propose } from './propose.ts'
import { procedureKey, versionNumber } from './shapes.ts'
import { openWithholding } from './withhold-sensitive.ts'
import { notAsked, writeImproved } from './write-proposal.ts'

/**
 * Proposes the next version of a playbook, as feedback asks for it: written by a model where one is named. Without one, and
 * where its answer is not taken, the recorded runs of the version teach it: a rule that would have handed to a person what
 * failed. The feedback is kept with the proposal in either case, for whoever decides.
 *
 * @see docs/proposals.md
 */
export const proposeImprovement = defineOperation({
  name: 'proposeImprovement',
  summary: 'Propose the next version of a playbook, from feedback or from its runs',
  input: z.strictObject({
    procedureKey,
    versionNumber: versionNumber
      .optional()
      .describe('What is to be improved; default the active version, else the newest'),
    feedback: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(10_000)
      .describe('What should be better. Nothing about a customer may stand in it'),
  }),
  output: learnedOutput,
  errors: [
    'PROCEDURE_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'PROPOSAL_NOT_LEARNED',
    'PROPOSAL_EVIDENCE_GONE',
    'DEFINITION_INVALID',
  ],
  roles: ['agent', 'author', 'approver', 'admin'],
  async run(context, given) {
    const { kysely } = context.db
    const base = await findProcedureVersion(kysely, given.procedureKey, given.versionNumber)
    const feedback = (await openWithholding(context.db)).text(given.feedback)
    const proposed = await byModel(context, base, feedback)
    if (!('why' in proposed)) return toLearnedOutput(kysely, proposed)
    return toLearnedOutput(kysely, await byRuns(context, base, feedback, proposed.why))
  },
})

async function byModel(
  { app, caller, db }: OperationContext,
  base: ProcedureVersion,
  feedback: string,
): Promise<Proposed | { readonly why: string }> {
  const learnedFrom = { told: { feedback } }
  const before = await findProposed(db.kysely, 'improvement', base.id, learnedFrom)
  if (before !== undefined) return before
  const written = await writeImproved(app, db.kysely, base.definition, feedback)
  if (written.definition === undefined) return { why: written.why }
  return propose(app, db.tenantId, caller, {
    kind: 'improvement',
    definition: written.definition,
    baseVersionId: base.id,
    learnedFrom,
    evidence: {
      source: 'feedback',
      madeWith: written.madeWith,
      ...{ experienceIds: [], executionIds: [], agreement: null, parameters: [], guards: [] },
      feedback,
    },
  })
}

async function byRuns(
  context: OperationContext,
  base: ProcedureVersion,
  feedback: string,
  why: string,
): Promise<Proposed> {
  const { app, caller, db } = context
  const ids = await listExperiencesOfVersion(db.kysely, base, maxDemonstrations)
  const learnedFrom = { experienceIds: ids }
  const before = await findProposed(db.kysely, 'improvement', base.id, learnedFrom)
  if (ids.length > 0 && before !== undefined) return before
  const experiences = await listExperiencesByIds(db.kysely, ids)
  const { definition, guards } = await learnFrom(context, base, experiences)
  const failures = experiences.filter(({ outcomeType }) => outcomeType === 'failure').length
  const counts = { runs: experiences.length, failures }
  if (guards.length === 0) {
    throw new ServiceError('PROPOSAL_NOT_LEARNED', { problems: whatIsMissing(base, why, counts) })
  }
  return propose(app, db.tenantId, caller, {
    kind: 'improvement',
    definition,
    baseVersionId: base.id,
    learnedFrom,
    evidence: {
      source: 'experiences',
      madeWith: madeWithRules,
      experienceIds: experiences.map(({ id }) => id),
      executionIds: experiences.flatMap(({ executionId }) => executionId ?? []),
      learnedFrom: counts,
      ...{ agreement: null, parameters: [], guards },
      feedback,
      ...(why !== notAsked && { notes: [why] }),
    },
  })
}

/** The definition with each rule that a check lets pass, and what these stand for. */
async function learnFrom(
  { app, db }: OperationContext,
  { definition: base }: ProcedureVersion,
  experiences: readonly Experience[],
): Promise<{ readonly definition: Definition; readonly guards: readonly LearnedGuard[] }> {
  const contracts = new Map(
    [...app.tools.current].map(([name, { contract }]) => [name, contract] as const),
  )
  const demonstrations = experiences.flatMap((one) => demonstrationOf(one, contracts) ?? [])
  const errorsOf = async (definition: Definition) => {
    const findings = await checkVersion(app, db.kysely, definition)
    return findings.filter(({ severity }) => severity === 'error').length
  }
  const most = await errorsOf(base)
  let definition = base
  const guards: LearnedGuard[] = []
  for (const { forms, policy, guard } of teach(base, demonstrations, contracts)) {
    for (const form of forms) {
      const parsed = parseDefinition(withRule(definition, form, policy))
      if ('problems' in parsed || (await errorsOf(parsed.definition)) > most) continue
      definition = parsed.definition
      guards.push(guard)
      break
    }
  }
  return { definition, guards }
}

/** Why nothing can be proposed, and what would change that. */
function whatIsMissing(
  { procedureKey: key, versionNumber: number }: ProcedureVersion,
  why: string,
  { runs, failures }: { readonly runs: number; readonly failures: number },
): readonly Problem[] {
  const model =
    why === notAsked
      ? 'No model is named that could read it. Set OPENAI_API_KEY and STEPWARDEN_PROPOSE_MODEL, or write the next draft by hand.'
      : `${why} Say it in other words, or write the next draft by hand.`
  const enough =
    runs === 0
      ? 'has no recorded run to learn from'
      : `has ${runs} recorded runs, ${failures} of which failed, and nothing that its steps answered tells those from the others`
  return [
    { path: 'feedback', message: model },
    { path: 'versionNumber', message: `Version ${number} of ${key} ${enough}.` },
  ]
}
