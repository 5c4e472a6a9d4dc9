import { measuredValue } from '../domain/canonical.ts'
import { isServiceError } from '../domain/errors.ts'
import { copyJson, type JsonObject } from '../domain/json.ts'
import { certainFailure, type Tool, type ToolContext } from '../domain/tool.ts'
import type { ToolObservation } from './attempt.ts'
import { guardListeners } from './guard-listeners.ts'
import type { PinnedTool } from './plan.ts'
import type { Clock } from './ports.ts'

/** The largest output that is recorded, in bytes of JSON. */
const maxOutputBytes = 1024 * 1024

/** What a call is told, with a key that is made only when the tool asks for it: most that read never do. */
type CallContext = Omit<ToolContext, 'idempotencyKey' | 'signal' | 'traceparent'> & {
  readonly idempotencyKey: () => string
  readonly traceparent?: string | undefined
}

/**
 * Calls a tool once and says what came of it: never throws, and never outlasts the time-out, even when the tool ignores
 * its signal. What a tool throws is believed only when it is `ToolRefused` or `ToolFailed`; all else is unknown.
 */
export async function callTool(
  tool: Tool,
  pinned: PinnedTool,
  input: JsonObject,
  context: CallContext,
  timeoutMs: number,
  clock: Clock,
): Promise<ToolObservation> {
  const abort = new LateAbort()
  let timer: NodeJS.Timeout | undefined
  let answer: unknown
  try {
    answer = await new Promise<unknown>((resolve, reject) => {
      timer = setTimeout(resolve, timeoutMs, timeoutMark)
      // Nothing that the service goes on to use is handed out: input and principal are the tool's own copies.
      const given = {
        ...(context.traceparent !== undefined && { traceparent: context.traceparent }),
        tenantId: context.tenantId,
        executionId: context.executionId,
        principal: copyJson(context.principal),
        get idempotencyKey() {
          return context.idempotencyKey()
        },
        get signal() {
          return abort.signal
        },
      }
      // A tool of plain JavaScript may answer without a promise.
      Promise.resolve(tool.run(copyJson(input), given)).then(resolve, reject)
    })
  } catch (error) {
    return { ...failureOf(error), code: 'tool_failed', endedAt: clock.now() }
  } finally {
    clearTimeout(timer)
  }
  const endedAt = clock.now()
  if (answer === timeoutMark) {
    const thrown = abort.abort(new Error(`no answer within ${timeoutMs} ms`))
    const also = thrown.map((error) => ` Its listener to that threw: ${messageOf(error)}.`).join('')
    const message = `'${pinned.contract.name}' did not answer within ${timeoutMs} ms.${also}`
    return { result: 'timeout', code: 'tool_timeout', message, endedAt }
  }
  return checkOutput(pinned, answer, endedAt)
}

/** A signal that is made when it is first asked for: most tools never do, and making one costs more than all the rest. */
class LateAbort {
  #controller: AbortController | undefined
  #reason: Error | undefined
  readonly #thrown: unknown[] = []

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      guardListeners(this.#controller.signal, (error) => this.#thrown.push(error))
    }
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** Answers what listeners have thrown. */
  abort(reason: Error): readonly unknown[] {
    this.#reason = reason
    this.#controller?.abort(reason)
    return [...this.#thrown]
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
  let measured: ReturnType<typeof measuredValue>
  try {
    measured = measuredValue(answer, maxOutputBytes)
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
  if (isTooLarge(measured)) {
    return invalid(
      'output_too_large',
      `answered more than ${maxOutputBytes} bytes, which is the most that is recorded.`,
    )
  }
  const output = measured.value
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

/** Most outputs are far from the limit, on either side, and need not be written out to see it. */
function isTooLarge({ value, minBytes, maxBytes }: ReturnType<typeof measuredValue>): boolean {
  if (minBytes > maxOutputBytes) return true
  return maxBytes > maxOutputBytes && Buffer.byteLength(JSON.stringify(value)) > maxOutputBytes
}

function failureOf(error: unknown): {
  readonly result: 'refused' | 'failed' | 'error'
  readonly message: string
} {
  return { result: failureKind(error), message: messageOf(error) }
}

function failureKind(error: unknown): 'refused' | 'failed' | 'error' {
  try {
    return certainFailure(error) ?? 'error'
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

/** A call that is not made. `isChanged`: there is a tool of that name, and it is not the one that was approved. */
export function refusedCall(tool: string, isChanged: boolean, endedAt: number): ToolObservation {
  return {
    result: 'refused',
    code: isChanged ? 'tool_changed' : 'tool_unknown',
    message: isChanged
      ? `'${tool}' is not the tool that was approved for this version.`
      : `'${tool}' is not among the tools of this service.`,
    endedAt,
  }
}
