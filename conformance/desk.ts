import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '../bench/scratch-database.ts'
import { hashOf } from '../src/domain/canonical.ts'
import type { JsonObject } from '../src/domain/json.ts'
import {
  type Client,
  createStepwarden,
  type DatabaseConfig,
  type Principal,
  type Tool,
} from '../src/index.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'

export type Run = Awaited<ReturnType<Client['startExecution']>>

/**
 * A database of the suite's own that asks for no approvals, gone when it is closed: on the server of TEST_DATABASE_URL,
 * else embedded.
 */
export interface SuiteDatabase extends AsyncDisposable {
  readonly config: DatabaseConfig
}

export async function openSuiteDatabase(): Promise<SuiteDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (server) {
    const scratch = await createScratchDatabase(server)
    return {
      config: { url: scratch.url },
      [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
    }
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'stepwarden-conformance-'))
  return {
    config: { dataDir, requiredApprovals: 0 },
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }),
  }
}

/** A version could not go live. */
class NotServable extends Error {
  override readonly name = 'NotServable'
}

/** The service with the tools of one domain: playbooks go live in it, and cases run through them. */
export interface Desk extends AsyncDisposable {
  /**
   * Sees to it that a procedure serves exactly this definition: by its first version, by the next, or by the one that
   * serves already.
   *
   * @throws NotServable when the checks find an error.
   */
  serve(definition: JsonObject): Promise<void>
  start(procedureKey: string, input: JsonObject): Promise<Run>
}

const principal: Principal = {
  id: 'conformance',
  kind: 'human',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
}

export async function openDesk(config: DatabaseConfig, tools: readonly Tool[]): Promise<Desk> {
  // Nothing is searched for here, so the embedder of words alone will do, which needs no loading.
  const stepwarden = await createStepwarden({ database: config, tools, embedder: ngramEmbedder })
  const client = stepwarden.as(principal)
  const serving = new Map<string, { hash: string; versionNumber: number }>()
  const made = new Set<string>()
  return {
    async serve(definition) {
      const procedureKey = String(definition.key)
      const hash = hashOf(definition)
      const active = serving.get(procedureKey)
      if (active?.hash === hash) return
      const draft = made.has(procedureKey)
        ? await client.createVersion({ procedureKey, definition })
        : await client.createProcedure({ definition })
      made.add(procedureKey)
      const errors = draft.findings.filter(({ severity }) => severity === 'error')
      if (errors.length > 0) {
        const found = errors.map(({ path, rule, message }) => `${path}: ${rule}: ${message}`)
        throw new NotServable(found.join('; '))
      }
      const { versionNumber } = draft
      const seenActive = active?.versionNumber ?? null
      await client.activateVersion({ procedureKey, versionNumber, seenActive })
      serving.set(procedureKey, { hash, versionNumber })
    },
    start: (procedureKey, input) => client.startExecution({ procedureKey, input }),
    [Symbol.asyncDispose]: () => stepwarden[Symbol.asyncDispose](),
  }
}
