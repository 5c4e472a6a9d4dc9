import { z } from 'zod'
import { connectStepwarden } from '../../src/client/index.ts'
import type { AppContext } from '../../src/context.ts'
import { defineTool } from '../../src/domain/define-tool.ts'
import { ToolRefused } from '../../src/domain/tool.ts'
import type { GuidedClient } from '../../src/guided/options.ts'
import type { Client } from '../../src/library.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { keyFor, openTestDoor } from '../support/http.ts'

const readMeter = defineTool({
  name: 'read_meter',
  description: 'Reads what a meter shows.',
  effect: 'read',
  input: z.object({ meter: z.string() }),
  output: z.object({ state: z.enum(['stuck', 'well']) }),
  run: async ({ meter }) => {
    if (meter === 'MTR-999') throw new ToolRefused('there is no such meter')
    return { state: 'stuck' as const }
  },
})
const resetMeter = defineTool({
  name: 'reset_meter',
  description: 'Resets a meter.',
  effect: 'write',
  idempotent: true,
  input: z.object({ meter: z.string() }),
  output: z.object({ reset: z.boolean() }),
  run: async () => ({ reset: true }),
})
const meterTools = [readMeter, resetMeter]

export const meterKey = 'METER_PLAYBOOK'
export const meterDefinition = {
  key: meterKey,
  name: 'Stuck Meter',
  description: 'Resets a meter that is stuck.',
  issuePatterns: ['meter is stuck', 'reset my meter', 'my meter shows nothing'],
  input: {
    type: 'object',
    required: ['meter'],
    properties: {
      meter: { type: 'string', pattern: '^MTR-[0-9]{3}$', description: 'the number of your meter' },
    },
  },
  steps: [
    { key: 'look', action: 'Look', tool: 'read_meter', with: { meter: '{{input.meter}}' } },
    { key: 'never', action: 'Never', when: "input.meter == ''", compute: { x: '1' } },
    {
      ...{ key: 'reset', action: 'Reset', tool: 'reset_meter' },
      with: { meter: '{{input.meter}}' },
    },
  ],
  completionConditions: [{ text: 'It was reset', when: 'steps.reset.output.reset' }],
  replies: { resolved: 'Your meter {{input.meter}} was reset.' },
}
export const meterTask = 'My meter is stuck, please reset my meter MTR-101'

export interface World {
  readonly app: AppContext
  readonly client: Client
}

/** The service with an agent's client of it: one of this process, or one of a server. */
export async function openWorld(door: 'library' | 'http', options = {}): Promise<World> {
  const { app } = await openTestApp({ tools: meterTools, ...options })
  if (door === 'library') return { app, client: clientOf(app, 'bot') }
  const { url } = await openTestDoor(app)
  let key: string | undefined
  const client = connectStepwarden({
    url,
    key: async () => {
      key ??= await keyFor(app, 'bot', ['agent'], { kind: 'ai' })
      return key
    },
  })
  return { app, client }
}

/** As the library makes it. */
function clientOf(app: AppContext, id: string): Client {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (input: unknown) => operation.invoke(app, callerOf(id, ['agent']), input),
    ]),
  ) as unknown as Client
}

/** Everything that the guided agent asks for, with some of it failing. */
export function failing(client: Client, ...names: (keyof GuidedClient)[]): GuidedClient {
  const down = () => Promise.reject(new Error('it is down'))
  return { ...client, ...Object.fromEntries(names.map((name) => [name, down])) }
}

export async function activateMeter(app: AppContext, seenActive: number | null = null) {
  const admin = callerOf()
  const versionNumber = (seenActive ?? 0) + 1
  const definition = { ...meterDefinition, successCriteria: `Reset, as of ${versionNumber}` }
  if (seenActive === null) await operations.createProcedure.invoke(app, admin, { definition })
  else {
    await operations.createVersion.invoke(app, admin, { procedureKey: meterKey, definition })
  }
  await operations.activateVersion.invoke(app, admin, {
    ...{ procedureKey: meterKey, versionNumber, seenActive },
  })
}
