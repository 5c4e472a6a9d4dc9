import { z } from 'zod'
import { listSimilarExperiences } from '../db/queries/experience-evidence.ts'
import { listExperiencesByIds } from '../db/queries/experiences.ts'
import { listProcedureKeys } from '../db/queries/procedures.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import type { Demonstration } from '../learning/demonstration.ts'
import { demonstrationOf } from '../learning/demonstration-of-experience.ts'
import { type Experience, experienceLimits, hashesOf } from '../learning/experience.ts'
import { type Generalised, generalise, maxDemonstrations } from '../learning/generalise.ts'
import { type LearnedFrom, madeWithRules, type ProposalEvidence } from '../learning/proposal.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { embedSituation } from './embed-situation.ts'
import { agentId } from './experience-output.ts'
import { noteRead } from './note-read.ts'
import { learnedOutput, toLearnedOutput } from './proposal-output.ts'
import { findProposed, propose, type Suggestion } from './propose.ts'
import { anyJson, experienceId, procedureKey } from './shapes.ts'
import { openWithholding } from './withhold-sensitive.ts'
import { notAsked, writeLearned } from './write-proposal.ts'

const { situation, tool, outputSummary, outcome, customerId } = experienceLimits
/** Far more than a playbook may have steps, so that the refusal can say what is wrong, and few enough to be read. */
const maxActions = 10_000

const action = z.strictObject({
  tool: z.string().regex(/\S/, 'must not be empty').max(tool),
  input: anyJson.default(null).describe('What it was called with'),
  outputSummary: z.string().max(outputSummary).default('').describe('What came of it, in short'),
})

/**
 * Proposes a playbook for something that was done: from actions that are told, from experiences that are named, or from all
 * that are like a situation, up to 200 of them, failures as well. What recurs becomes steps, what differs parameters, and
 * what tells failures from successes a rule. It waits for a person, and is nothing until somebody makes a draft of it.
 *
 * The same evidence proposes once. With a model named, that words the draft; otherwise the rules do.
 *
 * @see docs/proposals.md
 */
export const proposeProcedure = defineOperation({
  name: 'proposeProcedure',
  summary: 'Propose a playbook for what was done: actions, or experiences',
  input: z
    .strictObject({
      situation: z
        .string()
        .regex(/\S/, 'must not be empty')
        .max(situation)
        .optional()
        .describe('What was to be done; alone: learn from what was experienced in ones like it'),
      actions: z
        .array(action)
        .min(1, 'must have at least one action')
        .max(maxActions, `must have at most ${maxActions} actions`)
        .optional()
        .describe('What was done, in order; with it the situation'),
      outcome: z.string().max(outcome).default('').describe('Of the actions: what came of them'),
      customerId: z
        .string()
        .min(1)
        .max(customerId)
        .optional()
        .describe(
          'Of the actions: whom they were about, so that they go when that customer is erased',
        ),
      experienceIds: z
        .array(experienceId)
        .min(1)
        .max(maxDemonstrations)
        .optional()
        .describe('The experiences to learn from'),
      agentIds: z
        .array(agentId)
        .min(1)
        .max(50)
        .optional()
        .describe('Of a situation alone: whose experiences; default: those of all, runs as well'),
      key: procedureKey
        .optional()
        .describe('The key of the playbook; that of one that is there: its next version'),
      name: z.string().regex(/\S/, 'must not be empty').max(200).optional(),
    })
    .superRefine((given, context) => {
      for (const [path, message] of contradictions(given)) {
        context.addIssue({ code: 'custom', path: [path], message })
      }
    }),
  output: learnedOutput,
  errors: [
    'EXPERIENCE_NOT_FOUND',
    'PROPOSAL_NOT_LEARNED',
    'PROPOSAL_EVIDENCE_GONE',
    'DEFINITION_INVALID',
    'EMBEDDER_UNAVAILABLE',
  ],
  roles: ['agent', 'author', 'admin'],
  async run(context, given) {
    const { app, caller, db } = context
    const material = await gather(context, given)
    const before = await findProposed(db.kysely, 'demonstration', null, material.learnedFrom)
    if (before !== undefined) return toLearnedOutput(db.kysely, before)
    const learned = await learn(context, given, material)
    const suggestion = await word(context, material, learned)
    return toLearnedOutput(db.kysely, await propose(app, db.tenantId, caller, suggestion))
  },
})

type Given = z.infer<typeof proposeProcedure.input>

/** What is learned from. */
interface Material {
  readonly demonstrations: readonly Demonstration[]
  readonly experiences: readonly Experience[]
  readonly learnedFrom: LearnedFrom
  readonly source: ProposalEvidence['source']
  readonly situation: string | undefined
  readonly customerId: string | undefined
}

/** What cannot be asked for together. */
function contradictions(given: {
  readonly situation?: string | undefined
  readonly actions?: readonly unknown[] | undefined
  readonly experienceIds?: readonly unknown[] | undefined
  readonly agentIds?: readonly unknown[] | undefined
  readonly customerId?: string | undefined
}): readonly (readonly [string, string])[] {
  const { actions, experienceIds, agentIds } = given
  if (given.situation === undefined && actions === undefined && experienceIds === undefined) {
    return [['situation', 'must be given, or experienceIds; with actions, both']]
  }
  return [
    ...(actions !== undefined && given.situation === undefined
      ? [['situation', 'must say what the actions were for'] as const]
      : []),
    ...(actions !== undefined && experienceIds !== undefined
      ? [['experienceIds', 'must be left out where there are actions'] as const]
      : []),
    ...(agentIds !== undefined && (actions ?? experienceIds) !== undefined
      ? [['agentIds', 'goes with a situation alone'] as const]
      : []),
    ...(given.customerId !== undefined && actions === undefined
      ? [['customerId', 'goes with actions; experiences have their own'] as const]
      : []),
  ]
}

