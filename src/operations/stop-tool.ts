import { z } from 'zod'
import { getStoppableTool } from './find-stoppable.ts'
import { toolName } from './shapes.ts'
import { defineStop, stopReason } from './switch-operations.ts'

/**
 * Stops a tool at once: no procedure starts that uses it or may call one that does, and the executions of those that use it
 * begin no further write and are paused.
 */
export const stopTool = defineStop('stopTool', {
  kind: 'tool',
  summary: 'Stop a tool at once: no start, and no further write, of what uses it',
  input: z.strictObject({ tool: toolName, reason: stopReason }),
  errors: ['TOOL_NOT_FOUND'],
  find: getStoppableTool,
})
