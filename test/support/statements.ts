import pg from 'pg'
import { vi } from 'vitest'

export interface Statement {
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever was bound
  readonly values: any
}

/** Watches what this process sends to its databases, and sends it all the same; `vi.restoreAllMocks` ends it. */
export function watchStatements(): () => readonly Statement[] {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  return () =>
    query.mock.calls.map(([config, given]) => {
      const { text = String(config), values = given } = Object(config)
      return { text: String(text), values }
    })
}
