type Listener = NonNullable<Parameters<AbortSignal['addEventListener']>[1]>

/**
 * Keeps what the listeners of a signal throw, or reject with, for `onThrown`. Node throws it where nobody can catch it,
 * and the process ends with all runs that it has.
 */
export function guardListeners(signal: AbortSignal, onThrown: (error: unknown) => void): void {
  const guards = new WeakMap<Listener, (event: Event) => void>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)

  function guardOf(listener: Listener): (event: Event) => void {
    const known = guards.get(listener)
    if (known !== undefined) return known
    const guard = (event: Event): void => {
      try {
        const answer: unknown =
          typeof listener === 'function'
            ? listener.call(signal, event)
            : listener.handleEvent(event)
        Promise.resolve(answer).catch(onThrown)
      } catch (error) {
        onThrown(error)
      }
    }
    guards.set(listener, guard)
    return guard
  }

  signal.addEventListener = (type, listener, options) => {
    add(type, isListener(listener) ? guardOf(listener) : listener, options)
  }
  signal.removeEventListener = (type, listener, options) => {
    remove(type, isListener(listener) ? guardOf(listener) : listener, options)
  }
}

/** Tools are plain JavaScript as well: what is no listener is refused by the signal itself. */
function isListener(value: unknown): value is Listener {
  return typeof value === 'function' || (typeof value === 'object' && value !== null)
}
