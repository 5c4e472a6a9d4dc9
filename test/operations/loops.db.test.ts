import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolFailed } from '../../src/domain/tool.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const sent: number[] = []
let looks = 0
const pay = defineTool({
  name: 'pay',
  description: 'Pays, but not number 500',
  effect: 'write',
  idempotent: true,
  input: z.object({ number: z.number() }),
  output: z.object({ paid: z.boolean() }),
  run: async ({ number }) => {
    if (number === 500) throw new ToolFailed('no such account')
    sent.push(number)
    return { paid: true }
  },
})
const look = defineTool({
  name: 'look',
  description: 'Is ready at the third look',
  effect: 'read',
  input: z.object({}),
  output: z.object({ ready: z.boolean() }),
  run: async () => {
    looks += 1
    return { ready: looks % 3 === 0 }
  },
})
const { app } = await openTestApp({ tools: [pay, look] })
const caller = callerOf()

let count = 0
async function run(steps: readonly object[], input: object = {}) {
  count += 1
  const procedureKey = `LOOPS_${count}`
  const definition = {
    key: procedureKey,
    name: procedureKey,
    description: procedureKey,
    issuePatterns: [],
    input: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'number' } } },
      required: ['list'],
    },
    steps,
  }
  await operations.createProcedure.invoke(app, caller, { definition })
  const version = { procedureKey, versionNumber: 1, seenActive: null }
  await operations.activateVersion.invoke(app, caller, version)
  const ended = await operations.startExecution.invoke(app, caller, {
    procedureKey,
    input: { list: [], ...input },
  })
  const { id: executionId } = ended.execution
  const proof = await operations.replayExecution.invoke(app, caller, { executionId })
  expect(proof.divergence).toBeNull()
  return ended
}

const list = Array.from({ length: 1_000 }, (_, index) => index)
const batch = {
  key: 'pay_all',
  action: 'Pay',
  forEach: 'input.list',
  maxItems: 1_000,
  tool: 'pay',
  with: { number: '{{item}}' },
}

describe('a batch of 1,000 with one failure in the middle', () => {
  it('goes on where its onError says so, with a row for each item', async () => {
    sent.length = 0

    const { execution, steps } = await run([{ ...batch, onError: 'continue', required: false }], {
      list,
    })

    expect(execution.outcome).toBe('resolved')
    expect(sent).toHaveLength(999)
    expect(steps).toHaveLength(1_001)
    const failed = steps.filter(({ status }) => status === 'failed')
    expect(failed).toMatchObject([
      { iteration: '500', error: { code: 'tool_failed', kind: 'failed' } },
    ])
    const output = steps[0]?.output as readonly unknown[]
    expect([output[499], output[500], output[999]]).toEqual([{ paid: true }, null, { paid: true }])
  })

  it('stops there and escalates where it says nothing', async () => {
    sent.length = 0

    const { execution, steps } = await run([batch], { list })

    expect(execution.reason).toMatchObject({ code: 'tool_failed', stepKey: 'pay_all' })
    expect(sent).toHaveLength(500)
    expect(steps).toHaveLength(502)
  })
})

it('a list that is longer than maxItems, or none, is not begun', async () => {
  const longer = await run([{ ...batch, maxItems: 2 }], { list: [1, 2, 3] })
  expect(longer.execution.reason?.code).toBe('loop_invalid')
  expect((await run([batch])).steps).toMatchObject([{ key: 'pay_all', output: [] }])
})

it('a block runs for each item, and its steps are this round’s', async () => {
  sent.length = 0
  const each = {
    key: 'each',
    action: 'For each',
    forEach: 'input.list',
    steps: [
      { key: 'twice', action: 'Double', compute: { n: 'item * 2 + index' } },
      { key: 'paid', action: 'Pay', tool: 'pay', with: { number: '{{steps.twice.output.n}}' } },
    ],
  }

  const { execution, steps } = await run([each], { list: [1, 2, 3] })

  expect(execution.outcome).toBe('resolved')
  expect(sent).toEqual([2, 5, 8])
  expect(steps.map(({ key, iteration }) => `${key}[${iteration}]`)).toEqual([
    'each[]',
    ...[0, 1, 2].flatMap((round) => [`each[${round}]`, `twice[${round}]`, `paid[${round}]`]),
  ])
})

it('a poll asks until it holds, and its output is the last answer', async () => {
  looks = 0
  const poll = { every: '1s', until: 'output.ready', atMost: 5 }

  const { execution, steps } = await run([{ key: 'wait_for', action: 'Look', tool: 'look', poll }])

  expect(execution.outcome).toBe('resolved')
  expect(looks).toBe(3)
  expect(steps[0]).toMatchObject({ key: 'wait_for', iteration: '', output: { ready: true } })
})

it('a repeat that does not come to its end is exhausted', async () => {
  const repeat = { until: 'steps.again.output.ready', atMost: 2 }
  looks = 0

  const { execution } = await run([
    {
      key: 'loop',
      action: 'Again',
      repeat,
      steps: [{ key: 'again', action: 'Look', tool: 'look' }],
    },
  ])

  expect(execution.reason).toMatchObject({ code: 'loop_exhausted', stepKey: 'loop' })
})
