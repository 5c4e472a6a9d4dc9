import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DestinationStream } from 'pino'
import { createDeskTools } from '../seeds/desk-tools.ts'
import { createTokenReader, type TokenReader } from './access/tokens.ts'
import type { AuditConfig, Config } from './config/config.ts'
import { type Database, type DatabaseConfig, openDatabase } from './db/connect.ts'
import { announceServer, type FolderServer, findServer } from './db/data-folder-lock.ts'
import { databaseName, explainOutage, isOutage } from './db/database-errors.ts'
import { createJournal } from './db/journal.ts'
import { createDeskStore, type DeskStore } from './db/queries/desk.ts'
import { insertEmbeddingModels } from './db/queries/embedding-models.ts'
import { countUnattended, listFigures } from './db/queries/health.ts'
import { createServerClock } from './db/server-clock.ts'
import { serviceVersion } from './db/service-version.ts'
import { UseCounts } from './db/use-counts.ts'
import { registerWorker, type Worker } from './db/workers.ts'
import type { CheckpointKey } from './domain/checkpoint.ts'
import { ServiceError } from './domain/errors.ts'
import type { Id } from './domain/ids.ts'
import type { Tool } from './domain/tool.ts'
import { createToolRegistry, type ToolRegistry } from './domain/tool-registry.ts'
import { createPlanCache, type PlanCache } from './executor/plan-cache.ts'
import type { Boundary, Clock, Journal } from './executor/ports.ts'
import { createLogger, type Logger } from './logger.ts'
import type { ReplyModel, ReplyModelTimeouts } from './reply/model.ts'
import { withRest } from './reply/resting-model.ts'
import { withWarnings } from './reply/warning-model.ts'
import type { Embedder } from './search/embedder.ts'
import { createEmbedders, type Embedders, offlineModels } from './search/embedders.ts'
import { type HostedModelConfig, openHostedEmbedder } from './search/hosted-embedder.ts'
import type { Figure, Meter } from './telemetry/meter.ts'
import type { Span, Tracer } from './telemetry/span.ts'
import { timedJournal } from './telemetry/timed-journal.ts'
import type { SourceOptions } from './tool-sources/open-source.ts'
import type { OpenSources } from './tool-sources/open-sources.ts'
import type { SourceDeclaration } from './tool-sources/source-shape.ts'
import type { WebhookOptions } from './webhooks/sender.ts'

/** Everything that operations work with, wired once per process. Closing it closes what it opened, in reverse. */
export interface AppContext extends AsyncDisposable {
  readonly database: Database
  readonly journal: Journal
  readonly tools: ToolRegistry
  readonly embedders: Embedders
  /** Absent: replies are composed without a model, and tickets are read by patterns alone. */
  readonly replyModel?: ReplyModel
  /** Absent: what a run teaches is made of its issues and its answer. */
  readonly reflectModel?: ReplyModel
  /** Absent: drafts are proposed by rules alone. */
  readonly proposeModel?: ReplyModel
  /** Absent: keys alone let anybody in. */
  readonly tokens?: TokenReader
  readonly plans: PlanCache
  readonly clock: Clock
  readonly worker: Worker
  /** Counts what was shown, after the answer. */
  readonly useCounts: UseCounts
  readonly log: Logger
  /** Absent: nothing is counted. */
  readonly meter?: Meter
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer
  /** In what is derived for a piece of work: the span that it belongs to. */
  readonly span?: Span
  /** How checkpoints are signed and where copies of them go. */
  readonly audit: AuditConfig
  /** Which services may be told of what happens. */
  readonly webhooks: WebhookOptions
  readonly onBoundary?: (boundary: Boundary, detail: string) => void
}

export type { FolderServer }

