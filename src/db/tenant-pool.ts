import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { ServiceError } from '../domain/errors.ts'
import { type HotStatement, runHot, type TextValue } from './hot-statement.ts'
import { SharedTransactions, tagStatement } from './shared-transactions.ts'
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
   * cost of `query`, and less when many are sent at once, which then share transactions.
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
 * connection and is sent again only when another tenant takes it. Inside a transaction a roll-back would undo it, and what
 * is remembered here would be a lie: only `SharedTransactions` does that, and it forgets the tag before.
 */
export class TenantPool {
  readonly #pool: pg.Pool
  readonly #connectionTimeoutMs: number
  readonly #tags = new WeakMap<pg.PoolClient, string>()
  readonly #shared = new SharedTransactions({
    checkOut: () => this.#checkOut(),
    tagOf: (client) => this.#tags.get(client),
    setTag: (client, tenantId) => {
      if (tenantId === undefined) this.#tags.delete(client)
      else this.#tags.set(client, tenantId)
    },
    runAlone: async (client, tenantId, statement, values) => {
      await this.#tag(client, tenantId)
      return runHot(client, statement, values)
    },
  })

  constructor(pool: pg.Pool, connectionTimeoutMs: number) {
    this.#pool = pool
    this.#connectionTimeoutMs = connectionTimeoutMs
  }

  /** A handle for one tenant. Cheap: make one per request or execution. */
  handle(tenantId: string): TenantDb {
    const connect = () => this.#connect(tenantId)
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
      run: (statement, values) => this.#shared.run(tenantId, statement, values),
      async query<Row extends pg.QueryResultRow>(
        name: string,
        text: string,
        values: readonly unknown[],
      ) {
        const client = await connect()
        try {
          const { rows } = await client.query<Row>({ name, text, values: [...values] })
          return rows
        } finally {
          client.release()
        }
      },
    }
  }

  async #connect(tenantId: string): Promise<pg.PoolClient> {
    const client = await this.#checkOut()
    try {
      await this.#tag(client, tenantId)
      return client
    } catch (error) {
      client.release()
      throw error
    }
  }

  async #tag(client: pg.PoolClient, tenantId: string): Promise<void> {
    if (this.#tags.get(client) === tenantId) return
    // Forgotten first, so that a tag that fails half-way is never believed.
    this.#tags.delete(client)
    await client.query({ ...tagStatement, values: [tenantId] })
    this.#tags.set(client, tenantId)
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
