import { namingArguments } from '../../src/cli/argument-names.ts'
import type { Command, Given } from '../../src/cli/command.ts'
import { showAnswer } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { reportFailure } from '../../src/cli/failures.ts'
import { parts } from '../../src/cli/parts.ts'
import { runProgram } from '../../src/cli/program.ts'
import { Shell, type ShellOptions } from '../../src/cli/shell.ts'
import { Terminal } from '../../src/cli/terminal.ts'
import type { AppContext } from '../../src/context.ts'

/** What a process of the command would have left. */
export interface CliAnswer {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A shell on a service that is open already, instead of one that its configuration names. */
class ShellOn extends Shell {
  readonly #app: AppContext

  constructor(app: AppContext, options: ShellOptions) {
    super(options)
    this.#app = app
  }

  override app(): Promise<AppContext> {
    return Promise.resolve(this.#app)
  }

  override bareApp(): Promise<AppContext> {
    return this.app()
  }
}

/** The command line with `--json` in this process, on a service that is open: for somebody of a tenant, by their key. */
export function openCliDoor(app: AppContext, key: string, tenantId: string) {
  const environment = {
    STEPWARDEN_DATA_DIR: '/nowhere/stepwarden',
    STEPWARDEN_KEY: key,
    STEPWARDEN_TENANT: tenantId,
  }
  return async (words: readonly string[]): Promise<CliAnswer> => {
    const written = { out: '', err: '' }
    const terminal = new Terminal({
      out: { write: (text) => (written.out += text) },
      err: { write: (text) => (written.err += text) },
      environment: {},
      json: true,
    })
    let exitCode = 0
    const execute = async (command: Command, given: Given) => {
      const shell = new ShellOn(app, {
        ...{ terminal, parts, environment, workingDirectory: process.cwd() },
      })
      const answer = await namingArguments(command, () => command.run(shell, given))
      exitCode = showAnswer(terminal, answer)
    }
    try {
      await runProgram({ commands, execute, out: { write: () => {} } }, [...words, '--json'])
    } catch (error) {
      exitCode = reportFailure(terminal, error)
    }
    return { exitCode, stdout: written.out, stderr: written.err }
  }
}
