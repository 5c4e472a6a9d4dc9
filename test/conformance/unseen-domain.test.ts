import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createRecorder, type Report, reportText } from '../../conformance/report.ts'
import { runSuites } from '../../conformance/suites.ts'
import { rental } from './rental.ts'

const folder = mkdtempSync(join(tmpdir(), 'stepwarden-cases-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('runs a domain that it has never seen, and says what it cannot write down', async () => {
  const { name, tools, procedures, cases } = rental
  mkdirSync(join(folder, 'sopbench'))
  const write = (file: string, content: unknown) =>
    writeFileSync(join(folder, 'sopbench', file), JSON.stringify(content))
  write('tools.json', { [name]: tools })
  write('rental.json', { domain: name, procedures, cases })
  const report: Report = {}

  await runSuites(
    folder,
    createRecorder(report, {}, () => {}),
  )

  expect(report).toEqual({
    sopbench: {
      rental: {
        1: { success: [3, 3], refused: [3, 3], failures: [] },
        2: {
          success: [1, 3],
          refused: [3, 3],
          failures: [
            { case: 'rental/lend/006', reason: expect.stringContaining('enough_stock') },
            { case: 'rental/lend/005', reason: expect.stringContaining('the moon') },
          ],
        },
      },
    },
  })
  expect(reportText(report)).toContain('rental/lend/005, tier 2: Untranslatable: unheard_of')
})