export interface ContextOptions {
  /** Tools of the caller's own; default: what `STEPWARDEN_CONFIG` names, else the demo's payment desk. */
  readonly tools?: readonly Tool[]
  /** Services whose operations are tools, too. Files in them are looked for from the working directory. */
  readonly sources?: readonly SourceDeclaration[]
  /** In place of the offline model: one that always answers, without a network. */
  readonly embedder?: Embedder
  /** In place of the hosted model of the configuration: search falls back when it does not answer. */
  readonly hostedEmbedder?: Embedder
  /** Default: the hosted model of the configuration; none without a key. */
  readonly replyModel?: ReplyModel
  /** Says what runs have taught. Default: that of the configuration; none unless it names one. */
  readonly reflectModel?: ReplyModel
  /** Writes the drafts that are proposed. Default: that of the configuration; none unless it names one. */
  readonly proposeModel?: ReplyModel
  /** In place of that of the configuration. */
  readonly checkpointKey?: CheckpointKey | undefined
  /** In place of that of the configuration. */
  readonly webhooks?: WebhookOptions
  /** What counts; it reads the state of this service as well from then on. Default: nothing is counted. */
  readonly meter?: Meter
  /** In place of that of the configuration; whoever gives it closes it. */
  readonly tracer?: Tracer
  /** Where the log goes; default standard error. */
  readonly logStream?: DestinationStream
  /** Default: on a server that server's time, else this machine's. */
  readonly clock?: Clock
  /** Told at each boundary between which a crash must be harmless; tests stop the process there. */
  readonly onBoundary?: (boundary: Boundary, detail: string) => void
}

const systemClock: Clock = { now: () => Date.now() }

/**
 * Opens the database (an embedded one is migrated first), loads the tools, and registers this process as a worker.
 *
 * @throws ServiceError what `openDatabase` throws, and `TOOL_MODULE_INVALID`; nothing stays open then.
 */
