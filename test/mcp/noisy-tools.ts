import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'

console.log('the tools are loaded')

/** The tools of a service whose only tool takes a moment, and prints where the protocol is spoken. */
export const tools = [
  defineTool({
    name: 'send',
    description: 'Sends something.',
    effect: 'write',
    idempotent: true,
    input: z.object({}),
    output: z.object({ sent: z.boolean() }),
    async run() {
      console.log('the tool is at work')
      await setTimeout(1_000)
      process.stdout.write('the tool has done its work\n')
      return { sent: true }
    },
  }),
]
