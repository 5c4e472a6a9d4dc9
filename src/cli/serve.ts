import { randomBytes } from 'node:crypto'
import { createGate } from '../access/gate.ts'
import { type AppContext, announceFolderServer } from '../context.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Principal } from '../domain/principal.ts'
import type { HttpOptions, HttpServer } from '../http/server.ts'
import { makeFirstKey } from '../operations/first-key.ts'
import { startWorking } from '../operations/work.ts'
import type { Command } from './command.ts'
import { examinePlaybooks } from './doctor.ts'
import { metricsOption, openMetrics } from './metrics-port.ts'
import { localPerson, type Shell } from './shell.ts'

export const serve: Command = {
  path: 'serve',
  summary: 'Open the HTTP door, and work on runs, until it is stopped',
  options: [
    {
      usage: '--host <HOST>',
      text: 'the address to listen at (default: STEPWARDEN_HOST, else 127.0.0.1)',
    },
    {
      usage: '--port <PORT>',
      text: 'the port, 0 for any that is free (default: STEPWARDEN_PORT, else 7420)',
    },
    { usage: '--concurrency <N>', text: 'how many runs at once it works on, from 1 (default 16)' },
    metricsOption,
    { usage: '--no-work', text: 'leave the runs that nobody has to workers' },
  ],
  notes: `/docs describes the API, /openapi.json the same for programs. Every request shows a key: 'stepwarden keys create' makes one. On
a new data folder the first admin and their key are made, and the key is shown this once.

It speaks plain HTTP: what comes from other machines belongs behind a proxy that does TLS. Any number of processes may serve
one PostgreSQL. Ctrl-C or SIGTERM takes no more requests, ends event streams, lets each run finish the step that it is at,
and gives the runs back. A second one ends it at once, and loses nothing either.`,
  async run(shell, given) {
    const { terminal, config } = shell
    const { host, port, corsOrigins, trustedProxies } = config.http
    const at = { host: given.find('host') ?? host, port: given.port('port') ?? port }
    const interrupted = shell.untilInterrupted()
    await shell.measure(given.port('metrics-port'))
    const app = await Promise.race([shell.app(), interrupted])
    if (app === undefined) {
      return { output: { address: null }, screen: 'Stopped before it was there.' }
    }
    // Whoever runs the deployment: a server needs no key of anybody.
    const person = localPerson(config.tenantId)
    const { status, text } = await examinePlaybooks(app, person)
    if (status === 'fail') terminal.notice(`Look out: ${text}.`)
    await using _metrics = await openMetrics(shell)
    const token = randomBytes(32).toString('base64url')
    const door = await openDoor(app, {
      database: config.database,
      corsOrigins,
      trustedProxies,
      gate: createGate({ rateLimit: config.access?.rateLimit }),
      metricsToken: config.telemetry?.metrics.token,
      ...(app.database.kind === 'pglite' && {
        local: { token, person },
      }),
    })
    const address = await listen(door, at)
    announceFolderServer(config.database, { address: localAddress(address), token })
    const working = given.has('no-work')
      ? undefined
      : startWorking(app, { concurrency: given.number('concurrency') })
    await tellFirstKey(shell, app, person)
    terminal.notice(
      `Stepwarden serves ${address}, and describes itself at ${address}/docs. Ctrl-C stops it.`,
    )
    await interrupted
    await Promise.all([door.close(), working?.stop()])
    return {
      output: { address },
      screen: 'Stopped. What was accepted is answered, or in the record.',
    }
  },
}

/** Where a command of this machine reaches what listens at all addresses. */
function localAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

async function listen(
  door: HttpServer,
  at: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await door.listen(at)
  } catch (error) {
    if (isServiceError(error)) throw error
    const problem = error instanceof Error ? error.message : String(error)
    throw new ServiceError('ADDRESS_UNUSABLE', { ...at, problem }, { cause: error })
  }
}

/**
 * Loaded only here: what it is made of takes half a second that no other command needs. It is a function of its own, because the
 * compiler leaves the path of an import as it is beside `await using`.
 */
async function openDoor(app: AppContext, options: HttpOptions): Promise<HttpServer> {
  const { createHttpServer } = await import('../http/server.ts')
  return createHttpServer(app, options)
}

/** On an embedded folder nobody else could make one. It goes to the terminal and nowhere else. */
async function tellFirstKey(shell: Shell, app: AppContext, person: Principal): Promise<void> {
  let key: Awaited<ReturnType<typeof makeFirstKey>>
  try {
    key = await makeFirstKey(app, person)
  } catch (error) {
    // Whoever has shut the first admin out may mean it: the door opens all the same, for those who have keys.
    if (!isServiceError(error, 'PRINCIPAL_DISABLED')) throw error
    shell.terminal.notice(`Look out: nobody is admin here. ${error.message}`)
    return
  }
  if (key === undefined) return
  shell.terminal.notice(
    `The first admin is '${key.principalId}'. Their key, which is shown this once:\n\n  ${key.key}\n`,
  )
}
