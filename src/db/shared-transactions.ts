import type pg from 'pg'
import {
  type HotStatement,
  isPrepared,
  runHot,
  runTogether,
  type TextValue,
} from './hot-statement.ts'

/** While one waits for the disk, the next is carried out. More of them would make each carry less. */
const maxUnderWay = 2
const maxStatements = 32
/** From then on a transaction is held up by somebody, and another takes its place. */
const slowAfterMs = 250

/** A statement to be carried out for one tenant. */
interface Waiting {
  readonly tenantId: string
  readonly statement: HotStatement
  readonly values: readonly TextValue[]
  readonly resolve: (count: number) => void
  readonly reject: (error: unknown) => void
}

/** What is needed of a pool whose connections are tagged with tenants. */
export interface TaggedConnections {
  checkOut(): Promise<pg.PoolClient>
  tagOf(client: pg.PoolClient): string | undefined
  /** Undefined: nobody knows. */
  setTag(client: pg.PoolClient, tenantId: string | undefined): void
  /** Carries a statement out in a transaction of its own. */
  runAlone(
    client: pg.PoolClient,
    tenantId: string,
    statement: HotStatement,
    values: readonly TextValue[],
  ): Promise<number>
}

/**
 * Whoever meets a row that somebody else has locked waits by itself, and not at the cost of those that share its
 * transaction. Until the end of the transaction.
 */
const shareStatement: HotStatement = {
  name: 'stepwarden_share',
  text: "SELECT set_config('lock_timeout', '250ms', true)",
}

export const tagStatement: HotStatement = {
  name: 'stepwarden_tag',
  text: "SELECT set_config('stepwarden.tenant', $1, false)",
}

/**
 * Group commit: statements that come while others are under way share the next transaction, its way to the server and its
 * wait for the disk. One that comes alone is sent at once. Each is carried out under the tag of its own tenant; when one
 * fails, all are rolled back, it is carried out once more by itself, and so are the others together.
 *
 * Halves the processor time of Node and gives half as much again in executions per second, at eight clients and at 32
 * (docs/performance.md).
 */
export class SharedTransactions {
  readonly #connections: TaggedConnections
  readonly #waiting: Waiting[] = []
  /** When each transaction that is under way was begun, by `performance.now()`. */
  readonly #underWay = new Set<{ readonly since: number }>()
  #slowTimer: NodeJS.Timeout | undefined

  constructor(connections: TaggedConnections) {
    this.#connections = connections
  }

  /** Answers how many rows the statement's outermost part has written. */
  run(tenantId: string, statement: HotStatement, values: readonly TextValue[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const one = { tenantId, statement, values, resolve, reject }
      if (statement.contends === true) void this.#sendAlone(one)
      else {
        this.#waiting.push(one)
        this.#goOn()
      }
    })
  }

  #goOn(): void {
    if (this.#waiting.length === 0) {
      clearTimeout(this.#slowTimer)
      this.#slowTimer = undefined
    } else if (this.#underWay.size < maxUnderWay || this.#quickCount() < maxUnderWay) {
      void this.#sendSome()
    } else {
      this.#slowTimer ??= setTimeout(() => {
        this.#slowTimer = undefined
        this.#goOn()
      }, slowAfterMs)
    }
  }

  #quickCount(): number {
    const slowBefore = performance.now() - slowAfterMs
    return [...this.#underWay].filter(({ since }) => since > slowBefore).length
  }

  async #sendSome(): Promise<void> {
    const mark = { since: performance.now() }
    this.#underWay.add(mark)
    // Whoever comes while a connection is awaited goes with it, and fails with none but those before it.
    const first = this.#waiting.length
    try {
      const client = await this.#connections.checkOut()
      const some = this.#waiting.splice(0, maxStatements)
      const lost = await this.#carryOut(client, some).catch((error: unknown) => {
        rejectAll(some, error)
        return error
      })
      client.release(lost !== undefined)
    } catch (error) {
      rejectAll(this.#waiting.splice(0, first), error)
    } finally {
      this.#underWay.delete(mark)
      this.#goOn()
    }
  }

  /** Answers the error after which nobody knows whether the connection is still good. */
  async #carryOut(client: pg.PoolClient, some: readonly Waiting[]): Promise<unknown> {
    if (some.length > 1 && !isPrepared(client, shareStatement)) {
      await runHot(client, shareStatement, [])
    }
    const canShare = some.length > 1 && isPrepared(client, tagStatement)
    const together = canShare ? some.filter(({ statement }) => isPrepared(client, statement)) : []
    // What is prepared first is sent by itself, which prepares it.
    for (const one of some) if (!together.includes(one)) await this.#runAlone(client, one)
    return together.length > 0 ? this.#runTogether(client, together) : undefined
  }

  #runAlone(client: pg.PoolClient, { resolve, reject, ...one }: Waiting): Promise<void> {
    const { tenantId, statement, values } = one
    return this.#connections.runAlone(client, tenantId, statement, values).then(resolve, reject)
  }

  async #runTogether(client: pg.PoolClient, some: readonly Waiting[]): Promise<unknown> {
    const before = this.#connections.tagOf(client)
    let tag = before
    const own = some.flatMap((one) => {
      const wanted = { statement: one.statement, values: one.values, one }
      if (tag === one.tenantId) return [wanted]
      tag = one.tenantId
      return [{ statement: tagStatement, values: [tag], one: undefined }, wanted]
    })
    const sent = [{ statement: shareStatement, values: [], one: undefined }, ...own]
    // Tags are set in the transaction, so that a roll-back takes them away: until it has ended nobody knows the last.
    if (tag !== before) this.#connections.setTag(client, undefined)
    const { counts, error } = await runTogether(client, sent)
    if (error === undefined) {
      this.#connections.setTag(client, tag)
      for (const [index, { one }] of sent.entries()) one?.resolve(counts[index] ?? 0)
      return undefined
    }
    const refused = isRolledBack(error) ? sent[counts.length]?.one : undefined
    if (refused === undefined) {
      rejectAll(some, error)
      return error
    }
    this.#waiting.unshift(...some.filter((one) => one !== refused))
    void this.#sendAlone(refused)
    return undefined
  }

  /** On a connection of its own: what it waits for may take long, and concerns nobody else. */
  async #sendAlone(one: Waiting): Promise<void> {
    try {
      const client = await this.#connections.checkOut()
      await this.#runAlone(client, one).finally(() => client.release())
    } catch (error) {
      one.reject(error)
    }
  }
}

/** Of those that have their answer already nothing changes. */
function rejectAll(some: readonly Waiting[], error: unknown): void {
  for (const { reject } of some) reject(error)
}

/** Errors with which a server closes the connection: then nobody has heard how the transaction ended. */
const closing = /^(08|57P|XX)/

/** Whether the server has refused a statement, and with it the transaction; all else leaves it open. */
function isRolledBack(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !closing.test(code)
}
