/** What wants to be told of the error that ends this process. */
const listeners = new Set<(error: unknown) => void>()

function tellAll(error: unknown): void {
  for (const listener of listeners) listener(error)
}

/**
 * Tells of an error that nothing has caught, right before the process ends of it; that is not to be stopped, because
 * nobody knows what the error has left undone. Answers how to listen no more.
 */
export function onUncaught(listener: (error: unknown) => void): () => void {
  // One for the process, however many listen.
  if (listeners.size === 0) process.on('uncaughtExceptionMonitor', tellAll)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) process.off('uncaughtExceptionMonitor', tellAll)
  }
}
