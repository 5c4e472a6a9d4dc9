// Prints `PASSED FAILED` of a JSON report of vitest. A file that fails outside its tests counts as one failure.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const brokenFiles = report.testResults.filter(
  (file) =>
    file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
)
console.log(report.numPassedTests, report.numFailedTests + brokenFiles.length)
