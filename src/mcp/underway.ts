/** What a door has begun and not answered yet, so that it can be let finish before the door closes. */
export class Underway {
  readonly #going = new Set<Promise<unknown>>()
  #isStopping = false

  /** True once the door is closing. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** From now on, runs give themselves back before their next step, for another process to carry on. */
  stop(): void {
    this.#isStopping = true
  }

  /** Counts as begun until it has succeeded or failed. */
  async track<T>(run: () => Promise<T>): Promise<T> {
    const going = run()
    this.#going.add(going)
    try {
      return await going
    } finally {
      this.#going.delete(going)
    }
  }

  /** Resolves when nothing is under way any more, or when so much time has passed. */
  async settled(withinMs: number): Promise<void> {
    if (this.#going.size > 0) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs)
      })
      await Promise.race([Promise.allSettled(this.#going), late])
      clearTimeout(timer)
    }
    // What has come to an end just now is written by callbacks that are queued already.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
