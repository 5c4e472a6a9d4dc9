import { expect, it } from 'vitest'
import type { Step } from '../../src/domain/step.ts'
import { apply } from '../../src/executor/apply.ts'
import type { ToolObservation } from '../../src/executor/attempt.ts'
import { contractOf, definitionOf, planOf, startOf, walk } from '../support/walk.ts'

type Trouble = Exclude<ToolObservation, { readonly result: 'done' }>

const tools = [contractOf('look'), contractOf('pay', { effect: 'write', idempotent: false })]
const goesOn = { required: false, onError: 'continue' } as const
const look: Step = { key: 'look', action: 'Look', tool: 'look', ...goesOn }
const told: Step = {
  key: 'told',
  action: 'Tell',
  compute: { code: 'steps.look.error.code', kind: 'steps.look.error.kind' },
}

function trouble(result: Trouble['result'], code: string): Trouble {
  return { result, code, message: 'no', endedAt: 0 }
}

/** What the playbook sees of a step that met this, and what its record says. */
function failureOf(step: Step, met: Trouble | { readonly output: unknown }) {
  const plan = planOf(definitionOf({ steps: [step, told] }), tools)
  const { rows } = walk(plan, startOf(), () => met)
  return { seen: rows.at(-1)?.output, recorded: rows[0]?.error }
}

it.each([
  ['refused', 'tool_failed', 'refused'],
  ['failed', 'tool_failed', 'failed'],
  ['error', 'tool_failed', 'unknown'],
  ['timeout', 'tool_timeout', 'timeout'],
  ['invalid', 'output_invalid', 'invalid'],
  ['invalid', 'output_too_large', 'invalid'],
] as const)('a call that comes to %s (%s) is of the kind %s', (result, code, kind) => {
  const { seen, recorded } = failureOf(look, trouble(result, code))

  expect(seen).toEqual({ code, kind })
  expect(recorded).toMatchObject({ code, kind })
})

it('an answer that is not as expected is unmet, whatever came before it', () => {
  expect(failureOf({ ...look, expect: 'output.ok' }, { output: { ok: false } }).seen).toEqual({
    code: 'expectation_failed',
    kind: 'unmet',
  })
})

it('a poll fails as its last call did, and is unmet when it ran out of rounds', () => {
  const poll = { every: '1s', until: 'output.ok', atMost: 2, otherwise: 'continue' } as const

  expect(failureOf({ ...look, poll }, trouble('refused', 'tool_failed')).seen).toEqual({
    code: 'tool_failed',
    kind: 'refused',
  })
  expect(failureOf({ ...look, poll }, { output: { ok: false } }).seen).toEqual({
    code: 'loop_exhausted',
    kind: 'unmet',
  })
})

it('a record of before kinds were kept is read by its code', () => {
  const plan = planOf(definitionOf({ steps: [look, told] }), tools)
  const { states, rows } = walk(plan, startOf(), () => trouble('timeout', 'tool_timeout'))
  const [row] = rows
  const [first] = states
  if (row === undefined || first === undefined || row.error === null) throw new Error('no row')
  const { kind: _, ...error } = row.error

  const { rows: later } = walk(
    plan,
    startOf(),
    () => ({ output: 1 }),
    apply(first, { ...row, error }),
  )

  expect(later.at(-1)?.output).toEqual({ code: 'tool_timeout', kind: 'timeout' })
})
