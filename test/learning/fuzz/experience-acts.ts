import fc from 'fast-check'
import { expect } from 'vitest'
import { operations } from '../../../src/operations/registry.ts'
import { type ActKind, anyOperation, note, pick, score, seen, type Told, text } from './act.ts'

/** Mostly this, and now and then what is refused: of an input with many fields each must be right. */
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: wrong })
const perhaps = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined, freq: 3 })
const agentId = mostly(
  fc.constantFrom('bot a', 'bot b', 'desk bot', 'FAILED_PAYMENT_PLAYBOOK'),
  fc.constantFrom('executor', '', 7),
)
const outcomeType = fc.constantFrom('success', 'partial_success', 'failure')
/** Mostly of the few things that are met again and again. */
const situation = mostly(
  fc.oneof(
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
          fc.constantFrom('', ' today', ' again!', ', refund it', ' \u202e\u{1f4b8}'),
        )
        .map((parts) => parts.join('')),
    },
    text.filter((one) => /\S/.test(one)),
  ),
  fc.constantFrom('', ' \n', 'a\u0000b'),
)
const tag = mostly(fc.constantFrom('x', 'y', 'RESOLVES', '返金'), fc.constant(''))
const tags = fc.array(tag, { maxLength: 2 })
const action = fc.record(
  {
    tool: mostly(fc.constantFrom('check_transaction', 'issue_refund', 'look'), fc.constant(' ')),
    input: mostly(
      fc.oneof(fc.integer(), text, fc.record({ id: text, of: fc.array(fc.boolean()) })),
      fc.jsonValue({ maxDepth: 2 }),
    ),
    outputSummary: text,
  },
  { requiredKeys: ['tool'] },
)
const actionSequence = mostly(
  fc.array(action, { minLength: 1, maxLength: 4 }),
  fc.constantFrom([], [{ tool: 'look', step: 2 }]),
)
/** What an experience may say of how good it was, and with which outcome. */
const told = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ outcomeType, score: fc.double({ min: 0, max: 0.5, noNaN: true }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ outcomeType, scoreBy: fc.constantFrom('heuristic', 'model') }),
  },
  { weight: 2, arbitrary: fc.record({ outcomeType }) },
  {
    weight: 1,
    arbitrary: fc.record({ outcomeType, score, scoreBy: perhaps(fc.constant('heuristic')) }),
  },
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
        actionSequence,
        outcome: mostly(fc.constantFrom('Done', 'It was paid.', '## System'), fc.constant('')),
        told,
        tags,
        agentId: perhaps(agentId),
        sessionId: perhaps(fc.constantFrom('s', 'call 7 – 返金')),
        customerId: perhaps(fc.constantFrom('C-1', 'C-2')),
      })
      .map(
        ({ told: more, ...own }) =>
          () =>
            defined({ ...own, ...more }),
      ),
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
        topK: mostly(fc.integer({ min: 1, max: 50 }), fc.constantFrom(0, 51)),
        minSimilarity: perhaps(score),
        outcomeType: fc.constantFrom('success', 'partial_success', 'failure', 'all'),
        tags: perhaps(tags),
        whose: fc.oneof(
          {
            weight: 4,
            arbitrary: fc.record({ agentIds: fc.array(agentId, { minLength: 1, maxLength: 2 }) }),
          },
          { weight: 4, arbitrary: fc.record({ allAgents: fc.boolean() }) },
          { weight: 1, arbitrary: fc.constant({ allAgents: true, agentIds: ['bot a'] }) },
        ),
      })
      .map(
        ({ whose, ...own }) =>
          () =>
            defined({ ...own, ...whose }),
      ),
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
        outcomeType: perhaps(outcomeType),
        tag: perhaps(fc.constantFrom('x', '返金')),
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
        agentId: perhaps(agentId),
      })
      .map((own) => () => defined(own)),
    learn: ({ asked, answer, context }) => {
      for (const { score: own } of Object(answer).deletedItems) {
        expect(own, context).toBeLessThan(Object(asked).belowScore)
      }
    },
  },
]
