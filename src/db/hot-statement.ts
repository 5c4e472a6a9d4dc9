import type pg from 'pg'
import { serialize } from 'pg-protocol'

/** A statement that is sent again and again: prepared under its name, which stands for one text for ever. */
export interface HotStatement {
  readonly name: string
  readonly text: string
  /** Whether it locks rows that others lock as well, so that it must not hold them for longer than it takes. */
  readonly contends?: boolean
}

/** A parameter as PostgreSQL reads it from text. */
export type TextValue = string | null

/**
 * Sends a statement whose rows nobody reads, and answers how many it wrote: those of its outermost part, if it has
 * several. Half of what the driver's own query costs, because no row has to be described, parsed or copied.
 */
export function runHot(
  client: pg.ClientBase,
  statement: HotStatement,
  values: readonly TextValue[],
): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(new HotQuery(statement, values, resolve, reject))
  })
}

/** The parts of the driver's connection that remember what is prepared on it; its types leave them out. */
interface Prepared {
  readonly parsedStatements: Record<string, string | undefined>
}

/**
 * One sending of a statement, in the shape that the driver asks of whoever sends messages on its connections
 * (`Submittable`). It calls these methods by their names.
 */
class HotQuery implements pg.Submittable {
  // The driver notes them as prepared when the server has parsed the statement.
  readonly name: string
  readonly text: string
  readonly #values: readonly TextValue[]
  readonly #resolve: (count: number) => void
  readonly #reject: (error: unknown) => void
  #count = 0

  constructor(
    { name, text }: HotStatement,
    values: readonly TextValue[],
    resolve: (count: number) => void,
    reject: (error: unknown) => void,
  ) {
    this.name = name
    this.text = text
    this.#values = values
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: pg.Connection & Partial<Prepared>): void {
    const { name, text } = this
    const values = [...this.#values]
    const isPrepared = connection.parsedStatements?.[name] === text
    if (isEmbedded(connection)) {
      if (!isPrepared) connection.parse({ name, text, types: [] }, true)
      connection.bind({ statement: name, values }, true)
      connection.execute(null, true)
      connection.sync()
      return
    }
    const bind = serialize.bind({ statement: name, values })
    const messages = isPrepared
      ? [bind, executeAndSync]
      : [serialize.parse({ name, text }), bind, executeAndSync]
    // One write is one packet, and a tenth cheaper than a write for each message.
    connection.stream.write(Buffer.concat(messages))
  }

  handleCommandComplete(message: { readonly text: string }): void {
    this.#count = countIn(message)
  }

  handleDataRow(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#count)
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }
}

/** Whether a statement can be sent on a connection by its name alone; never on the embedded database's. */
export function isPrepared(client: pg.ClientBase, { name, text }: HotStatement): boolean {
  // The driver's types leave out what its client keeps there.
  const { connection } = client as pg.ClientBase & {
    readonly connection: pg.Connection & Partial<Prepared>
  }
  return !isEmbedded(connection) && connection.parsedStatements?.[name] === text
}

/** A statement with its parameters. */
export interface Sent {
  readonly statement: HotStatement
  readonly values: readonly TextValue[]
}

/** What came of statements that were sent together. */
export interface Together {
  /** How many rows each has written; with an error, of those before the one that failed. */
  readonly counts: readonly number[]
  readonly error?: unknown
}

/**
 * Sends prepared statements in one packet and one transaction. When one fails, none has written anything, and those after
 * it were not carried out.
 */
export function runTogether(client: pg.ClientBase, sent: readonly Sent[]): Promise<Together> {
  return new Promise((resolve) => {
    client.query(new HotBatch(sent, resolve))
  })
}

class HotBatch implements pg.Submittable {
  readonly #sent: readonly Sent[]
  readonly #resolve: (together: Together) => void
  readonly #counts: number[] = []

  constructor(sent: readonly Sent[], resolve: (together: Together) => void) {
    this.#sent = sent
    this.#resolve = resolve
  }

  submit(connection: pg.Connection): void {
    const messages = this.#sent.flatMap(({ statement, values }) => [
      serialize.bind({ statement: statement.name, values: [...values] }),
      execute,
    ])
    connection.stream.write(Buffer.concat([...messages, sync]))
  }

  handleCommandComplete(message: { readonly text: string }): void {
    this.#counts.push(countIn(message))
  }

  handleDataRow(): void {}

  handleReadyForQuery(): void {
    this.#resolve({ counts: this.#counts })
  }

  handleError(error: unknown): void {
    this.#resolve({ counts: this.#counts, error })
  }
}

/** `INSERT 0 6`, `UPDATE 1` */
function countIn({ text }: { readonly text: string }): number {
  return Number(text.slice(text.lastIndexOf(' ') + 1))
}

/** The embedded database has no stream behind its connection. */
function isEmbedded({ stream }: pg.Connection): boolean {
  return !('write' in stream)
}

const execute = serialize.execute()
// What ends it ends the transaction, too.
const sync = serialize.sync()
const executeAndSync = Buffer.concat([execute, sync])
