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
  try {
    const answer = await Promise.race([
      tool.run(input, { ...context, signal: abort.signal }),
      timedOut.then(() => timeoutMark),
    ])
    const endedAt = clock.now()
    if (answer === timeoutMark) {
      abort.abort(new Error(`no answer within ${timeoutMs} ms`))
      const message = `'${pinned.contract.name}' did not answer within ${timeoutMs} ms.`
      return { result: 'timeout', code: 'tool_timeout', message, endedAt }
    }
    return checkOutput(pinned, answer, endedAt)
  } catch (error) {
    return { ...failureOf(error), code: 'tool_failed', endedAt: clock.now() }
  } finally {
    clearTimeout(timer)
  }
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
    if (!isServiceError(error, 'VALUE_INVALID')) throw error
    const found = error.details.problems.map(({ path, message }) => `${path} ${message}`.trim())
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
  if (error instanceof ToolRefused) return { result: 'refused', message: messageOf(error) }
  if (error instanceof ToolFailed) return { result: 'failed', message: messageOf(error) }
  return { result: 'error', message: messageOf(error) }
}

/** A message that can be stored, whatever was thrown. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll('\u0000', '').toWellFormed().slice(0, 2_000) || 'no message'
}