async function gather(context: OperationContext, given: Given): Promise<Material> {
  if (given.actions !== undefined) return gatherTold(context, given)
  const { db } = context
  const ids = given.experienceIds ?? (await findSimilar(context, given))
  const found = await listExperiencesByIds(db.kysely, ids)
  const missing = ids.find((id) => !found.some((one) => one.id === id))
  if (given.experienceIds !== undefined && missing !== undefined) {
    throw new ServiceError('EXPERIENCE_NOT_FOUND', { experienceId: missing })
  }
  await noteRead(context, { action: 'experiences.retrieved', entityKind: 'tenant' })
  const contracts = contractsOf(context)
  const pairs = found.flatMap((experience) => {
    const demonstration = demonstrationOf(experience, contracts)
    return demonstration === undefined ? [] : [{ experience, demonstration }]
  })
  const experiences = pairs.map(({ experience }) => experience)
  return {
    demonstrations: pairs.map(({ demonstration }) => demonstration),
    experiences,
    learnedFrom: { experienceIds: experiences.map(({ id }) => id) },
    source: 'experiences',
    situation: given.situation && (await openWithholding(db)).text(given.situation),
    customerId: undefined,
  }
}

/** Told actions are those of somebody who has succeeded. What is sensitive is withheld, as from an experience. */
async function gatherTold({ db }: OperationContext, given: Given): Promise<Material> {
  const withhold = await openWithholding(db)
  const actions = (given.actions ?? []).map((one) => ({
    tool: withhold.text(one.tool),
    input: withhold.value(one.input),
    outputSummary: withhold.text(one.outputSummary),
  }))
  const told = withhold.text(given.situation ?? '')
  const { actionHash } = hashesOf(told, actions)
  const demonstration: Demonstration = {
    id: null,
    situation: told,
    actions,
    outcome: withhold.text(given.outcome),
    outcomeType: 'success',
    score: 1,
  }
  return {
    demonstrations: [demonstration],
    experiences: [],
    learnedFrom: { told: { actionHash } },
    source: 'demonstration',
    situation: told,
    customerId: given.customerId,
  }
}

async function findSimilar(
  context: OperationContext,
  { situation: text = '', agentIds }: Given,
): Promise<readonly string[]> {
  const { model, vector, minSimilarity } = await embedSituation(context, text)
  const search = { model, vector, minSimilarity, agentIds }
  const ids = await listSimilarExperiences(context.db, search, maxDemonstrations)
  if (ids.length > 0) return ids
  throw notLearned(
    'situation',
    `Nobody has recorded an experience that is like it (similarity ${minSimilarity} or more, by ${model}). Record how it is done, or tell the actions.`,
  )
}

async function learn(
  context: OperationContext,
  given: Given,
  { demonstrations }: Material,
): Promise<Generalised> {
  if (demonstrations.length === 0) {
    throw notLearned('experienceIds', 'In none of them a tool was used, so there is nothing to do.')
  }
  const learned = generalise({
    ...{ key: given.key, name: given.name, demonstrations },
    contracts: contractsOf(context),
  })
  if ('problems' in learned) {
    throw new ServiceError('PROPOSAL_NOT_LEARNED', { problems: learned.problems })
  }
  if (given.key !== undefined) return learned
  const key = await freeKey(context, learned.definition.key)
  return { ...learned, definition: { ...learned.definition, key } }
}

/** A key that nobody chose is never that of another playbook, which the draft would be the next version of. */
export async function freeKey({ db }: OperationContext, wanted: Json | undefined): Promise<string> {
  const taken = new Set(await listProcedureKeys(db.kysely))
  const first = String(wanted)
  let key = first
  for (let count = 2; taken.has(key); count += 1) key = `${first}_${count}`
  return key
}

/** The draft in the words of a model, where one is named and says nothing else by them; else as the rules have it. */
async function word(
  { app, db }: OperationContext,
  material: Material,
  learned: Generalised,
): Promise<Suggestion> {
  const draft = requireDefinition(learned.definition)
  const written = await writeLearned(app, db.kysely, draft, material.demonstrations)
  const agents = new Set(material.experiences.map((one) => one.agentId))
  const isWritten = written.definition !== undefined
  return {
    kind: 'demonstration',
    definition: written.definition ?? draft,
    learnedFrom: material.learnedFrom,
    customerId: material.customerId,
    evidence: {
      source: material.source,
      madeWith: isWritten ? written.madeWith : madeWithRules,
      experienceIds: material.experiences.map(({ id }) => id),
      executionIds: material.experiences.flatMap(({ executionId }) => executionId ?? []),
      learnedFrom: { ...learned.learnedFrom, ...(agents.size > 0 && { agents: agents.size }) },
      agreement: learned.agreement,
      parameters: learned.parameters,
      guards: learned.guards,
      unknownTools: learned.unknownTools,
      leftOutTools: learned.leftOutTools,
      ...(material.situation !== undefined && {
        situation: material.situation.slice(0, 2_000).toWellFormed(),
      }),
      ...(!isWritten && written.why !== notAsked && { notes: [written.why] }),
    },
  }
}

function contractsOf({ app }: OperationContext) {
  return new Map([...app.tools.current].map(([name, { contract }]) => [name, contract]))
}

function notLearned(path: string, message: string): ServiceError {
  return new ServiceError('PROPOSAL_NOT_LEARNED', { problems: [{ path, message }] })
}
