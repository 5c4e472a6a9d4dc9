/** No description and no set of keys is longer, in bytes. */
const maxBytes = 512 * 1024

const timeoutMs = 5_000

/**
 * Reads a JSON document over HTTP: an answer of 200, of at most 512 KiB, whole within five seconds, from the very URL (a
 * redirection is an error: whoever is configured is the one who answers).
 *
 * @throws Error whose message says what was wrong, without the content.
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  }).catch((error: unknown) => {
    throw new Error(`${url} does not answer: ${reasonOf(error)}`, { cause: error })
  })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new Error(`${url} answers ${response.status}`)
  }
  const parts: Uint8Array[] = []
  let length = 0
  // Leaving the loop by an error cancels the rest of the body.
  for await (const part of response.body) {
    length += part.byteLength
    if (length > maxBytes) throw new Error(`${url} answers more than ${maxBytes} bytes`)
    parts.push(part)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch (error) {
    throw new Error(`${url} answers something that is no JSON`, { cause: error })
  }
}

/** `fetch` itself says no more than that it failed; what failed is its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
