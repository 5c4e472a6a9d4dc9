import { namingArguments } from './argument-names.ts'
import { chat } from './chat.ts'
import { type Command, type Given, showAnswer } from './command.ts'
import { commands } from './commands.ts'
import { exitCodes, reportFailure } from './failures.ts'
import { runProgram } from './program.ts'
import { type Parts, Shell } from './shell.ts'
import { Terminal } from './terminal.ts'
import { settledWithin } from './within.ts'

/** How long an interrupted process waits for its database to close. */
const closeWithinMs = 2_000

/**
 * Carries out one command line of this process and answers its exit code. Without any words, at a terminal, it opens a
 * session.
 */
export async function runCommandLine(
  words: readonly string[],
  parts: Parts,
  version: string,
): Promise<number> {
  ignoreBrokenPipes()
  // Looked for before the words are understood: what is wrong with them is told in the same form.
  const [json, end] = [words.indexOf('--json'), words.indexOf('--')]
  const terminal = new Terminal({
    out: process.stdout,
    err: process.stderr,
    environment: process.env,
    json: json !== -1 && (end === -1 || json < end),
  })
  let exitCode: number = exitCodes.done[0]
  const execute = async (command: Command, given: Given): Promise<void> => {
    const environment = environmentOf(given)
    const shell = new Shell({ terminal, parts, environment, workingDirectory: process.cwd() })
    exitCode = await untilSignal(terminal, shell, async () => {
      try {
        const run = () => namingArguments(command, () => command.run(shell, given))
        return showAnswer(terminal, await explaining(shell, run))
      } finally {
        await close(shell)
      }
    })
  }
  const isAtTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
  if (words.length === 0 && !isAtTerminal) {
    terminal.notice("There is nothing to do without a command: 'stepwarden --help' lists them.")
    return exitCodes.invalid[0]
  }
  try {
    await runProgram(
      { commands: [...commands, chat], execute, out: process.stdout, version },
      words.length === 0 ? [chat.path] : words,
    )
    return exitCode
  } catch (error) {
    return reportFailure(terminal, error)
  }
}

/** `--data-dir` says where the data is, whatever the environment says of it. */
function environmentOf(given: Given): Readonly<Record<string, string | undefined>> {
  const dataDir = given.find('data-dir')
  if (dataDir === undefined) return process.env
  return { ...process.env, DATABASE_URL: undefined, STEPWARDEN_DATA_DIR: dataDir }
}

async function explaining<T>(shell: Shell, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw shell.explain(error)
  }
}

/** Closes what the shell has opened. Once it was interrupted, a database that is locked holds nobody up. */
async function close(shell: Shell): Promise<void> {
  const closing = shell[Symbol.asyncDispose]()
  await (shell.isInterrupted ? settledWithin(closeWithinMs, closing) : closing)
}

/**
 * Runs to the end, or until Ctrl-C or SIGTERM: then the process ends, with the database closed if that is soon; a
 * second one does not wait for that. A run that is cut off is safe in its journal.
 */
async function untilSignal(
  terminal: Terminal,
  shell: Shell,
  run: () => Promise<number>,
): Promise<number> {
  let interrupted = false
  const leave = (): void => {
    if (shell.isInterrupted) {
      terminal.notice('\nEnded at once. No run is lost: what was going on is for another worker.')
      process.exit(exitCodes.interrupted[0])
    }
    if (shell.interrupt()) {
      terminal.notice('\nStopping: each run finishes the step that it is at. Again to end at once.')
      return
    }
    terminal.notice(`\nInterrupted. ${shell.afterInterrupt}`)
    const end = () => process.exit(exitCodes.interrupted[0])
    // The run goes on for as long as this takes, and what it meets with a closed database is of no interest.
    interrupted = true
    close(shell).then(end, end)
  }
  process.on('SIGINT', leave)
  process.on('SIGTERM', leave)
  try {
    return await run()
  } catch (error) {
    if (interrupted) await new Promise(() => {})
    throw error
  } finally {
    process.off('SIGINT', leave)
    process.off('SIGTERM', leave)
  }
}

/** A reader that has seen enough (`| head`) is no error, and never cuts a run short. */
function ignoreBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}
