import type { z } from 'zod'
import { isServiceError } from '../domain/errors.ts'
import type { replyOutput, runOutput } from '../operations/execution-output.ts'
import { type ClientOptions, errorOf } from './client.ts'

type Run = z.infer<typeof runOutput>

/** What happens to a run, as docs/http.md lists it. */
export type ExecutionEvent =
  | { readonly event: 'step'; readonly id: string; readonly data: Run['steps'][number] }
  | { readonly event: 'execution'; readonly id: string; readonly data: Run['execution'] }
  | { readonly event: 'reply'; readonly id: string; readonly data: z.infer<typeof replyOutput> }
  | { readonly event: 'end'; readonly id: string; readonly data: { readonly executionId: string } }

const retryMs = 1_000

/**
 * Follows a run until it has ended: what its record holds, and then what comes. A stream that is cut off is taken up where it
 * was, until `signal` says that it is enough.
 *
 * @throws ServiceError what the server refuses: `EXECUTION_NOT_FOUND`, `KEY_REFUSED`.
 */
export async function* followExecution(
  { url, key, fetch: ask = fetch }: ClientOptions,
  executionId: string,
  signal?: AbortSignal,
): AsyncGenerator<ExecutionEvent> {
  const target = new URL(
    `v1/executions/${encodeURIComponent(executionId)}/events`,
    url.endsWith('/') ? url : `${url}/`,
  )
  let lastId: string | undefined
  const isOver = () => signal?.aborted === true
  while (!isOver()) {
    try {
      const response = await ask(target, {
        redirect: 'manual',
        headers: {
          accept: 'text/event-stream',
          authorization: `Bearer ${typeof key === 'string' ? key : await key()}`,
          ...(lastId !== undefined && { 'last-event-id': lastId }),
        },
        ...(signal && { signal }),
      })
      if (response.status === 204) return
      if (response.status < 500 && !response.ok) {
        throw errorOf(response.status, await response.text())
      }
      if (response.ok && response.body !== null) {
        for await (const event of eventsOf(response.body)) {
          lastId = event.id
          yield event
          if (event.event === 'end') return
        }
      }
    } catch (error) {
      if (isServiceError(error)) throw error
      if (isOver()) return
      // The network has failed, or the server was replaced: another one goes on from the same place.
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ExecutionEvent> {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const at = line.indexOf(': ')
          return [line.slice(0, at), line.slice(at + 2)]
        }),
      )
      const data = fields.get('data')
      // A beat that keeps the connection open is no event.
      if (data === undefined) continue
      yield {
        event: fields.get('event'),
        id: fields.get('id'),
        data: JSON.parse(data),
      } as ExecutionEvent
    }
  }
}
