/** What a promise resolves to; undefined when it fails, or takes longer than `ms`. */
export async function settledWithin<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const ending = new AbortController()
  const late = new Promise<undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    ending.signal.addEventListener('abort', () => clearTimeout(timer))
  })
  try {
    return await Promise.race([promise, late])
  } catch {
    // Whoever asks with a limit goes on without an answer.
    return undefined
  } finally {
    ending.abort()
  }
}
