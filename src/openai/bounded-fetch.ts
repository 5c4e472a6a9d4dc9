import { ModelFailed } from './failure.ts'

/** Statuses whose answers have no body. */
const withoutBody = [204, 205, 304]

/**
 * A `fetch` for a model server that is not trusted: it reads at most so many bytes of an answer, counted after
 * decompression, and follows no redirect, since what is sent is meant for the server that was configured and the answer
 * of no other is to be believed. A redirect comes out as the answer that it is.
 *
 * The whole body is read before it answers. It throws ModelFailed `answer_invalid` for one that is larger.
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' })
    const body = await readBody(response, maxBytes)
    const { status, statusText, headers } = response
    return new Response(withoutBody.includes(status) ? null : body, { status, statusText, headers })
  }
}

async function readBody({ body }: Response, maxBytes: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  // Leaving the loop ends the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      throw new ModelFailed(
        'answer_invalid',
        `The answer of the model server has more than ${maxBytes} bytes.`,
      )
    }
    chunks.push(chunk)
  }
  return new Blob(chunks)
}
