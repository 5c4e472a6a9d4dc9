import fc from 'fast-check'
import { expect } from 'vitest'
import { operations } from '../../../src/operations/registry.ts'
import { type ActKind, anyOperation, note, pick, score, seen, type Told, text } from './act.ts'

const agentId = fc.constantFrom('bot a', 'bot b', 'desk bot', 'executor', 'FAILED_PAYMENT_PLAYBOOK')
const outcomeType = fc.constantFrom('success', 'partial_success', 'failure')
/** Mostly of the few things that are met again and again. */
const situation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'The customer was charged twice for one order',
          'A payment has failed',
          'The parcel did not arrive',
          'I forgot my password',
        ),
        fc.constantFrom('', ' today', ' again!', ', refund it'),
      )
      .map((parts) => parts.join('')),
  },
  text,
)
const tags = fc.array(fc.constantFrom('x', 'y', 'RESOLVES', '返金', ''), { maxLength: 2 })
const tool = fc.constantFrom('check_transaction', 'issue_refund', 'look', '')
const action = fc.record(
  { tool, input: fc.jsonValue({ maxDepth: 2 }), outputSummary: text, step: fc.nat(3) },
  { requiredKeys: ['tool'] },
)
/** An object without the fields that were left out on purpose. */
const defined = (own: object) =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))

const noteItems = ({ known, answer }: Told) => {
  const { items = [] } = Object(answer)
  for (const { id } of items) note(known, 'exp', id)
}

/** Of what each of them was worth first: nothing raises it. */
const scores = new Map<string, number>()

export const experienceActs: readonly ActKind[] = [
  {
    name: 'record experience',
    operation: anyOperation(operations.recordExperience),
    weight: 6,
    by: 'agents',
    input: fc
      .record({
        situation,
        actionSequence: fc.array(action, { maxLength: 4 }),
        outcome: text,
        outcomeType,
        score: fc.option(score, { nil: undefined }),
        scoreBy: fc.option(fc.constantFrom('heuristic', 'model'), { nil: undefined, freq: 3 }),
        tags,
        agentId: fc.option(agentId, { nil: undefined }),
        sessionId: fc.option(text, { nil: undefined, freq: 3 }),
        customerId: fc.option(fc.constantFrom('C-1', 'C-2'), { nil: undefined }),
      })
      .map((own) => () => defined(own)),
    learn: ({ known, answer, asked, context }) => {
      const { experience } = Object(answer)
      note(known, 'exp', experience.id)
      expect(experience.score, context).toBeGreaterThanOrEqual(0)
      expect(experience.score, context).toBeLessThanOrEqual(
        Object(asked).outcomeType === 'failure' ? 0.5 : 1,
      )
      expect(experience.score, context).toBe(scores.get(experience.id) ?? experience.score)
      scores.set(experience.id, experience.score)
    },
  },
  {
    name: 'retrieve experiences',
    operation: anyOperation(operations.retrieveExperiences),
    weight: 3,
    by: 'agents',
    input: fc
      .record({
        situation,
        topK: fc.integer({ min: 0, max: 51 }),
        minSimilarity: fc.option(score, { nil: undefined }),
        outcomeType: fc.constantFrom('success', 'partial_success', 'failure', 'all'),
        tags: fc.option(tags, { nil: undefined }),
        agentIds: fc.option(fc.array(agentId, { maxLength: 2 }), { nil: undefined }),
        allAgents: fc.boolean(),
      })
      .map((own) => () => defined(own)),
    learn: ({ answer, asked, context }) => {
      const { matches, minSimilarity, context: block } = Object(answer)
      expect(matches.length, context).toBeLessThanOrEqual(Object(asked).topK)
      let last = Number.POSITIVE_INFINITY
      for (const { experience, similarity, relevance } of matches) {
        expect(similarity, context).toBeGreaterThanOrEqual(minSimilarity)
        expect(relevance, context).toBeLessThanOrEqual(last)
        expect(experience.repeatsId, context).toBeNull()
        expect(experience.score, context).toBe(scores.get(experience.id) ?? experience.score)
        last = relevance
      }
      // Nothing that was said ends the block.
      const ends = block.match(/^--- End of past procedures ---$/gm) ?? []
      expect(ends, context).toHaveLength(matches.length === 0 ? 0 : 1)
    },
  },
  {
    name: 'get experience',
    operation: anyOperation(operations.getExperience),
    by: 'agents',
    input: pick.map((at) => (known) => ({ experienceId: seen(known, 'exp', at) })),
  },
  {
    name: 'list experiences',
    operation: anyOperation(operations.listExperiences),
    by: 'agents',
    input: fc
      .record({
        limit: fc.integer({ min: 1, max: 20 }),
        outcomeType: fc.option(outcomeType, { nil: undefined }),
        tag: fc.option(fc.constantFrom('x', '返金'), { nil: undefined }),
      })
      .map((own) => () => defined(own)),
    learn: noteItems,
  },
  {
    name: 'prune experiences',
    operation: anyOperation(operations.pruneExperiences),
    by: 'people',
    input: fc
      .record({
        dryRun: fc.boolean(),
        unusedDays: fc.integer({ min: 0, max: 3 }),
        belowScore: score,
        agentId: fc.option(agentId, { nil: undefined }),
      })
      .map((own) => () => defined(own)),
    learn: ({ asked, answer, context }) => {
      for (const { score: own } of Object(answer).deletedItems) {
        expect(own, context).toBeLessThan(Object(asked).belowScore)
      }
    },
  },
]
