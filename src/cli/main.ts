import { serviceVersion } from '../db/service-version.ts'
import { parts } from './parts.ts'
import { runCommandLine } from './run-command-line.ts'

/** The entry of the command: hands the concrete parts in, and leaves with the exit code. */

/** Resolves when what was written before has gone out, or nobody reads it any more. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

const exitCode = await runCommandLine(process.argv.slice(2), parts, serviceVersion)
await Promise.all([flushed(process.stdout), flushed(process.stderr)])
// A tool that never answers, or a connection to a database that is locked, would keep the process for ever.
process.exit(exitCode)
