/**
 * How fast the executor is and what it writes, as ratios to the least that is safe by hand. See docs/performance.md.
 *
 *   TEST_DATABASE_URL=… npm run bench [-- --json] [-- --help]
 *
 * A measurement, not a test: whatever the figures are, it exits with 0. Exit codes: 1 nothing could be measured, 130
 * interrupted.
 */
import { createBenchDatabase } from './executor/database.ts'
import { fillHistory } from './executor/history.ts'
import { measureCosts, measureRates, type Rate } from './executor/measure.ts'
import { type Measurement, readOptions, usage } from './executor/options.ts'
import { type Report, renderReport, toReport } from './executor/report.ts'

async function measure(
  serverUrl: string,
  measurement: Measurement,
  signal: AbortSignal,
): Promise<Report> {
  const progress = (line: string): void => console.error(line)
  progress('making a database')
  await using database = await createBenchDatabase(serverUrl)
  signal.throwIfAborted()
  const costs = await measureCosts(database, measurement, signal, progress)
  const rates = await measureRates(database, measurement, signal, progress)
  let laterRates: readonly Rate[] = []
  if (measurement.history > 0) {
    await fillHistory(database, measurement.history, signal, progress)
    laterRates = await measureRates(database, measurement, signal, progress)
  }
  const about = {
    measuredAt: new Date().toISOString(),
    node: process.version,
    postgres: database.serverVersion,
    measurement,
  }
  return toReport(about, rates, costs, laterRates)
}

/** Answers the exit code. */
async function main(args: readonly string[], serverUrl: string | undefined): Promise<number> {
  const options = readOptions(args)
  if (options === 'help') {
    console.log(usage)
    return 0
  }
  if ('problems' in options) {
    console.error([...options.problems, "See 'npm run bench -- --help'."].join('\n'))
    return 1
  }
  if (serverUrl === undefined || serverUrl === '') {
    console.error(
      'TEST_DATABASE_URL is not set: nothing was measured. Set it to a PostgreSQL server, as a superuser, or start one: ' +
        'eval "export $(.ci/postgres)"',
    )
    return 1
  }
  const interruption = new AbortController()
  // Not `once`: npm passes on a signal that the terminal has sent already, and the second must not cut the cleaning up short.
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => interruption.abort())
  try {
    const report = await measure(serverUrl, options.measurement, interruption.signal)
    console.log(options.json ? JSON.stringify(report, null, 2) : renderReport(report))
    return 0
  } catch (error) {
    if (!interruption.signal.aborted) throw error
    console.error('Interrupted: nothing was measured, and the database is gone again.')
    return 130
  }
}

process.exitCode = await main(process.argv.slice(2), process.env.TEST_DATABASE_URL)
