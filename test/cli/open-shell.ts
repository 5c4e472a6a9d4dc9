import type { Answer } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { parts } from '../../src/cli/parts.ts'
import { runProgram } from '../../src/cli/program.ts'
import { Shell } from '../../src/cli/shell.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import { isServiceError, type ServiceError } from '../../src/domain/errors.ts'

/** What a command came to: its answer, or the error that it threw. */
export interface Came {
  readonly output: ReturnType<typeof Object>
  readonly screen: string
  readonly error: ServiceError | undefined
}

/** A shell of this process, whose commands share one embedded database. */
export interface OpenShell extends AsyncDisposable {
  readonly run: (...words: readonly string[]) => Promise<Came>
}

export function openShell(dataDir: string): OpenShell {
  const written: string[] = []
  const sink = { write: (text: string) => written.push(text) }
  const environment = {
    STEPWARDEN_DATA_DIR: dataDir,
    STEPWARDEN_LOG_LEVEL: 'silent',
    STEPWARDEN_REQUIRED_APPROVALS: '0',
  }
  const terminal = new Terminal({ out: sink, err: sink, environment, json: false })
  const shell = new Shell({ terminal, parts, environment, workingDirectory: process.cwd() })
  const run = async (...words: readonly string[]): Promise<Came> => {
    written.length = 0
    let answer: Answer = { output: undefined, screen: '' }
    try {
      await runProgram(
        {
          commands,
          execute: async (command, given) => {
            answer = await command.run(shell, given)
          },
          out: sink,
        },
        words,
      )
    } catch (error) {
      if (!isServiceError(error)) throw error
      return { output: undefined, screen: '', error }
    }
    const screen = [...written, answer.screen].join('')
    return { output: Object(answer.output), screen, error: undefined }
  }
  return { run, [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose]() }
}
