import { existsSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'

const started = process.env.SLOW_TOOL_STARTED ?? ''

/** The tools of a service whose only tool hangs until it is called a second time. */
export const tools = [
  defineTool({
    name: 'look_up',
    description: 'Looks something up, and never comes back the first time.',
    effect: 'read',
    input: z.object({}),
    output: z.object({ found: z.boolean() }),
    async run() {
      if (existsSync(started)) return { found: true }
      writeFileSync(started, '')
      process.stdout.write('the tool is at work\n')
      // Node would end a process that waits for nothing but a promise.
      return new Promise(() => setInterval(() => {}, 1_000))
    },
  }),
]
