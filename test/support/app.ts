import { readdirSync, readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import type { AccessConfig } from '../../src/config/access.ts'
import type { Config } from '../../src/config/config.ts'
import { type AppContext, type ContextOptions, createContext } from '../../src/context.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { callerOf } from './caller.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

export interface TestApp {
  readonly app: AppContext
  readonly db: TestDatabase
}

/**
 * The service on a database of this test file's own, with the demo's payment desk unless other tools are given, and with
 * the embedder of words alone, which needs no loading.
 */
export async function openTestApp(
  options: ContextOptions = {},
  access: AccessConfig = {},
  logLevel: Config['logLevel'] = 'silent',
): Promise<TestApp> {
  const db = await openTestDatabase()
  const app = await createContext(
    db.database,
    { tenantId: 'default', logLevel, access },
    { embedder: ngramEmbedder, ...options },
  )
  afterAll(() => app[Symbol.asyncDispose]())
  return { app, db }
}

const seedFolder = new URL('../../seeds/procedures/', import.meta.url)

/** The definition documents of the demo, as they stand in their files, by key. */
export function seedDefinitions(): ReadonlyMap<string, Record<string, unknown>> {
  return new Map(
    readdirSync(seedFolder).map((name) => {
      const document = readDocument(readFileSync(new URL(name, seedFolder), 'utf8'), { name })
      const value = Object(document.value)
      return [String(value.key), value] as const
    }),
  )
}

/** Makes the demo's procedures and activates them. */
export async function seedProcedures(app: AppContext, caller = callerOf()): Promise<void> {
  for (const [key, definition] of seedDefinitions()) {
    await operations.createProcedure.invoke(app, caller, { definition })
    await operations.activateVersion.invoke(app, caller, {
      procedureKey: key,
      versionNumber: 1,
      seenActive: null,
    })
  }
}
