import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Tool } from '../../src/domain/tool.ts'

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

/**
 * The tools of the runs: a read, a write that may be repeated with its key, and one that may not. `isPoison` tells a
 * customer whose runs kill the process that works on them.
 */
export function createTools(worldFile: string, random: () => number): readonly Tool[] {
  const customer = z.object({ customerId: z.string() })
  const done = z.object({ ok: z.boolean() })
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
        appendFileSync(
          worldFile,
          `${JSON.stringify({ tool: name, executionId, idempotencyKey })}\n`,
        )
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
  return [look, write('pay_once', true), write('post_letter', false)]
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

const call = (key: string, tool: string) => ({
  key,
  action: `Call ${tool}`,
  tool,
  with: { customerId: '{{input.customerId}}' },
})

const steps: Readonly<Record<string, readonly object[]>> = {
  // Whatever happens, each of these ends resolved.
  CHAOS_REPEATABLE: [
    call('look_first', 'look_up'),
    call('pay', 'pay_once'),
    call('look_again', 'look_up'),
    {
      ...call('pay_more', 'pay_once'),
      when: 'steps.look_again.output.ok',
    },
  ],
  // Of these, the ones whose letter is in doubt end with a person.
  CHAOS_UNREPEATABLE: [
    call('look_first', 'look_up'),
    call('post', 'post_letter'),
    call('look_again', 'look_up'),
    call('pay', 'pay_once'),
  ],
}

/** The procedures of the runs, by key. */
export const definitions: ReadonlyMap<string, object> = new Map(
  Object.entries(steps).map(([key, list]) => [
    key,
    {
      key,
      name: key,
      description: 'A run that is disturbed.',
      issuePatterns: ['disturb this', 'break this', 'kill this', 'try this'],
      input: {
        type: 'object',
        required: ['customerId'],
        properties: { customerId: { type: 'string', description: 'Customer' } },
      },
      steps: list,
      completionConditions: [{ text: 'The customer is known', when: 'has(input.customerId)' }],
    },
  ]),
)
