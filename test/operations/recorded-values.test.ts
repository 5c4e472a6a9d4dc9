import { expect, test } from 'vitest'
import type { StepRow } from '../../src/domain/execution.ts'
import type { Step } from '../../src/domain/step.ts'
import { scopeOf } from '../../src/executor/evaluate.ts'
import { recordedValues } from '../../src/operations/recorded-values.ts'
import { claimsOf } from '../../src/reply/claims.ts'
import { contractOf, definitionOf, planOf, startOf, walk } from '../support/walk.ts'

const look = contractOf('look')
const pay = contractOf('pay', { effect: 'write', claims: ['a refund was paid'] })
const tool = (key: string, name: string): Step => ({
  key,
  action: key,
  tool: name,
  with: { id: 1 },
})
const ask: Step = { key: 'code', action: 'Ask', ask: 'customer', message: '?', answer: {} }
const pins = {
  OTHER: { versionId: 'ver_0123456789abcdefghjkm', versionNumber: 1, definitionHash: '' },
} as const
const call: Step = { key: 'other', action: 'Call', call: 'OTHER' }

/** The steps whose outputs a reply may draw on, and the claims that it may make, after waits of so many minutes. */
function afterWaits(steps: readonly Step[], minutes: number) {
  const plan = planOf(definitionOf({ steps }), [look, pay])
  const { rows, states } = walk(
    plan,
    { ...startOf(), pins },
    () => ({ output: { paid: true } }),
    undefined,
    undefined,
    (state): StepRow | undefined => {
      const row = state.waiting[0]
      const output = row?.kind === 'call' ? { outcome: 'resolved', output: null } : 'yes'
      return (
        row && { ...row, status: 'completed', output, endedAt: row.startedAt + minutes * 60_000 }
      )
    },
  )
  const state = states.at(-1)
  if (state === undefined) throw new Error('a walk has a state')
  const record = recordedValues(
    plan,
    state,
    { record: { start: state.start, rows, end: null }, values: [] },
    scopeOf(plan, state, state.lastEndedAt),
  )
  return {
    steps: record.values.flatMap((value) => value.call?.stepKey ?? []),
    claims: claimsOf([pay], record.calls).filter(({ isSupported }) => isSupported).length,
  }
}

test('what was read before a short wait may be said', () => {
  expect(afterWaits([tool('a', 'look'), ask, tool('b', 'look')], 9).steps).toEqual(['a', 'b'])
})

test('what was read before a long wait may have changed, and what was done stays done', () => {
  expect(afterWaits([tool('a', 'look'), ask, tool('b', 'look')], 11).steps).toEqual(['b'])
  expect(afterWaits([tool('paid', 'pay'), ask], 11)).toEqual({ steps: [], claims: 1 })
})

test('what was read or done before another playbook was called may have been changed by it', () => {
  expect(afterWaits([tool('a', 'look'), call, tool('b', 'look')], 0).steps).toEqual(['b'])
  expect(afterWaits([tool('paid', 'pay'), call], 0)).toEqual({ steps: [], claims: 0 })
  const skipped = { ...call, when: 'false' }
  expect(afterWaits([tool('paid', 'pay'), skipped], 0)).toEqual({ steps: ['paid'], claims: 1 })
})
