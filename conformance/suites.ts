import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSuiteDatabase } from './desk.ts'
import type { Recorder } from './report.ts'
import { runRetail } from './retail/suite.ts'
import { readDomains } from './sopbench/cases.ts'
import { runDomain } from './sopbench/suite.ts'

/** Runs every suite that the folder holds, on one database of its own. */
export async function runSuites(folder: string, recorder: Recorder): Promise<void> {
  await using database = await openSuiteDatabase()
  const sopbench = join(folder, 'sopbench')
  if (existsSync(sopbench)) {
    for (const domain of readDomains(sopbench)) await runDomain(database.config, domain, recorder)
  }
  const retail = join(folder, 'tau2-retail')
  if (existsSync(retail)) await runRetail(database.config, retail, recorder)
}
