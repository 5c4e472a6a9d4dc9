/**
 * Stepwarden as an engine of the peer harness (PEERS_EXTRA): the harness's tool as the six steps of a playbook, with
 * everything on as in production. `stepwarden-step` commits each step, `stepwarden-effect` lets reads share commits.
 *
 * STEPWARDEN_PEERS names the harness's folder. PEERS_TENANTS is how many tenants executions go to in turn, default 1.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { migrateDatabase } from '../../src/db/connect.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Playbook } from '../executor/playbook.ts'
import { openStepwarden } from '../executor/stepwarden.ts'

/** What is used of the harness's lib.mjs. */
interface Harness {
  readonly STEPS: number
  readonly PG_URL: string
  readonly tool: (step: number, execution: number) => Promise<z.output<typeof answer>>
}

const answer = z.object({
  step: z.number(),
  exec: z.number(),
  ok: z.boolean(),
  tool: z.string(),
  note: z.string(),
  ref: z.string(),
})

/** One engine of the harness; `runOne` resolves when the completed state of one execution is durable. */
export async function start({ engine, c }: { readonly engine: string; readonly c: number }) {
  const harness: Harness = await import(
    pathToFileURL(join(process.env.STEPWARDEN_PEERS ?? '.', 'lib.mjs')).href
  )
  // In the harness's own database, because that is the one whose commits and log it counts.
  await migrateDatabase({ url: harness.PG_URL, requiredApprovals: 0 })
  const tenants = Number(process.env.PEERS_TENANTS ?? '1')
  const service = await openStepwarden(harness.PG_URL, c, tenants, playbookOf(harness))
  const found = service.engines.find(({ name }) => engine === `stepwarden-${name}`)
  if (found === undefined) {
    await service[Symbol.asyncDispose]()
    throw new Error(`unknown engine ${engine}: expected stepwarden-step or stepwarden-effect`)
  }
  return { runOne: found.runOne, stop: () => service[Symbol.asyncDispose]() }
}

/** A playbook that asks as little as the other engines: the steps, and the input that raw-b stores. */
function playbookOf({ STEPS, tool }: Harness): Playbook {
  const lookUp = defineTool({
    name: 'look_up_customer',
    description: 'Looks a customer up.',
    effect: 'read',
    input: z.object({ step: z.number(), exec: z.number() }),
    output: answer,
    run: ({ step, exec }) => tool(step, exec),
  })
  const definition = {
    key: 'PEERS_PLAYBOOK',
    name: 'Peers',
    description: 'Six reads, as every engine of the harness makes them.',
    category: 'bench',
    issuePatterns: ['six reads', 'peers playbook', 'run the harness', 'compare the engines'],
    input: {
      type: 'object',
      required: ['ticket'],
      properties: {
        ticket: { type: 'integer', description: 'Number of the execution' },
        customer: { type: 'string', description: 'Customer id' },
        reason: { type: 'string', description: 'What the ticket is about' },
      },
    },
    steps: Array.from({ length: STEPS }, (_, index) => ({
      key: `step_${index + 1}`,
      action: `Step ${index + 1}`,
      tool: lookUp.contract.name,
      with: { step: index + 1, exec: '{{input.ticket}}' },
    })),
    completionConditions: [
      { text: 'The last step was done', when: `steps.step_${STEPS}.output.ok` },
    ],
  }
  const inputOf = (index: number) => ({
    ticket: index,
    customer: `cust-${index % 997}`,
    reason: 'refund requested',
  })
  return { tool: lookUp, definition, inputOf }
}
