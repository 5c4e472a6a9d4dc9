import { canonicalValue } from '../domain/canonical.ts'
import { isServiceError } from '../domain/errors.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { type Tool, type ToolContext, ToolFailed, ToolRefused } from '../domain/tool.ts'
import type { ToolObservation } from './attempt.ts'
import type { PinnedTool } from './plan.ts'
import type { Clock } from './ports.ts'

/** The largest output that is recorded, in bytes of JSON. */
const maxOutputBytes = 1024 * 1024

/**
 * Calls a tool once and says what came of it: never throws, and never outlasts the time-out, even when the tool ignores
 * its signal. What a tool throws is believed only when it is `ToolRefused` or `ToolFailed`; all else is unknown.
 */
export async function callTool(
  tool: Tool,
  pinned: PinnedTool,
  input: JsonObject,
  context: Omit<ToolContext, 'signal'>,
  timeoutMs: number,
  clock: Clock,
): Promise<ToolObservation> {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs)
  })
  let answer: unknown
  try {
    // Nothing that the service goes on to use is handed out: input and principal are the tool's own copies.
    const given = structuredClone({ input, principal: context.principal })
    answer = await Promise.race([
      tool.run(given.input, { ...context, principal: given.principal, signal: abort.signal }),
      timedOut.then(() => timeoutMark),
    ])
  } catch (error) {
    return { ...failureOf(error), code: 'tool_failed', endedAt: clock.now() }
  } finally {
    clearTimeout(timer)
  }
  const endedAt = clock.now()
  if (answer === timeoutMark) {
    abort.abort(new Error(`no answer within ${timeoutMs} ms`))
    const message = `'${pinned.contract.name}' did not answer within ${timeoutMs} ms.`
    return { result: 'timeout', code: 'tool_timeout', message, endedAt }
  }
  return checkOutput(pinned, answer, endedAt)
}

const timeoutMark = Symbol('timeout')

function checkOutput(pinned: PinnedTool, answer: unknown, endedAt: number): ToolObservation {
  const invalid = (code: string, message: string): ToolObservation => ({
    result: 'invalid',
    code,
    message: `'${pinned.contract.name}' ${message}`,
    endedAt,
  })
  let output: Json
  try {
    output = canonicalValue(answer)
  } catch (error) {
    // Whatever reading the answer throws (a getter may), the tool has returned: it is done, and cannot be recorded.
    const found = isServiceError(error, 'VALUE_INVALID')
      ? error.details.problems.map(({ path, message }) => `${path} ${message}`.trim())
      : [messageOf(error)]
    return invalid(
      'output_invalid',
      `answered what is no JSON value: ${found.slice(0, 5).join('; ')}`,
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(output))
  if (bytes > maxOutputBytes) {
    return invalid(
      'output_too_large',
      `answered ${bytes} bytes; at most ${maxOutputBytes} are recorded.`,
    )
  }
  const problems = pinned.output.problems(output)
  if (problems.length > 0) {
    const found = problems.map(({ path, message }) => `${path}: ${message}`)
    return invalid(
      'output_invalid',
      `gave an answer outside its contract: ${found.slice(0, 5).join('; ')}`,
    )
  }
  return { result: 'done', output, endedAt }
}

function failureOf(error: unknown): {
  readonly result: 'refused' | 'failed' | 'error'
  readonly message: string
} {
  return { result: failureKind(error), message: messageOf(error) }
}

function failureKind(error: unknown): 'refused' | 'failed' | 'error' {
  try {
    if (error instanceof ToolRefused) return 'refused'
    if (error instanceof ToolFailed) return 'failed'
  } catch {
    // A proxy may throw when it is asked what it is; then it is neither.
  }
  return 'error'
}

/** A message that can be stored, whatever was thrown: also a proxy, or an object that is no text. Never throws. */
function messageOf(error: unknown): string {
  let text: string
  try {
    text = String(error instanceof Error ? error.message : error)
  } catch {
    text = 'something was thrown that cannot be read'
  }
  return text.replaceAll('\u0000', '').toWellFormed().slice(0, 2_000) || 'no message'
}
