import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { tenantOfKey } from '../domain/api-key.ts'
import { type CheckpointKey, readCheckpointKey } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'
import { requestWording } from '../domain/request-problems.ts'
import { isHostEntry } from '../outbound/host-list.ts'
import { type AccessConfig, accessVariables, findAccessProblems, toAccessConfig } from './access.ts'
import { Secret } from './secret.ts'
import { type TelemetryConfig, telemetryVariables, toTelemetryConfig } from './telemetry.ts'

/** Where the data is: a PostgreSQL server, or a folder that this process has to itself. */
export type DatabaseConfig = ({ readonly url: string } | { readonly dataDir: string }) & {
  /** How many people must approve what goes live, 0 to 10; written when the schema is migrated. */
  readonly requiredApprovals?: number
}

/** The server that hosted models are asked at: OpenAI, or one that speaks its API. */
export interface OpenAiConfig {
  readonly apiKey: Secret
  /** Default: OpenAI's own. */
  readonly baseUrl?: string
  /** Which model writes replies and reads input out of tickets. */
  readonly replyModel: string
  /** Which model says what a run has taught; absent: none, lessons are made of issues and answers. */
  readonly reflectModel?: string
  /** Which model writes the drafts that are proposed; absent: none, they are made by rules. */
  readonly proposeModel?: string
}

/** How the ends of the audit chain are signed. */
export interface AuditConfig {
  /** Absent: no checkpoints are made. */
  readonly checkpointKey?: CheckpointKey
  /** Each checkpoint is appended to it as a line of JSON. */
  readonly checkpointFile?: string
}

/** Where the HTTP door is, and who may come from where. */
export interface HttpConfig {
  readonly host: string
  readonly port: number
  /** Origins of web pages that may call: `https://console.example.com`. */
  readonly corsOrigins: readonly string[]
  /** Addresses or ranges of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
}

/** The configuration of a process: read once from the environment, validated whole, and frozen. */
export interface Config {
  readonly database: DatabaseConfig
  /** The module that names the tools; absent: the demo's payment desk. */
  readonly toolModule?: string
  /** Whose rows the command line works on; default that of the key, else `default`. */
  readonly tenantId: string
  /** Who works; absent: the local person. */
  readonly key?: Secret
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'
  /** Absent without a key: no hosted model is asked then. */
  readonly openai?: OpenAiConfig
  /** The embedding model that search uses from the first start on; absent: the offline one. */
  readonly embeddingModel?: string
  /** How long the vectors of a server's model are; absent: as OpenAI's own. */
  readonly embeddingDimensions?: number
  readonly audit?: AuditConfig
  readonly http: HttpConfig
  /** Who may pass the doors that are reached over a network; absent: who has a key, as often as they like. */
  readonly access?: AccessConfig
  /** Which services of the own network may be told of what happens. */
  readonly webhooks?: { readonly allowHosts: readonly string[] }
  /** What those who run the service are told; absent: nothing. */
  readonly telemetry?: TelemetryConfig
}

/** What says which hosted models are asked, at whatever door it is given. */
const modelFields = {
  // A header carries it, so that anything but printable ASCII would fail at every call.
  apiKey: z.string().regex(/^[!-~]+$/, 'must be printable ASCII without spaces'),
  baseUrl: z
    .string()
    .refine(isServerUrl, 'must be an http or https URL without user, password or query'),
  replyModel: z.string().min(1).max(200).default('gpt-4.1-mini'),
  reflectModel: z.string().min(1).max(200),
  proposeModel: z.string().min(1).max(200),
  embeddingModel: z.string().min(1).max(200),
  embeddingDimensions: z.coerce.number().int().min(1).max(4096),
}

const environment = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional(),
  STEPWARDEN_DATA_DIR: z.string().min(1).optional(),
  STEPWARDEN_CONFIG: z.string().min(1).optional(),
  STEPWARDEN_TENANT: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens')
    .optional(),
  STEPWARDEN_KEY: z
    .string()
    .refine(
      (key) => tenantOfKey(key) !== undefined,
      'is no key: one is sw_, the tenant, _ and 43 characters, such as sw_default_…; was it cut off?',
    )
    .optional(),
  STEPWARDEN_REQUIRED_APPROVALS: z.coerce.number().int().min(0).max(10).optional(),
  STEPWARDEN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('warn'),
  OPENAI_API_KEY: modelFields.apiKey.optional(),
  OPENAI_BASE_URL: modelFields.baseUrl.optional(),
  STEPWARDEN_REPLY_MODEL: modelFields.replyModel,
  STEPWARDEN_REFLECT_MODEL: modelFields.reflectModel.optional(),
  STEPWARDEN_PROPOSE_MODEL: modelFields.proposeModel.optional(),
  STEPWARDEN_EMBEDDING_MODEL: modelFields.embeddingModel.optional(),
  STEPWARDEN_EMBEDDING_DIMENSIONS: modelFields.embeddingDimensions.optional(),
  STEPWARDEN_CHECKPOINT_KEY: z
    .string()
    .transform((text, context) => {
      const key = readCheckpointKey(text)
      if (key !== undefined) return key
      const message =
        "must be an Ed25519 private key, as PEM or as base64 of PKCS #8: 'stepwarden audit keygen' makes one"
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .optional(),
  STEPWARDEN_CHECKPOINT_FILE: z.string().min(1).optional(),
  STEPWARDEN_HOST: z.string().min(1).default('127.0.0.1'),
  STEPWARDEN_PORT: z.coerce.number().int().min(0).max(65_535).default(7420),
  STEPWARDEN_CORS_ORIGINS: z
    .string()
    .default('')
    .transform(listOf)
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins such as https://desk.example.com, with commas between',
    ),
  STEPWARDEN_TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform(listOf)
    .refine(
      (ranges) => ranges.every(isAddressRange),
      'must be addresses or ranges such as 10.0.0.0/8, with commas between',
    ),
  ...accessVariables,
  ...telemetryVariables,
  STEPWARDEN_WEBHOOK_ALLOW_HOSTS: z
    .string()
    .default('')
    .transform(listOf)
    .refine(
      (hosts) => hosts.every(isHostEntry),
      'must be hosts such as desk.internal or 127.0.0.1:8080, with commas between',
    ),
})

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

