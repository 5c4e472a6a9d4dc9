import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'

/** The tools of a service whose only tool throws where nobody can catch it, and ends the process. */
export const tools = [
  defineTool({
    name: 'falls',
    description: 'Falls, and takes its process along.',
    effect: 'read',
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    run() {
      setTimeout(() => {
        throw new Error('thrown where nobody can catch it')
      }, 10)
      return new Promise(() => {})
    },
  }),
]
