import { count, define, type Problems, problemLines } from './entry.ts'

/** What a request over HTTP may have wrong before any operation sees it. */
export const doors = {
  ADDRESS_UNUSABLE: define<{ host: string; port: number; problem: string }>(
    'unavailable',
    (d) =>
      `Nothing can be served at ${d.host}, port ${d.port}: ${d.problem}. Give another: --host and --port, or STEPWARDEN_HOST and STEPWARDEN_PORT; for figures --metrics-port, or STEPWARDEN_METRICS_HOST and STEPWARDEN_METRICS_PORT.`,
  ),
  SERVER_SILENT: define<{ address: string }>(
    'unavailable',
    (d) =>
      `The process that serves this data folder at ${d.address} does not answer. What it was doing is in the record; try again, or restart it.`,
    { retryable: true },
  ),
  ANSWER_UNUSABLE: define<{ status: number; found: string }>(
    'unavailable',
    (d) =>
      `The answer is none that is known here: status ${d.status}, '${d.found}'. Check the URL, what stands between, and that client and server are of one version.`,
    { retryable: true },
  ),
  RUN_UNFINISHED: define<{ executionId: string; waitedSeconds: number }>(
    'unavailable',
    (d) =>
      `${d.executionId} was started, and still runs after ${d.waitedSeconds} s. It goes on by itself: read it with getExecution, or follow it with followExecution.`,
  ),
  ROUTE_NOT_FOUND: define<{ method: string; path: string }>(
    'not_found',
    (d) => `There is nothing at ${d.method} ${d.path}. /openapi.json lists what there is.`,
  ),
  METHOD_NOT_ALLOWED: define<{ method: string; path: string; allowed: readonly string[] }>(
    'method_not_allowed',
    (d) => `${d.path} does not take ${d.method}. It takes ${d.allowed.join(', ')}.`,
  ),
  HTTP_INVALID: define<Problems>(
    'invalid',
    (d) => `The HTTP request has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  CREDENTIAL_MISSING: define<Record<string, never>>(
    'unauthenticated',
    () => "The request shows no credential. Send 'Authorization: Bearer KEY'; an admin makes keys.",
  ),
  BODY_TOO_LARGE: define<{ maxBytes: number }>(
    'too_large',
    (d) =>
      `The body of the request has more than ${d.maxBytes} bytes, which is the most it may have.`,
  ),
  MEDIA_TYPE_UNSUPPORTED: define<Record<string, never>>(
    'unsupported_media',
    () =>
      "The body of the request is not marked as JSON. Send it with 'Content-Type: application/json'.",
  ),
  PRECONDITION_MISSING: define<{ header: string }>(
    'precondition_required',
    (d) =>
      `The request has no ${d.header} header. Read the draft first, and send its ETag: so nobody's edit is overwritten unseen.`,
  ),
  STREAMS_EXHAUSTED: define<{
    max: number
    /** How many are the caller's own, where that is too many. */
    own?: number
  }>(
    'unavailable',
    (d) =>
      d.own === undefined
        ? `${d.max} event streams are open, the most that this process serves. Close one, or try again later.`
        : `You have ${d.own} event streams open, the most that one principal may have of this process. Close one first.`,
    { retryable: true },
  ),
} as const
