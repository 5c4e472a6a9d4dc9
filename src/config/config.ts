import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { ServiceError } from '../domain/errors.ts'
import { Secret } from './secret.ts'

/** Where the data is: a PostgreSQL server, or a folder that this process has to itself. */
export type DatabaseConfig = { readonly url: string } | { readonly dataDir: string }

/** The server that hosted models are asked at: OpenAI, or one that speaks its API. */
export interface OpenAiConfig {
  readonly apiKey: Secret
  /** Default: OpenAI's own. */
  readonly baseUrl?: string
  /** Which model writes replies and reads input out of tickets. */
  readonly replyModel: string
}

/** The configuration of a process: read once from the environment, validated whole, and frozen. */
export interface Config {
  readonly database: DatabaseConfig
  /** The module that names the tools; absent: the demo's payment desk. */
  readonly toolModule?: string
  /** Whose rows the command line works on; default `default`. */
  readonly tenantId: string
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent'
  /** Absent without a key: no hosted model is asked then. */
  readonly openai?: OpenAiConfig
  /** The embedding model that search uses from the first start on; absent: the offline one. */
  readonly embeddingModel?: string
  /** How long the vectors of a server's model are; absent: as OpenAI's own. */
  readonly embeddingDimensions?: number
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
    .default('default'),
  STEPWARDEN_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('warn'),
  // A header carries it, so that anything but printable ASCII would fail at every call.
  OPENAI_API_KEY: z
    .string()
    .regex(/^[!-~]+$/, 'must be printable ASCII without spaces')
    .optional(),
  OPENAI_BASE_URL: z
    .string()
    .refine(isServerUrl, 'must be an http or https URL without user, password or query')
    .optional(),
  STEPWARDEN_REPLY_MODEL: z.string().min(1).max(200).default('gpt-4.1-mini'),
  STEPWARDEN_EMBEDDING_MODEL: z.string().max(200).optional(),
  STEPWARDEN_EMBEDDING_DIMENSIONS: z.coerce.number().int().min(1).max(4096).optional(),
})

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
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({
      path: path.join('.'),
      message,
    }))
    throw new ServiceError('CONFIG_INVALID', { problems })
  }
  const { DATABASE_URL, STEPWARDEN_DATA_DIR, STEPWARDEN_CONFIG, OPENAI_API_KEY, ...rest } =
    parsed.data
  if (DATABASE_URL !== undefined && STEPWARDEN_DATA_DIR !== undefined) {
    throw new ServiceError('CONFIG_INVALID', {
      problems: [
        {
          path: 'STEPWARDEN_DATA_DIR',
          message: 'is set together with DATABASE_URL; unset one of them to say where the data is',
        },
      ],
    })
  }
  const absolute = (path: string): string =>
    isAbsolute(path) ? path : resolve(workingDirectory, path)
  return Object.freeze({
    database:
      DATABASE_URL === undefined
        ? { dataDir: absolute(STEPWARDEN_DATA_DIR ?? '.stepwarden') }
        : { url: DATABASE_URL },
    ...(STEPWARDEN_CONFIG !== undefined && { toolModule: absolute(STEPWARDEN_CONFIG) }),
    tenantId: rest.STEPWARDEN_TENANT,
    logLevel: rest.STEPWARDEN_LOG_LEVEL,
    ...(OPENAI_API_KEY !== undefined && {
      openai: {
        apiKey: new Secret(OPENAI_API_KEY),
        ...(rest.OPENAI_BASE_URL !== undefined && { baseUrl: rest.OPENAI_BASE_URL }),
        replyModel: rest.STEPWARDEN_REPLY_MODEL,
      },
    }),
    ...(rest.STEPWARDEN_EMBEDDING_MODEL !== undefined && {
      embeddingModel: rest.STEPWARDEN_EMBEDDING_MODEL,
    }),
    ...(rest.STEPWARDEN_EMBEDDING_DIMENSIONS !== undefined && {
      embeddingDimensions: rest.STEPWARDEN_EMBEDDING_DIMENSIONS,
    }),
  })
}