const modelOptions = z.strictObject({
  openai: z
    .strictObject({
      apiKey: modelFields.apiKey,
      baseUrl: modelFields.baseUrl.optional(),
      replyModel: modelFields.replyModel,
      reflectModel: modelFields.reflectModel.optional(),
      proposeModel: modelFields.proposeModel.optional(),
    })
    .optional(),
  embeddingModel: modelFields.embeddingModel.optional(),
  embeddingDimensions: modelFields.embeddingDimensions.optional(),
})

/** Which hosted models an application wants to be asked. All may be left out. */
export interface ModelOptions {
  /**
   * The server: `apiKey`; `baseUrl`, by default OpenAI's own; `replyModel`, by default `gpt-4.1-mini`; `reflectModel`, which
   * says what runs have taught, and `proposeModel`, which writes the drafts that are proposed, by default none.
   */
  readonly openai?: {
    readonly apiKey: string
    readonly baseUrl?: string
    readonly replyModel?: string
    readonly reflectModel?: string
    readonly proposeModel?: string
  }
  /** The embedding model that search begins with on a new database; default: the offline one. */
  readonly embeddingModel?: string
  /** How long its vectors are, 1 to 4096; needed for a model that is not called as OpenAI calls it. */
  readonly embeddingDimensions?: number
}

/**
 * Which hosted models are asked, from an application's options.
 *
 * @throws ServiceError `CONFIG_INVALID` with every problem at once; values of secrets are never in it.
 */
export function readModelOptions(
  options: ModelOptions,
): Pick<Config, 'openai' | 'embeddingModel' | 'embeddingDimensions'> {
  const parsed = modelOptions.safeParse(options, { error: requestWording })
  if (!parsed.success) throw invalid(parsed.error)
  const { openai, embeddingModel, embeddingDimensions } = parsed.data
  return {
    ...(openai && {
      openai: {
        apiKey: new Secret(openai.apiKey),
        ...(openai.baseUrl !== undefined && { baseUrl: openai.baseUrl }),
        replyModel: openai.replyModel,
        ...(openai.reflectModel !== undefined && { reflectModel: openai.reflectModel }),
        ...(openai.proposeModel !== undefined && { proposeModel: openai.proposeModel }),
      },
    }),
    ...(embeddingModel !== undefined && { embeddingModel }),
    ...(embeddingDimensions !== undefined && { embeddingDimensions }),
  }
}

function invalid(error: z.ZodError): ServiceError {
  return new ServiceError('CONFIG_INVALID', { problems: problemsOf(error) })
}

function problemsOf(error: z.ZodError | undefined): readonly ConfigProblem[] {
  return error?.issues.map(({ path, message }) => ({ path: path.join('.'), message })) ?? []
}

/** Models that do nothing without a key. */
const keylessModels = ['STEPWARDEN_REFLECT_MODEL', 'STEPWARDEN_PROPOSE_MODEL'] as const

type ConfigProblem = { readonly path: string; readonly message: string }

