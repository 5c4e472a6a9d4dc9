import { Writable } from 'node:stream'
import type { AppContext } from '../context.ts'
import type { Principal } from '../domain/principal.ts'
import { startWorking } from '../operations/work.ts'
import type { Command } from './command.ts'
import { usageError } from './failures.ts'
import type { Shell } from './shell.ts'

export const mcp: Command = {
  path: 'mcp',
  summary: 'Serve AI agents over the Model Context Protocol, on standard input and output',
  notes: `An MCP client starts it, as its configuration says (docs/mcp.md). It offers what agents do, and no administrative act.

It acts as the key in STEPWARDEN_KEY. Without one it acts, where the command line does, as an AI agent in the name of the
local person. On a data folder it also carries on the runs that nobody has; on a server that is for workers to do.

It ends with the input, after what it was asked for before has been answered, for up to ten seconds. At SIGTERM each run
finishes the step that it is at and is given back, for whoever opens the folder next, or a worker.`,
  async run(shell) {
    if (shell.isSession) {
      throw usageError(
        "'mcp' speaks to a program.",
        'Have an MCP client start it, outside sessions.',
      )
    }
    const stopped = shell.untilInterrupted()
    const output = takeStandardOutput()
    try {
      const app = await Promise.race([shell.app(), stopped])
      if (app !== undefined) await serve(shell, app, output.protocol, stopped)
    } finally {
      output.giveBack()
    }
    return { output: null, screen: '', isShown: true }
  },
}

async function serve(
  shell: Shell,
  app: AppContext,
  output: Writable,
  stopped: Promise<void>,
): Promise<void> {
  const identify = () => agentOf(shell, app)
  // A key that lets nobody in is told at once, and not at the first call.
  await identify()
  // Nobody else could work on a folder that this process has.
  const working = app.database.kind === 'pglite' ? startWorking(app) : undefined
  // At once, lest it takes up again what gives itself back.
  void stopped.then(() => working?.stop())
  try {
    // Loaded only here: what it is made of takes half a second that no other command needs.
    const { serveStdio } = await import('../mcp/stdio.ts')
    await serveStdio(app, identify, {
      ...{ input: process.stdin, output, stopped },
      explain: (error) => shell.explain(error),
    })
  } finally {
    await working?.stop()
  }
}

/**
 * Who acts. Whoever speaks this protocol without a key of its own is a program, whoever has started it: the record says so,
 * it has the role of an agent alone, and gives no approval that is for people.
 */
async function agentOf(shell: Shell, app: AppContext): Promise<Principal> {
  const principal = await shell.principal(app)
  if (principal.unauthenticated !== true) return principal
  return { ...principal, kind: 'ai', roles: ['agent'] }
}

/**
 * Keeps standard output for the protocol: what tools of the deployment print there would break it, so it goes to standard
 * error.
 */
function takeStandardOutput(): { readonly protocol: Writable; readonly giveBack: () => void } {
  const { write } = process.stdout
  const protocol = new Writable({
    write(chunk, _encoding, done) {
      // A client that is gone reads nothing any more, and is no error: its end of the input ends this.
      write.call(process.stdout, chunk, undefined, () => done())
    },
  })
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    protocol,
    giveBack() {
      process.stdout.write = write
    },
  }
}
