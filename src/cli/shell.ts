import { userInfo } from 'node:os'
import { type Config, readConfig } from '../config/config.ts'
import { type AppContext, findFolderServer, openContext } from '../context.ts'
import { hasTenant } from '../db/queries/health.ts'
import type { Definition } from '../domain/definition.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Json } from '../domain/json.ts'
import { type Principal, roles } from '../domain/principal.ts'
import type { Problem } from '../domain/problem.ts'
import type { Scenario } from '../domain/scenario.ts'
import { admitWithoutKey, authenticate } from '../operations/authenticate.ts'
import type { Caller, Operation } from '../operations/define.ts'
import type { Meter } from '../telemetry/meter.ts'
import { callFolderServer } from './folder-server.ts'
import { freeLeft } from './left-runs.ts'
import type { Terminal } from './terminal.ts'

/** A text that was read: its value, and where in the text a problem of the value lies. */
export interface ReadText {
  /** The text itself, to be kept with its comments; undefined for JSON, which has none. */
  readonly source: string | undefined
  readonly value: Json
  readonly locate: <P extends Problem>(problems: readonly P[]) => readonly P[]
}

/** What became of the index of one model. */
export interface IndexedExperiences {
  readonly model: string
  readonly status: 'made' | 'rebuilt' | 'there' | 'not_worth_it' | 'too_wide'
  readonly seconds: number
}

/** The concrete parts that commands need besides the operations. */
export interface Parts {
  /** Reads YAML or JSON, as src/documents/read-document.ts does. */
  readonly readDocument: (text: string, name: string) => ReadText
  /** Writes a definition as YAML. */
  readonly writeDefinition: (definition: Definition) => string
  /** Writes the scenarios of a procedure as a scenario file in YAML. */
  readonly writeScenarios: (procedureKey: string, scenarios: readonly Scenario[]) => string
  /** Migrates and answers the names of what it applied. */
  readonly migrateDatabase: (
    database: Config['database'],
    onApprovals: (change: { readonly before: number; readonly after: number }) => void,
  ) => Promise<readonly string[]>
  /** Makes the indexes of experiences, as the login of the database's URL, and answers what became of each. */
  readonly indexExperiences: (
    database: Config['database'],
    options: {
      readonly model?: string | undefined
      readonly anyway: boolean
      readonly rebuild: boolean
      readonly memory?: string | undefined
      readonly links?: number | undefined
      readonly breadth?: number | undefined
    },
    told: { readonly tell: (line: string) => void; readonly warn: (line: string) => void },
  ) => Promise<readonly IndexedExperiences[]>
  /** Turns an error of a driver or a disk into one of ours, and leaves any other as it is. */
  readonly explainError: (error: unknown, database: Config['database']) => unknown
}

const defaultAfterInterrupt =
  "Nothing is lost: a run that was going on is carried on by 'stepwarden worker', and on a data folder by the next command that runs a playbook."

export interface ShellOptions {
  readonly terminal: Terminal
  readonly parts: Parts
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
}

/**
 * What commands work with: the configuration, read when it is first needed; the database, opened when it is first
 * needed; the local person; and where answers go.
 */
export class Shell implements AsyncDisposable {
  readonly terminal: Terminal
  readonly parts: Parts
  readonly environment: ShellOptions['environment']
  /** Commands are typed into a session, where they begin with a slash. */
  isSession = false
  /** Somebody has asked for the end of it: nobody waits for long then. */
  isInterrupted = false
  /** What to tell a person who interrupts what is going on now. */
  afterInterrupt = defaultAfterInterrupt
  /** What counts, in a process that shows it to others. */
  meter: Meter | undefined
  readonly #workingDirectory: string
  #config: Config | undefined
  #opening: Promise<AppContext> | undefined
  #closing: Promise<void> | undefined
  #interrupt: (() => void) | undefined

  constructor({ terminal, parts, environment, workingDirectory }: ShellOptions) {
    this.terminal = terminal
    this.parts = parts
    this.environment = environment
    this.#workingDirectory = workingDirectory
  }

  /** @throws ServiceError `CONFIG_INVALID` */
  get config(): Config {
    this.#config ??= readConfig(this.environment, this.#workingDirectory)
    return this.#config
  }

  /**
   * Who acts: whom the key of the configuration lets in, or else the person at this machine, whom nothing but the rights
   * to files and database has checked.
   *
   * @throws ServiceError `KEY_REFUSED`; `KEY_MISSING` on a server whose tenant has an admin with a key.
   */
  async principal(app: AppContext): Promise<Principal> {
    const { key, tenantId } = this.config
    if (key !== undefined) return authenticate(app, key.reveal())
    await admitWithoutKey(app, tenantId)
    return localPerson(tenantId)
  }