export async function openContext(
  config: Omit<Config, 'http'>,
  options: ContextOptions = {},
): Promise<AppContext> {
  const database = await openDatabase(config.database)
  try {
    const context = await createContext(database, config, options)
    return {
      ...context,
      async [Symbol.asyncDispose]() {
        await using _database = database
        await context[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

/** Like `openContext`, on a database that is open already and stays open. */
export async function createContext(
  database: Database,
  config: Pick<
    Config,
    | 'toolModule'
    | 'tenantId'
    | 'logLevel'
    | 'openai'
    | 'audit'
    | 'access'
    | 'webhooks'
    | 'telemetry'
  > &
    HostedModelConfig,
  options: ContextOptions = {},
): Promise<AppContext> {
  const clock = options.clock ?? (database.kind === 'postgres' ? createServerClock() : systemClock)
  // A database that is away is met at every turn until it is back: a line each time says it.
  const log = createLogger(config.logLevel, options.logStream, isOutage)
  const loaded = await openTools(config, database, clock, options)
  try {
    return await wireContext(database, config, options, { clock, log, loaded })
  } catch (error) {
    await loaded.close()
    throw error
  }
}

async function wireContext(
  database: Database,
  config: Pick<Config, 'openai' | 'audit' | 'access' | 'webhooks' | 'telemetry'> &
    HostedModelConfig,
  options: ContextOptions,
  {
    clock,
    log,
    loaded,
  }: { readonly clock: Clock; readonly log: Logger; readonly loaded: OpenSources },
): Promise<AppContext> {
  const tools = createToolRegistry(loaded.tools)
  const embedders = await openEmbedders(database, config, options, log)
  const replyModel = options.replyModel
    ? withWarnings(options.replyModel, log)
    : await hostedModel(config, config.openai?.replyModel, clock, log)
  const reflectModel = options.reflectModel
    ? withWarnings(options.reflectModel, log, reflector)
    : await hostedModel(config, config.openai?.reflectModel, clock, log, reflector)
  const proposeModel = options.proposeModel
    ? withWarnings(options.proposeModel, log, proposer)
    : await hostedModel(config, config.openai?.proposeModel, clock, log, proposer, proposeTimeouts)
  const worker = await registerWorker(database, clock, log)
  const useCounts = new UseCounts(database, clock, log)
  const oidc = config.access?.oidc
  const tokens = oidc && createTokenReader(oidc, { log })
  const { meter } = options
  meter?.readFrom({ pool: database.pool, figures: () => readFigures(database, worker.id) })
  const journal = createJournal(database, clock)
  const opened = options.tracer === undefined ? await openTraces(config, log) : undefined
  const tracer = options.tracer ?? opened
  return {
    database,
    journal: meter === undefined ? journal : timedJournal(journal, meter),
    ...(meter && { meter }),
    ...(tracer && { tracer }),
    tools,
    embedders,
    ...(replyModel && { replyModel }),
    ...(reflectModel && { reflectModel }),
    ...(proposeModel && { proposeModel }),
    ...(tokens && { tokens }),
    plans: createPlanCache(),
    clock,
    worker,
    useCounts,
    log,
    audit: {
      ...config.audit,
      ...(options.checkpointKey && { checkpointKey: options.checkpointKey }),
    },
    webhooks: options.webhooks ?? config.webhooks ?? { allowHosts: [] },
    ...(options.onBoundary && { onBoundary: options.onBoundary }),
    async [Symbol.asyncDispose]() {
      await using _sources = { [Symbol.asyncDispose]: loaded.close }
      await using _embedders = embedders
      using _tokens = tokens
      await using _tracer = opened
      await using _useCounts = useCounts
      await worker[Symbol.asyncDispose]()
    },
  }
}

/** A collector that is away is told of so often. */
const lostTracesToldMs = 60_000

/** Loaded only here: what sends traces takes a fifth of a second that a start without a collector does not need. */
async function openTraces(
  { telemetry }: Pick<Config, 'telemetry'>,
  log: Logger,
): Promise<Tracer | undefined> {
  const { traces } = telemetry ?? {}
  if (traces === undefined) return undefined
  const { openTracer } = await import('./telemetry/open-tracer.ts')
  let lost = 0
  let toldAt = Number.NEGATIVE_INFINITY
  return openTracer(traces, serviceVersion, (count, error) => {
    lost += count
    if (performance.now() - toldAt < lostTracesToldMs) return
    log.warn({ err: error, spans: lost }, 'traces were not taken, and are lost')
    lost = 0
    toldAt = performance.now()
  })
}

async function readFigures(database: Database, workerId: Id<'worker'>): Promise<readonly Figure[]> {
  const [figures, unattended] = await Promise.all([
    listFigures(database),
    countUnattended(database, workerId),
  ])
  return [...figures, { figure: 'executions_unattended', label: '', value: unattended }]
}

/** Puts the embedding models together and makes them known; at the first start, one of them the one in use. */
async function openEmbedders(
  database: Database,
  { openai, embeddingModel, embeddingDimensions }: HostedModelConfig,
  options: ContextOptions,
  log: Logger,
): Promise<Embedders> {
  const isOfflineNamed = embeddingModel !== undefined && offlineModels.includes(embeddingModel)
  const hosted =
    options.hostedEmbedder ??
    (await openHostedEmbedder({
      openai,
      embeddingModel: isOfflineNamed ? undefined : embeddingModel,
      embeddingDimensions,
    }))
  const embedders = createEmbedders(log, { offline: options.embedder, hosted })
  const named =
    embeddingModel === undefined ? undefined : (embedders.find(embeddingModel) ?? hosted)
  const models = new Set([named ?? embedders.offline, ...embedders.all])
  await insertEmbeddingModels(
    database.system.kysely,
    [...models].map(({ model, dimensions, thresholds }) => ({
      name: model,
      dimensions,
      ...thresholds,
    })),
  )
  return embedders
}

/** The process that serves a data folder, which has it open; undefined for a database server, and while none does. */
export function findFolderServer(database: DatabaseConfig): FolderServer | undefined {
  return 'url' in database ? undefined : findServer(database.dataDir)
}

/** Tells the commands of this machine where this process serves the data folder that it has open. */
export function announceFolderServer(database: DatabaseConfig, server: FolderServer): void {
  if (!('url' in database)) announceServer(database.dataDir, server)
}

/** What failed, for people: an outage of the database says so; all else comes back as it is. */
export function explainFailure(error: unknown, database: DatabaseConfig): unknown {
  return explainOutage(error, 'url' in database ? databaseName(database.url) : database.dataDir)
}

const reflector = 'the model that reflects on runs'
const proposer = 'the model that writes proposals'

/** A whole playbook is written, and whoever asks for one can wait. */
const proposeTimeouts: ReplyModelTimeouts = { replyMs: 60_000, inputMs: 60_000 }

async function hostedModel(
  { openai }: Pick<Config, 'openai'>,
  name: string | undefined,
  clock: Clock,
  log: Logger,
  what?: string,
  timeouts?: ReplyModelTimeouts,
): Promise<ReplyModel | undefined> {
  if (openai === undefined || name === undefined) return undefined
  // Loaded only here: the SDK takes a tenth of a second that a start without a key does not need.
  const { createOpenAiReplyModel } = await import('./reply/openai-model.ts')
  const model = createOpenAiReplyModel(openai, name, timeouts)
  // While it rests it is not asked, and there is nothing to warn of.
  return withRest(withWarnings(model, log, what), () => clock.now())
}

/**
 * The tools of a configuration without a database: what is known of them, and nothing to run them with.
 *
 * @throws ServiceError `TOOL_MODULE_INVALID`, `TOOLS_INVALID`, `SOURCES_INVALID`, `SOURCE_UNAVAILABLE`
 */
export async function loadToolRegistry(config: Pick<Config, 'toolModule'>): Promise<ToolRegistry> {
  if (config.toolModule === undefined) return createToolRegistry(createDeskTools(closedDesk))
  const { tools, close } = await importTools(config.toolModule, false)
  await close()
  return createToolRegistry(tools)
}

const closed = () => Promise.reject(new Error('the desk has no database here'))
const closedDesk: DeskStore = { findRefund: closed, recordRefund: closed, recordMessage: closed }

/** The tools that an application gives, else those of the configuration; ready to run. */
async function openTools(
  config: Pick<Config, 'toolModule'>,
  database: Database,
  clock: Clock,
  { tools, sources }: ContextOptions,
): Promise<OpenSources> {
  if (tools !== undefined || sources !== undefined) {
    return withSources(tools ?? [], sources, 'the options', { folder: '.', isRunning: true })
  }
  if (config.toolModule !== undefined) return importTools(config.toolModule, true)
  const desk = createDeskStore(database, () => clock.now())
  return { tools: createDeskTools(desk), close: async () => {} }
}

/** What a module exports as `tools` and `sources`, or a file of YAML or JSON says of sources. */
async function importTools(path: string, isRunning: boolean): Promise<OpenSources> {
  const options = { folder: dirname(path), isRunning }
  if (/\.(ya?ml|json)$/i.test(path)) {
    const { openSourceFile } = await import('./tool-sources/open-source-file.ts')
    return openSourceFile(path, options)
  }
  let module: unknown
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ServiceError(
      'TOOL_MODULE_INVALID',
      { path, problem: `cannot be loaded: ${reason}` },
      { cause: error },
    )
  }
  const { tools, sources } = Object(module)
  if (!Array.isArray(tools) && (tools !== undefined || sources === undefined)) {
    throw new ServiceError('TOOL_MODULE_INVALID', {
      path,
      problem:
        "has no export 'tools' that is a list of tools made with defineTool, and no 'sources' either",
    })
  }
  return withSources(tools ?? [], sources, path, options)
}

async function withSources(
  tools: readonly Tool[],
  sources: unknown,
  file: string,
  options: SourceOptions,
): Promise<OpenSources> {
  if (sources === undefined) return { tools, close: async () => {} }
  // Loaded only here: what asks other services takes time that a start without sources does not need.
  const { openSources } = await import('./tool-sources/open-sources.ts')
  const opened = await openSources(sources, file, options)
  return { ...opened, tools: [...tools, ...opened.tools] }
}
