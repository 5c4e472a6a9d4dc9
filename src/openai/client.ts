import OpenAI from 'openai'
import type { Secret } from '../config/secret.ts'
import { boundedFetch } from './bounded-fetch.ts'

/** Which server is asked, and with which key. */
export interface OpenAiConnection {
  readonly apiKey: Secret
  /**
   * Of OpenAI, or of any server that speaks its API, the version included: `https://HOST/openai/v1`. Default: OpenAI's
   * own.
   */
  readonly baseUrl?: string | undefined
}

/** The longest answer that is read, when nothing else is said: a hundred times what the longest useful one has. */
const defaultMaxBytes = 4 * 1024 * 1024

/**
 * A client of the API, which reads at most `maxBytes` of an answer and follows no redirect. Calls go through `callWithin`, which sets their time limit and repeats them.
 *
 * Everything that the SDK would take from the environment by itself is given here, since a process is configured in
 * one place; and the SDK writes no log, since a log of its own would hold what customers wrote.
 */
export function createOpenAiClient(
  { apiKey, baseUrl }: OpenAiConnection,
  maxBytes = defaultMaxBytes,
): OpenAI {
  return new OpenAI({
    apiKey: apiKey.reveal(),
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    // The SDK waits before it repeats for as long as the server says, and cannot be stopped while it waits.
    maxRetries: 0,
    fetch: boundedFetch(maxBytes),
  })
}
