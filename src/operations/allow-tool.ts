import { z } from 'zod'
import { getStoppableTool } from './find-stoppable.ts'
import { toolName } from './shapes.ts'
import { defineAllow } from './switch-operations.ts'

/** Lets what uses a tool that was stopped be started again; the executions that were held for it go on. */
export const allowTool = defineAllow('allowTool', {
  kind: 'tool',
  summary: 'Let a tool that was stopped be used again',
  input: z.strictObject({ tool: toolName }),
  errors: ['TOOL_NOT_FOUND'],
  find: getStoppableTool,
})
