import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import { type Tool, ToolFailed } from '../../src/domain/tool.ts'

/**
 * The world that the runs act on: a file outside the database, to which each call of a writing tool adds a line before
 * it takes effect. A line is one write of a few bytes to a file opened for appending, so that processes do not mix.
 */
export interface WorldCall {
  readonly tool: string
  readonly executionId: string
  readonly idempotencyKey: string
}

/** How long each call takes at most: long enough that processes die in the middle of many. */
const callMs = 25

/** The tool whose use is limited. */
export const limitedTool = 'pay_limited'

/** How often a tool that falters does so. */
const faltersAt = 0.25

/**
 * The tools of the runs: reads (one that answers by chance, one that falters), a write that may be repeated with its key,
 * one that may not, and one whose use is limited. `isPoison` tells a customer whose runs kill the process that works on them.
 */
export function createTools(worldFile: string, random: () => number): readonly Tool[] {
  const customer = z.object({ customerId: z.string() })
  const done = z.object({ ok: z.boolean() })
  const note = (call: WorldCall) => appendFileSync(worldFile, `${JSON.stringify(call)}\n`)
  const write = (name: string, idempotent: boolean): Tool =>
    defineTool({
      name,
      description: `Acts on the world: ${name}`,
      effect: 'write',
      idempotent,
      input: customer,
      output: done,
      async run({ customerId }, { executionId, idempotencyKey }) {
        await sleep(random() * callMs)
        if (isPoison(customerId)) process.kill(process.pid, 'SIGKILL')
        note({ tool: name, executionId, idempotencyKey })
        await sleep(random() * callMs)
        return { ok: true }
      },
    })
  const look = defineTool({
    name: 'look_up',
    description: 'Looks a customer up',
    effect: 'read',
    input: customer,
    output: done,
    async run() {
      await sleep(random() * callMs)
      return { ok: true }
    },
  })
  const roll = defineTool({
    name: 'roll',
    description: 'Answers a number by chance',
    effect: 'read',
    input: customer,
    output: z.object({ n: z.number() }),
    async run() {
      await sleep(random() * callMs)
      return { n: random() }
    },
  })
  const falter = defineTool({
    name: 'falter',
    description: 'Fails now and then, and says so',
    effect: 'read',
    input: customer,
    output: done,
    async run() {
      await sleep(random() * callMs)
      if (random() < faltersAt) throw new ToolFailed('it falters')
      return { ok: true }
    },
  })
  const limited = defineTool({
    name: limitedTool,
    description: 'Pays a little, so often for each customer',
    effect: 'write',
    idempotent: true,
    limits: [
      { per: 'customer', every: 'month', atMost: 2 },
      { per: 'tenant', every: 'month', sum: 'amount', atMost: 1_000_000 },
    ],
    input: customer.extend({ amount: z.number().min(0) }),
    output: done,
    async run(_input, { executionId, idempotencyKey }) {
      await sleep(random() * callMs)
      // What it took of its limits is given back, and taken again by the next attempt.
      if (random() < faltersAt) throw new ToolFailed('it falters')
      note({ tool: limitedTool, executionId, idempotencyKey })
      await sleep(random() * callMs)
      return { ok: true }
    },
  })
  return [look, roll, falter, limited, write('pay_once', true), write('post_letter', false)]
}

export function isPoison(customerId: string): boolean {
  return customerId.startsWith('poison-')
}

export function readWorld(worldFile: string): readonly WorldCall[] {
  return readFileSync(worldFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
