import type { ProgressToken, ServerNotification } from '@modelcontextprotocol/sdk/types.js'
import { isStepEnded, nameOf } from '../domain/execution.ts'
import type { Caller } from '../operations/define.ts'

/**
 * Tells a client that asked for it of each step of a run, once it has ended or waits: its key and how it ended, never what
 * went in or came out. Undefined for a client that did not ask.
 */
export function stepsAsProgress(
  token: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): Caller['onSteps'] {
  if (token === undefined) return undefined
  const told = new Set<string>()
  return (rows) => {
    for (const row of rows) {
      if (!isStepEnded(row.status) && row.status !== 'waiting') continue
      const message = `${nameOf(row)}: ${row.status}`
      if (told.has(message)) continue
      told.add(message)
      const params = { progressToken: token, progress: told.size, message }
      // Whoever does not listen any more has no part in what becomes of the run.
      send({ method: 'notifications/progress', params }).catch(() => {})
    }
  }
}