/** What does not go together, whatever is wrong with each by itself: one start tells of all of it. */
function findConflicts(
  given: Readonly<Record<string, string | undefined>>,
): readonly ConfigProblem[] {
  const { STEPWARDEN_KEY: key = '', STEPWARDEN_TENANT: tenant } = given
  const ofKey = tenantOfKey(key)
  return [
    ...(given.DATABASE_URL !== undefined && given.STEPWARDEN_DATA_DIR !== undefined
      ? [
          {
            path: 'STEPWARDEN_DATA_DIR',
            message:
              'is set together with DATABASE_URL; unset one of them to say where the data is',
          },
        ]
      : []),
    ...(given.OPENAI_API_KEY === undefined ? keylessModels : [])
      .filter((name) => given[name] !== undefined)
      .map((path) => ({
        path,
        message:
          'names a model of a server, and OPENAI_API_KEY is not set; set it as well, or leave both out',
      })),
    ...findAccessProblems(given),
    ...(ofKey !== undefined && tenant !== undefined && ofKey !== tenant
      ? [
          {
            path: 'STEPWARDEN_TENANT',
            message: `is '${tenant}', and STEPWARDEN_KEY is a key of tenant '${ofKey}'; unset one of them`,
          },
        ]
      : []),
  ]
}

function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

/**
 * Reads the configuration. Empty variables count as unset. `.env.example` lists them all.
 *
 * @throws ServiceError `CONFIG_INVALID` with every problem at once; values of secrets are never in it.
 */
export function readConfig(
  variables: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): Config {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(given, { error: requestWording })
  const conflicts = findConflicts(given)
  if (!parsed.success || conflicts.length > 0) {
    const problems = [...problemsOf(parsed.error), ...conflicts]
    throw new ServiceError('CONFIG_INVALID', { problems })
  }
  const { DATABASE_URL, STEPWARDEN_DATA_DIR, STEPWARDEN_CONFIG, OPENAI_API_KEY, ...rest } =
    parsed.data
  const key = rest.STEPWARDEN_KEY
  const ofKey = key === undefined ? undefined : tenantOfKey(key)
  const tenantId = rest.STEPWARDEN_TENANT ?? ofKey ?? 'default'
  const requiredApprovals = rest.STEPWARDEN_REQUIRED_APPROVALS
  const absolute = (path: string): string =>
    isAbsolute(path) ? path : resolve(workingDirectory, path)
  return Object.freeze({
    database: {
      ...(DATABASE_URL === undefined
        ? { dataDir: absolute(STEPWARDEN_DATA_DIR ?? '.stepwarden') }
        : { url: DATABASE_URL }),
      ...(requiredApprovals !== undefined && { requiredApprovals }),
    },
    ...(STEPWARDEN_CONFIG !== undefined && { toolModule: absolute(STEPWARDEN_CONFIG) }),
    tenantId,
    ...(key !== undefined && { key: new Secret(key) }),
    logLevel: rest.STEPWARDEN_LOG_LEVEL,
    ...readModelOptions({
      ...(OPENAI_API_KEY !== undefined && {
        openai: {
          apiKey: OPENAI_API_KEY,
          replyModel: rest.STEPWARDEN_REPLY_MODEL,
          ...(rest.STEPWARDEN_REFLECT_MODEL !== undefined && {
            reflectModel: rest.STEPWARDEN_REFLECT_MODEL,
          }),
          ...(rest.STEPWARDEN_PROPOSE_MODEL !== undefined && {
            proposeModel: rest.STEPWARDEN_PROPOSE_MODEL,
          }),
          ...(rest.OPENAI_BASE_URL !== undefined && { baseUrl: rest.OPENAI_BASE_URL }),
        },
      }),
      ...(rest.STEPWARDEN_EMBEDDING_MODEL !== undefined && {
        embeddingModel: rest.STEPWARDEN_EMBEDDING_MODEL,
      }),
      ...(rest.STEPWARDEN_EMBEDDING_DIMENSIONS !== undefined && {
        embeddingDimensions: rest.STEPWARDEN_EMBEDDING_DIMENSIONS,
      }),
    }),
    audit: {
      ...(rest.STEPWARDEN_CHECKPOINT_KEY !== undefined && {
        checkpointKey: rest.STEPWARDEN_CHECKPOINT_KEY,
      }),
      ...(rest.STEPWARDEN_CHECKPOINT_FILE !== undefined && {
        checkpointFile: absolute(rest.STEPWARDEN_CHECKPOINT_FILE),
      }),
    },
    http: {
      host: rest.STEPWARDEN_HOST,
      port: rest.STEPWARDEN_PORT,
      corsOrigins: rest.STEPWARDEN_CORS_ORIGINS,
      trustedProxies: rest.STEPWARDEN_TRUSTED_PROXIES,
    },
    access: toAccessConfig(rest, tenantId),
    webhooks: { allowHosts: rest.STEPWARDEN_WEBHOOK_ALLOW_HOSTS },
    telemetry: toTelemetryConfig(rest),
  })
}
