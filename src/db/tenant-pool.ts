import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { ServiceError } from '../domain/errors.ts'
import { type HotStatement, runHot, type TextValue } from './hot-statement.ts'
import { type SilenceWatch, watchSilence } from './silence-watch.ts'
import type { Tables } from './tables.ts'

/** A handle that reads, or opens a transaction. */
export type Db = Kysely<Tables>
/** A handle for what must be part of a change. */
export type Transaction = KyselyTransaction<Tables>

/** Ways to one pool: built queries, and statements that stay prepared. */
export interface DatabaseHandle {
  readonly kysely: Db
  /**
   * Sends one statement as a named prepared statement on a connection of its own and answers its rows. A name stands
   * for one text, for ever; 1.4 to 1.6 times as fast as an unnamed one (STACK: kysely never names its statements).
   *
   * @throws ServiceError `DATABASE_BUSY` if no connection becomes free in time; errors of the statement as they are.
   */
  query<Row extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]>
  /**
   * The same for a statement whose rows nobody reads: answers how many rows its outermost part has written. Half the
   * cost of `query`.
   *
   * @throws ServiceError as `query` does.
   */
  run(statement: HotStatement, values: readonly TextValue[]): Promise<number>
}

/** A handle that sees and writes one tenant's rows only. */
export interface TenantDb extends DatabaseHandle {
  readonly tenantId: string
}

/**
 * Hands out the connections of a pool, each tagged with a tenant for row-level security. The tag stays on the
 * connection and is sent again only when another tenant takes it, never inside a transaction: a roll-back would undo
 * it there, and what is remembered here would be a lie.
 */
export class TenantPool implements Disposable {
  readonly #pool: pg.Pool
  readonly #connectionTimeoutMs: number
  readonly #watch: SilenceWatch | undefined
  readonly #tags = new WeakMap<pg.PoolClient, string>()

  /** `maxSilenceMs`: after how long a connection that answers nothing is given up; never if absent. */
  constructor(pool: pg.Pool, connectionTimeoutMs: number, maxSilenceMs?: number) {
    this.#pool = pool
    this.#connectionTimeoutMs = connectionTimeoutMs
    if (maxSilenceMs !== undefined) this.#watch = watchSilence(maxSilenceMs)
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]()
  }

  /** A handle for one tenant. Cheap: make one per request or execution. */
  handle(tenantId: string): TenantDb {
    const connect = () => this.#connect(tenantId)
    const watch = this.#watch
    let kysely: Db | undefined
    return {
      tenantId,
      // Made when it is asked for: an execution mostly runs by `query` alone.
      get kysely() {
        // Who opened the pool ends it; a Kysely instance over it owns nothing.
        const pool = { connect, end: async () => {} }
        kysely ??= new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
        return kysely
      },
      run: async (statement, values) => {
        const client = await connect()
        watch?.asks(client)
        try {
          return await runHot(client, statement, values)
        } finally {
          watch?.isAnswered(client)
          client.release()
        }
      },
      async query<Row extends pg.QueryResultRow>(
        name: string,
        text: string,
        values: readonly unknown[],
      ) {
        const client = await connect()
        watch?.asks(client)
        try {
          const { rows } = await client.query<Row>({ name, text, values: [...values] })
          return rows
        } finally {
          watch?.isAnswered(client)
          client.release()
        }
      },
    }
  }

  async #connect(tenantId: string): Promise<pg.PoolClient> {
    const client = await this.#checkOut()
    if (this.#tags.get(client) === tenantId) return client
    // Forgotten first, so that a tag that fails half-way is never believed.
    this.#tags.delete(client)
    try {
      await client.query({
        name: 'stepwarden_tag',
        text: "SELECT set_config('stepwarden.tenant', $1, false)",
        values: [tenantId],
      })
    } catch (error) {
      client.release()
      throw error
    }
    this.#tags.set(client, tenantId)
    return client
  }

  async #checkOut(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      // The pool has no other mark for this case than its text.
      if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
        throw new ServiceError(
          'DATABASE_BUSY',
          { waitedMs: this.#connectionTimeoutMs },
          { cause: error },
        )
      }
      throw error
    }
  }
}