  /**
   * Has what happens counted from then on, for a process that shows it to others: where the configuration says so, or at
   * this port. To be called before the database is opened.
   */
  async measure(port: number | undefined): Promise<void> {
    const { config } = this
    const metrics = {
      host: '127.0.0.1',
      ...config.telemetry?.metrics,
      ...(port !== undefined && { port }),
    }
    if (metrics.port === undefined && metrics.token === undefined) return
    this.#config = { ...config, telemetry: { ...config.telemetry, metrics } }
    // Loaded only here: most commands count nothing.
    const { createPrometheusMeter } = await import('../telemetry/prometheus-meter.ts')
    this.meter = createPrometheusMeter()
  }

  /** For a deployment that nobody has made yet: `requiredApprovals` holds unless the environment says otherwise. */
  requireApprovals(requiredApprovals: number): void {
    const { config } = this
    this.#config = { ...config, database: { requiredApprovals, ...config.database } }
  }

  /** The database and all that works on it. No run is carried on by that: see `carryOnLeft`. */
  async app(): Promise<AppContext> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /**
   * The same without looking for the tenant, and with every run as it is: for those who look after all tenants.
   *
   * @throws ServiceError what `openContext` throws.
   */
  async bareApp(): Promise<AppContext> {
    this.#opening ??= openContext(this.config, this.#contextOptions)
    return this.#opening
  }

  /**
   * For a command that goes on until it is stopped: resolves when the person asks for that, and leaves it to the command
   * to end well. Without a command that waits for it, an interruption ends the process.
   */
  untilInterrupted(): Promise<void> {
    return new Promise((resolve) => {
      this.#interrupt = resolve
    })
  }

  /** Tells the command that it is to end; false when it does not wait for that, or was told already. */
  interrupt(): boolean {
    this.isInterrupted = true
    const interrupt = this.#interrupt
    this.#interrupt = undefined
    interrupt?.()
    return interrupt !== undefined
  }

  /** Whether another process has the data folder open, and carries out what is called here. */
  get isServed(): boolean {
    return this.#opening === undefined && findFolderServer(this.config.database) !== undefined
  }

  /** Has an operation carried out: here, or by the process that serves the data folder. */
  async call<I, O>(
    operation: Operation<I, O>,
    input: unknown,
    onSteps?: Caller['onSteps'],
    onProgress?: Caller['onProgress'],
  ): Promise<O> {
    const { database, key } = this.config
    const server = this.#opening === undefined ? findFolderServer(database) : undefined
    if (server !== undefined) return callFolderServer(server, operation, input, key?.reveal())
    const app = await this.app()
    const principal = await this.principal(app)
    const listeners = { ...(onSteps && { onSteps }), ...(onProgress && { onProgress }) }
    return operation.invoke(app, { principal, origin: 'cli', ...listeners }, input)
  }

  /** Does something of which a person who interrupts it is told how it goes on. */
  async interruptible<T>(afterInterrupt: string, run: () => Promise<T>): Promise<T> {
    this.afterInterrupt = afterInterrupt
    try {
      return await run()
    } finally {
      this.afterInterrupt = defaultAfterInterrupt
    }
  }

  /** An error as people should see it: what a driver or a disk said becomes one of ours where it is known. */
  explain(error: unknown): unknown {
    if (isServiceError(error) || this.#config === undefined) return error
    return this.parts.explainError(error, this.#config.database)
  }

  /** Whoever asks for it again waits for the same. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    // What failed to open has told so, and has nothing to close.
    const app = await opening?.catch(() => undefined)
    await app?.[Symbol.asyncDispose]()
  }

  get #contextOptions() {
    return this.meter === undefined ? {} : { meter: this.meter }
  }

  async #open(): Promise<AppContext> {
    const { tenantId } = this.config
    const app = await openContext(this.config, this.#contextOptions)
    try {
      if (!(await hasTenant(app.database, tenantId))) {
        throw new ServiceError('TENANT_NOT_FOUND', { tenantId })
      }
      // One process has the folder, so whatever another had is nobody's.
      if (app.database.kind === 'pglite') await freeLeft(app)
      return app
    } catch (error) {
      await app[Symbol.asyncDispose]()
      throw error
    }
  }
}

/** Who works on a folder that they may write: all roles, and no approval of theirs counts. */
export function localPerson(tenantId: string): Principal {
  return { id: userName(), kind: 'human', roles, groups: [], tenantId, unauthenticated: true }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user that has no name.
    return 'local'
  }
}
