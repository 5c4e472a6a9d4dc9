import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { newModel, oldModel, wordDefinition } from '../support/switch.ts'

const folder = mkdtempSync(join(tmpdir(), 'stepwarden-switch-'))
const made = join(folder, 'made')
const config = { tenantId: 'default', logLevel: 'silent' } as const
const admin = callerOf()

beforeAll(async () => {
  await using app = await openContext(
    { ...config, database: { dataDir: made, requiredApprovals: 0 } },
    { tools: [], embedder: oldModel },
  )
  for (const [key, word] of [
    ['REFUND', 'refund'],
    ['PARCEL', 'parcel'],
    ['LOGIN', 'login'],
  ] as const) {
    const definition = wordDefinition(key, word)
    await operations.createProcedure.invoke(app, admin, { definition })
    const version = { procedureKey: key, versionNumber: 1, seenActive: null }
    await operations.activateVersion.invoke(app, admin, version)
  }
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('kill -9 at every point of a switch', () => {
  it('leaves every version findable, and the switch goes on from there', async () => {
    for (let stopAt = 1; ; stopAt += 1) {
      const dataDir = join(folder, `at-${stopAt}`)
      cpSync(made, dataDir, { recursive: true })

      const { stdout, signal, stderr } = spawnSync(
        process.execPath,
        ['--import', 'tsx', 'test/support/switch-process.ts', dataDir, String(stopAt)],
        { encoding: 'utf8' },
      )
      const isDone = stdout === 'done\n'
      expect(isDone || signal === 'SIGKILL', stderr).toBe(true)
      await expectWhole(dataDir, isDone)

      rmSync(dataDir, { recursive: true, force: true })
      if (isDone) {
        expect(stopAt).toBeGreaterThan(3)
        break
      }
    }
  }, 300_000)
})

async function expectWhole(dataDir: string, isDone: boolean): Promise<void> {
  await using app = await openContext(
    { ...config, database: { dataDir } },
    { tools: [], embedder: oldModel, hostedEmbedder: newModel },
  )
  const search = async () => {
    const found = ['refund', 'parcel', 'login'].map((issue) =>
      operations.searchProcedures.invoke(app, admin, { issue }),
    )
    return (await Promise.all(found)).map(({ procedureKey, model }) => [procedureKey, model])
  }
  const all = (model: string) => ['REFUND', 'PARCEL', 'LOGIN'].map((key) => [key, model])
  expect(await search()).toEqual(all(isDone ? 'new-v1' : 'old-v1'))

  await operations.switchEmbeddings.invoke(app, admin, { model: newModel.model })
  const { isDone: isResumed } = await operations.continueEmbeddingSwitch.invoke(app, admin, {})
  expect(isResumed).toBe(true)
  expect(await search()).toEqual(all('new-v1'))
}
