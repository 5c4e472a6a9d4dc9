import { createInterface, type Interface } from 'node:readline'
import { listProcedures } from '../operations/list-procedures.ts'
import { namingArguments } from './argument-names.ts'
import { type Command, showAnswer } from './command.ts'
import { commands } from './commands.ts'
import { reportFailure } from './failures.ts'
import { carryOnLeft } from './left-runs.ts'
import { runProgram } from './program.ts'
import type { Shell } from './shell.ts'
import { resolveText, runTicket } from './ticket-commands.ts'
import { countText } from './value-line.ts'

/** Short names of a session, with the commands that they stand for. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  chat: ['resolve'],
  procedures: ['procedures', 'list'],
  execution: ['executions', 'show'],
  executions: ['executions', 'list'],
  escalations: ['escalations', 'list'],
  activate: ['procedures', 'activate'],
}

/** Their argument is a text as it was typed, whatever it begins with and whatever quotes are in it. */
const textCommands = ['chat', 'search', 'resolve']

const help = `What you type is a customer's message, and is answered through an approved playbook.
Only a line that begins with / is a command:

  /search TEXT                 find playbooks, and run none
  /chat TEXT                   the same as typing TEXT
  /procedures                  list the playbooks; /procedures show KEY shows one
  /execution ID                show a run, step by step; /executions lists them
  /escalations                 what waits for a person
  /activate KEY NUMBER         put a draft into service
  /stats                       how many there are of what
  /help, /quit                 this text; leave (Ctrl-D as well)

Every other command of stepwarden works too, with a / before it.`

export const chat: Command = {
  path: 'chat',
  summary: 'Open a session: what is typed is a ticket, and lines that begin with / are commands',
  notes: `Without any command, at a terminal, stepwarden opens it as well.\n\n${help}`,
  async run(shell) {
    shell.isSession = true
    await carryOnLeft(shell)
    const session = new Session(shell)
    await session.toEnd()
    return { output: { left: true }, screen: '' }
  },
}

class Session {
  readonly #shell: Shell
  readonly #interface: Interface
  readonly #lines: AsyncIterator<string>
  #isWorking = false

  constructor(shell: Shell) {
    this.#shell = shell
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
    this.#interface = createInterface({
      input: process.stdin,
      ...(isTerminal && { output: process.stdout }),
      prompt: isTerminal ? '› ' : '',
      historySize: 200,
    })
    // Taken at once: lines that come before it are lost.
    this.#lines = this.#interface[Symbol.asyncIterator]()
    // At the prompt Ctrl-C leaves, as Ctrl-D does; at work it is the process's own affair.
    this.#interface.on('SIGINT', () => {
      if (this.#isWorking) process.kill(process.pid, 'SIGINT')
      else this.#interface.close()
    })
  }

  async toEnd(): Promise<void> {
    await this.#greet()
    let line = await this.#read()
    while (line !== undefined) {
      const text = line.trim()
      if (text === '/quit' || text === '/exit') break
      line = (await this.#answer(text)) ?? (await this.#read())
    }
    this.#interface.close()
  }

  /** Carries a line out. Answers the line to go on with, when the person has typed it already. */
  async #answer(text: string): Promise<string | undefined> {
    const { terminal } = this.#shell
    if (text === '') return undefined
    this.#isWorking = true
    try {
      if (!text.startsWith('/')) return await this.#ticket(text)
      await this.#command(text.slice(1))
    } catch (error) {
      // An error ends the line, never the session.
      reportFailure(terminal, this.#shell.explain(error))
    } finally {
      this.#isWorking = false
      // It was the command that was to end, not the session.
      this.#shell.isInterrupted = false
      terminal.print('')
    }
    return undefined
  }

  async #command(line: string): Promise<void> {
    const { terminal } = this.#shell
    const words = commandWords(line)
    if (words[0] === 'help') return terminal.print(help)
    await runProgram(
      {
        commands,
        execute: async (command, given) => {
          const run = () => command.run(this.#shell, given)
          showAnswer(terminal, await namingArguments(command, run))
        },
        out: { write: (text) => terminal.print(text.trimEnd()) },
        isSession: true,
      },
      words,
    )
  }

  async #ticket(text: string): Promise<string | undefined> {
    const { terminal } = this.#shell
    const answer = await resolveText(this.#shell, { text })
    const { selection, execution } = answer.output
    const { candidates } = selection
    if (execution !== null || selection.decision !== 'ambiguous') {
      showAnswer(terminal, answer)
      return undefined
    }
    if (terminal.json) terminal.printJson(answer.output)
    terminal.print(
      `Several playbooks could fit. Type 1 to ${candidates.length} to choose one, or press Enter for none.`,
    )
    const reply = await this.#read()
    const chosen = candidates[Number(reply?.trim()) - 1]
    // Anything but a number from the list is the next message.
    if (chosen === undefined) return reply
    const { procedureKey } = chosen
    showAnswer(terminal, await runTicket(this.#shell, { text }, { procedureKey }))
    return undefined
  }

  /** The next line; undefined at the end of the input. */
  async #read(): Promise<string | undefined> {
    const wasWorking = this.#isWorking
    this.#isWorking = false
    this.#interface.prompt()
    const { value, done } = await this.#lines.next()
    this.#isWorking = wasWorking
    return done === true ? undefined : value
  }

  async #greet(): Promise<void> {
    const { terminal } = this.#shell
    const { items } = await this.#shell.call(listProcedures, { limit: 200 })
    const active = items.filter((item) => item.activeVersionNumber !== null).length
    terminal.print(
      active === 0
        ? 'No playbook is active here. /procedures seed loads those of the demo.'
        : `${countText(active, 'playbook')} active. Type what a customer writes, or /help.`,
    )
    terminal.print('')
  }
}

/** The words of a command line: blanks part them, quotes around a word keep its blanks. */
function commandWords(line: string): readonly string[] {
  const [, name = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(line) ?? []
  const words = [...rest.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(
    ([whole, double, single]) => double ?? single ?? whole,
  )
  // A short name that is also the name of a group stands for its list only when nothing follows.
  const isGroup = words.length > 0 && commands.some(({ path }) => path.startsWith(`${name} `))
  const path = isGroup ? [name] : (aliases[name] ?? [name])
  return textCommands.includes(name) ? [...path, '--', rest] : [...path, ...words]
}
