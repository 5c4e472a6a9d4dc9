/**
 * Runs public cases that nobody here wrote through playbooks of this service, and tells how many end as they should.
 *
 *   STEPWARDEN_CASES=FOLDER npm run conformance [-- --json] [-- --suite S] [-- --domain D] [-- --tier T] [-- --case ID]
 *   STEPWARDEN_CASES=FOLDER npm run conformance -- --features
 *
 * The second tells which part of the language carries how many of the procedures, and runs nothing.
 *
 * See docs/conformance.md. Ends with 1 when a case fails, with 2 when it cannot begin.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { featureRows, featureTable } from './features.ts'
import { createRecorder, hasFailures, type Report, reportText } from './report.ts'
import { readDomains } from './sopbench/cases.ts'
import { runSuites } from './suites.ts'

const options = readOptions()
const folder = process.env.STEPWARDEN_CASES
if (!folder) {
  fail('STEPWARDEN_CASES is not set; let it name the folder that holds sopbench/ and tau2-retail/')
}
if (!existsSync(folder)) fail(`STEPWARDEN_CASES names ${folder}, which is not there`)

if (options.features) {
  console.log(featureTable(featureRows(readDomains(join(folder, 'sopbench')))))
  process.exit()
}

const report: Report = {}
const { stderr } = process
const recorder = createRecorder(
  report,
  options,
  ({ suite, domain, tier }, { success, refused }) => {
    if (!stderr.isTTY) return
    const count = success[1] + refused[1]
    stderr.write(`\r\u001b[K${suite} ${domain}, tier ${tier}: ${count} cases`)
  },
)
await runSuites(folder, recorder)
if (stderr.isTTY) stderr.write('\r\u001b[K')
if (Object.keys(report).length === 0) {
  fail(`no case in ${folder} fits what was asked for`)
}
console.log(options.json ? JSON.stringify(report, undefined, 2) : reportText(report))
process.exitCode = hasFailures(report) ? 1 : 0

function readOptions() {
  try {
    return parseArgs({
      options: {
        json: { type: 'boolean', default: false },
        features: { type: 'boolean', default: false },
        suite: { type: 'string' },
        domain: { type: 'string' },
        tier: { type: 'string' },
        case: { type: 'string' },
      },
    }).values
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
