import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { AppContext } from '../context.ts'
import { createMcpServer, type Identify } from './server.ts'
import type { Explain } from './tool-failure.ts'
import { Underway } from './underway.ts'

export interface StdioOptions {
  readonly input: Readable
  readonly output: Writable
  /** Resolves when the service is asked to end; the end of the input ends it as well. */
  readonly stopped: Promise<void>
  readonly explain?: Explain
  /** How long what is under way may still take then, and once more to reach its next step; milliseconds, default 10,000. */
  readonly graceMs?: number
}

/**
 * Serves one client over a pair of streams until its input ends or `stopped`. What it asked for before is answered first;
 * a run that takes longer is safe in its journal.
 */
export async function serveStdio(
  app: AppContext,
  identify: Identify,
  { input, output, stopped, explain, graceMs = 10_000 }: StdioOptions,
): Promise<void> {
  const underway = new Underway()
  const server = createMcpServer(app, identify, { underway, ...(explain && { explain }) })
  const closed = new Promise<void>((resolve) => {
    // The transport closes itself where what comes in is no protocol.
    server.server.onclose = resolve
  })
  const ended = Promise.race([once(input, 'end'), once(input, 'close')])
  await server.connect(new StdioServerTransport(input, output))
  await Promise.race([ended, closed, stopped])
  // A client that has said all it wants to is still answered; one that stops the service has runs give themselves back.
  await Promise.race([underway.settled(graceMs), stopped])
  underway.stop()
  await underway.settled(graceMs)
  await server.close()
}
