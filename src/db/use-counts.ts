import type { Clock } from '../executor/ports.ts'
import type { Logger } from '../logger.ts'
import type { Database } from './connect.ts'
import { addUses } from './queries/experiences.ts'

/** What could not be counted is tried again so often, and then given up with a line of the log. */
const maxTries = 5
const firstPauseMs = 200

/**
 * Counts that experiences were shown, after the answer and apart from it: no answer waits for it or fails by it. What is
 * shown while a count is being written is gathered and written together, so that fifty readers at once cost a statement
 * or two.
 */
export class UseCounts implements AsyncDisposable {
  readonly #database: Database
  readonly #clock: Clock
  readonly #log: Logger
  #waiting = new Map<string, Map<string, number>>()
  #writing: Promise<void> | undefined
  #isClosing = false

  constructor(database: Database, clock: Clock, log: Logger) {
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  /** Notes that experiences of a tenant were shown once each, and comes back at once. */
  add(tenantId: string, ids: readonly string[]): void {
    if (ids.length === 0) return
    const own = this.#waiting.get(tenantId) ?? new Map<string, number>()
    for (const id of new Set(ids)) own.set(id, (own.get(id) ?? 0) + 1)
    this.#waiting.set(tenantId, own)
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Resolves when everything that was noted is counted, or given up. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(): Promise<void> {
    // Whoever has asked is answered first.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.size > 0) {
      const taken = this.#waiting
      this.#waiting = new Map()
      for (const [tenantId, uses] of taken) await this.#count(tenantId, uses)
    }
  }

  async #count(tenantId: string, uses: ReadonlyMap<string, number>): Promise<void> {
    const { kysely } = this.#database.forTenant(tenantId)
    for (let tries = 1; ; tries += 1) {
      try {
        return await addUses(kysely, uses, new Date(this.#clock.now()))
      } catch (error) {
        if (tries === maxTries || this.#isClosing) {
          const counts = Object.fromEntries(uses)
          this.#log.error({ err: error, tenantId, counts }, 'uses of experiences were not counted')
          return
        }
        await new Promise((resolve) => setTimeout(resolve, firstPauseMs * tries))
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    await this.settled()
  }
}
