import { expect, test } from 'vitest'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { buildSummary } from '../../src/domain/summary.ts'
import { fullDocument } from '../support/definitions.ts'

const step = (key: string) => ({ key, action: key, tool: key })

test('the summary of the failed payment playbook reads as it is written in the design', () => {
  const definition = requireDefinition({
    key: 'FAILED_PAYMENT_PLAYBOOK',
    name: 'Failed Payment Resolution',
    description: 'Approved procedure for failed checkout payments.',
    category: 'payments',
    issuePatterns: ['payment failed', 'checkout failed', 'card charged without order'],
    steps: [
      { key: 'identify_transaction', action: 'Identify', compute: { id: 'input.id' } },
      step('check_transaction'),
      step('check_gateway'),
      step('check_refund'),
      { key: 'prevent_duplicate_refund', action: 'Prevent', compute: { safe: 'true' } },
      step('notify_customer'),
    ],
    escalationRules: [{ text: 'inconsistent transaction' }, { text: 'gateway unavailable' }],
  })

  const { summary, purpose } = buildSummary(definition)

  expect(summary).toBe(
    [
      'Failed Payment Resolution.',
      'Approved procedure for failed checkout payments.',
      'Category: payments.',
      'Use for: payment failed; checkout failed; card charged without order.',
      'Important actions: identify transaction, check transaction, check gateway, check refund, prevent duplicate refund, notify customer.',
      'Escalate for: inconsistent transaction; gateway unavailable.',
    ].join('\n'),
  )
  expect(purpose).toBe(summary.split('\n').slice(0, 4).join('\n'))
})

test('actions are those of all levels in the order of the document, without waits, ends and structure', () => {
  const { summary } = buildSummary(requireDefinition(fullDocument()))

  expect(summary).toContain(
    'Important actions: check refund, total, tell, refund, ask customer, approve, other.',
  )
})

test('lines with nothing to say are left out', () => {
  const { summary, purpose } = buildSummary(
    requireDefinition({
      key: 'SMALL',
      name: 'Small?',
      description: 'Ends.',
      steps: [{ key: 'done', action: 'End', end: 'resolved' }],
    }),
  )

  expect(summary).toBe('Small?\nEnds.\nCategory: general.')
  expect(purpose).toBe(summary)
})

test('a confidential rule is not named', () => {
  const { summary } = buildSummary(
    requireDefinition({
      ...fullDocument(),
      escalationRules: [
        { text: 'Known fraudster.', confidential: true },
        { text: 'Large amount.' },
      ],
    }),
  )

  expect(summary).not.toContain('fraudster')
  expect(summary).toMatch(/\nEscalate for: Large amount\.$/)
})

test('long texts are kept whole', () => {
  const description = 'x'.repeat(4_000)

  const { purpose } = buildSummary(requireDefinition({ ...fullDocument(), description }))

  expect(purpose).toContain(description)
})
