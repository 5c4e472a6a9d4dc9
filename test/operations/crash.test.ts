import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openContext } from '../../src/context.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { seedProcedures } from '../support/app.ts'
import { crashAt, expectWhole } from '../support/crash.ts'

const folder = mkdtempSync(join(tmpdir(), 'stepwarden-crash-'))
const seeded = join(folder, 'seeded')

beforeAll(async () => {
  const config = {
    database: { dataDir: seeded, requiredApprovals: 0 },
    tenantId: 'default',
    logLevel: 'silent',
  } as const
  await using app = await openContext(config, { embedder: ngramEmbedder })
  await seedProcedures(app)
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('kill -9 at every boundary of a run that refunds, on an embedded folder', () => {
  // One test, because only the run itself knows how many boundaries it has.
  it('loses nothing and does nothing twice', async () => {
    const passed = new Set<string>()
    for (let stopAt = 1; ; stopAt += 1) {
      const dataDir = join(folder, `at-${stopAt}`)
      cpSync(seeded, dataDir, { recursive: true })

      const lines = await crashAt(dataDir, stopAt)
      const wasStarted = lines.some((line) => line.includes('after_commit start'))
      await expectWhole({ dataDir }, wasStarted)

      rmSync(dataDir, { recursive: true, force: true })
      for (const line of lines) passed.add(line)
      if (lines.at(-1) === 'done') break
    }

    expect([...passed].join('\n')).toMatch(/before_call issue_refund[\s\S]*after_call issue_refund/)
    expect(passed.size).toBeGreaterThan(15)
  }, 600_000)
})
