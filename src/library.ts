import type { z } from 'zod'
import { type OidcOptions, readOidcOptions } from './config/access.ts'
import { type DatabaseConfig, type ModelOptions, readModelOptions } from './config/config.ts'
import { type AppContext, type ContextOptions, explainFailure, openContext } from './context.ts'
import { isServiceError, ServiceError } from './domain/errors.ts'
import type { StepRow } from './domain/execution.ts'
import type { Principal } from './domain/principal.ts'
import { createLogger, type Logger } from './logger.ts'
import { authenticate } from './operations/authenticate.ts'
import { carryOnAll } from './operations/carry-out.ts'
import type { Operation } from './operations/define.ts'
import { operations } from './operations/registry.ts'
import { startWorking, type Working, type WorkOptions } from './operations/work.ts'

/** What a service is made of. */
export interface StepwardenOptions extends ContextOptions, ModelOptions {
  /** `{ url }` of a PostgreSQL that was migrated, or `{ dataDir }` of an embedded database, made as needed. */
  readonly database: DatabaseConfig
  /**
   * Whether the runs that nobody has, of all tenants, are carried on before the service is there: default on an embedded
   * database, where no other process could, and not on a server, where its workers do.
   */
  readonly recover?: boolean
  /** Whose tokens `withKey` takes as well; default nobody's. The `STEPWARDEN_OIDC_…` variables say the same to `serve`. */
  readonly oidc?: OidcOptions
  /** Default `silent`. */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'
}

type Operations = typeof operations

/** Every operation as a method, for one principal: raw input in, output out, `ServiceError` thrown. */
export type Client = {
  readonly [Name in keyof Operations]: (
    input: z.input<Operations[Name]['input']>,
  ) => Promise<z.output<Operations[Name]['output']>>
}

/** The service, embedded in an application. */
export interface Stepwarden extends AsyncDisposable {
  /** The operations as one principal may call them. `onSteps` is told of the steps of runs as they are committed. */
  as(principal: Principal, onSteps?: (rows: readonly StepRow[]) => void): Client
  /**
   * The operations as whoever shows this key, or this token of the issuer, looked up anew at each call.
   *
   * @throws ServiceError `KEY_REFUSED`, and of a token `ISSUER_UNAVAILABLE`, from each of them.
   */
  withKey(key: string, onSteps?: (rows: readonly StepRow[]) => void): Client
  /** Carries on the runs that nobody has, of all tenants, each once, and answers their ids. */
  recover(): Promise<readonly string[]>
  /**
   * Works on the runs that nobody has until it is stopped, as `stepwarden worker` does. Once at a time; stop it before
   * you close.
   *
   * @throws ServiceError `REQUEST_INVALID` when it works already, is closed, or the options are none.
   */
  work(options?: WorkOptions): Working
}

/**
 * Opens the service in this process: the same operations as at every other door, as typed functions. Close it with
 * `await using`, or by its `Symbol.asyncDispose`.
 *
 * @throws ServiceError `DATABASE_UNAVAILABLE`, `DATABASE_NOT_READY`, `SCHEMA_OUTDATED`, `SCHEMA_NEEDS_NEWER_CODE`,
 *   `DATA_FOLDER_IN_USE`, `DATA_FOLDER_UNUSABLE`, `TOOLS_INVALID`, `CONFIG_INVALID`.
 */
export async function createStepwarden(options: StepwardenOptions): Promise<Stepwarden> {
  const {
    database,
    recover = !('url' in database),
    logLevel = 'silent',
    openai,
    embeddingModel,
    embeddingDimensions,
    oidc,
    ...rest
  } = options
  const models = readModelOptions({
    ...(openai && { openai }),
    ...(embeddingModel !== undefined && { embeddingModel }),
    ...(embeddingDimensions !== undefined && { embeddingDimensions }),
  })
  const access = oidc === undefined ? {} : { access: { oidc: readOidcOptions(oidc) } }
  const rim = rimOf(database, createLogger(logLevel))
  const app = await rim(() =>
    openContext({ database, tenantId: 'default', logLevel, ...models, ...access }, rest),
  )
  try {
    if (recover) await rim(() => carryOnAll(app))
  } catch (error) {
    await app[Symbol.asyncDispose]()
    throw error
  }
  let isOpen = true
  let isWorking = false
  const work = (options?: WorkOptions): Working => {
    if (!isOpen || isWorking) {
      const message = isOpen ? 'this process works already; stop that first' : 'it is closed'
      throw new ServiceError('REQUEST_INVALID', {
        operation: 'work',
        problems: [{ path: '', message }],
      })
    }
    const working = startWorking(app, options)
    isWorking = true
    return {
      ...working,
      async stop(graceMs) {
        await working.stop(graceMs)
        isWorking = false
      },
    }
  }
  return {
    as: (principal, onSteps) => clientOf(app, rim, async () => principal, onSteps),
    withKey: (key, onSteps) => clientOf(app, rim, () => authenticate(app, key), onSteps),
    recover: () => rim(() => carryOnAll(app)),
    work,
    async [Symbol.asyncDispose]() {
      isOpen = false
      await app[Symbol.asyncDispose]()
    },
  }
}

type Rim = <T>(run: () => Promise<T>) => Promise<T>

/** Where whatever fails becomes an error of ours, the one of the driver its cause. */
function rimOf(database: DatabaseConfig, log: Logger): Rim {
  return async (run) => {
    try {
      return await run()
    } catch (error) {
      const explained = explainFailure(error, database)
      if (isServiceError(explained)) throw explained
      log.error({ err: error }, 'an unexpected error')
      throw new ServiceError('INTERNAL', {}, { cause: error })
    }
  }
}

function clientOf(
  app: AppContext,
  rim: Rim,
  identify: () => Promise<Principal>,
  onSteps: ((rows: readonly StepRow[]) => void) | undefined,
): Client {
  const invoke = async (operation: Operation, input: unknown) => {
    const caller = { principal: await identify(), origin: 'library', onSteps } as const
    return operation.invoke(app, caller, input)
  }
  // Each entry is made from the operation of its own name, which the compiler cannot follow through `fromEntries`.
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (input: unknown) => rim<unknown>(() => invoke(operation, input)),
    ]),
  ) as unknown as Client
}
