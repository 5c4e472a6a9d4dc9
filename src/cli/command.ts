import type { Operation } from '../operations/define.ts'
import { exitCodes, usageError } from './failures.ts'
import type { Shell } from './shell.ts'
import type { Terminal } from './terminal.ts'

/** An argument (`<KEY>`, `[NUMBER]`, `<TEXT...>`) or an option (`--limit <N>`), as the help shows it. */
export interface Parameter {
  readonly usage: string
  readonly text: string
}

/** What a command answers. */
export interface Answer {
  /** The answer for machines. */
  readonly output: unknown
  /** The answer for people, or what is left of it when the command has shown things as they happened. */
  readonly screen: string
  /** Default 0. */
  readonly exitCode?: number
  /** The answer was written already, as it came. */
  readonly isShown?: boolean
}

/** One command: what the help says of it, and what it does. */
export interface Command {
  /** The words behind `stepwarden`: `procedures list`. */
  readonly path: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly arguments?: readonly Parameter[]
  readonly options?: readonly Parameter[]
  /** Lines below the help: examples, and what is surprising. */
  readonly notes?: string
  readonly run: (shell: Shell, given: Given) => Promise<Answer>
}

/** Shows an answer in the form that was asked for, and answers its exit code. */
export function showAnswer(terminal: Terminal, answer: Answer): number {
  if (answer.isShown === true) return answer.exitCode ?? exitCodes.done[0]
  if (terminal.json) terminal.printJson(answer.output)
  else if (answer.screen !== '') terminal.print(answer.screen)
  return answer.exitCode ?? exitCodes.done[0]
}

/** What was given on the command line, by the names in `usage`: `KEY`, `limit`. */
export class Given {
  readonly #values: ReadonlyMap<string, string | boolean | readonly string[]>

  constructor(values: Iterable<readonly [string, string | boolean | readonly string[]]>) {
    this.#values = new Map(values)
  }

  /** A text that is always there: of a required argument. */
  text(name: string): string {
    const value = this.find(name)
    if (value === undefined) throw new TypeError(`no parameter '${name}' is required here`)
    return value
  }

  find(name: string): string | undefined {
    const value = this.#values.get(name)
    // Words of a text need no quotes around them.
    if (typeof value === 'object') return value.join(' ')
    return typeof value === 'string' ? value : undefined
  }

  /** The words of an argument that takes several (`<FILE...>`), each by itself; none when none was given. */
  list(name: string): readonly string[] {
    const value = this.#values.get(name)
    return typeof value === 'object' ? value : []
  }

  /** What stands between the commas of an option; nothing when it was not given. */
  words(name: string): readonly string[] {
    const words = this.find(name)?.split(',') ?? []
    return words.map((word) => word.trim())
  }

  /** Whether an option without a value is set. */
  has(name: string): boolean {
    return this.#values.get(name) === true
  }

  /** A whole number; undefined when it was not given. The operation says which numbers it takes. */
  number(name: string): number | undefined {
    const value = this.find(name)
    if (value === undefined) return undefined
    if (!/^\d{1,9}$/.test(value)) {
      throw usageError(`${name} must be a whole number, found '${value}'.`, 'Give digits alone.')
    }
    return Number(value)
  }

  /** A port of this machine; undefined when it was not given. 0 is any that is free. */
  port(name: string): number | undefined {
    const port = this.number(name)
    if (port === undefined || port <= 65_535) return port
    throw usageError(`--${name} must be a port, 0 to 65535, found ${port}.`, 'Give another.')
  }

  /** An instant, in RFC 3339 or as a date (its first moment in UTC); undefined when it was not given. */
  instant(name: string): string | undefined {
    const value = this.find(name)
    if (value === undefined) return undefined
    const at = instantPattern.test(value) ? Date.parse(value) : Number.NaN
    if (Number.isNaN(at)) {
      const move =
        'Write it as 2026-05-03T10:00:00Z, or with another offset from UTC, or as 2026-05-03.'
      throw usageError(`${name} must be a time, found '${value}'.`, move)
    }
    return new Date(at).toISOString()
  }
}

const instantPattern = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** A command that is one operation: its input made from what was given, its output shown. */
export function operationCommand<I, O>(
  declared: Omit<Command, 'run' | 'summary'> & {
    readonly operation: Operation<I, O>
    readonly summary?: string
    readonly input: (given: Given) => unknown
    readonly screen: (output: O, terminal: Terminal, given: Given) => string
    readonly exitCode?: (output: O) => number
  },
): Command {
  const { operation, input, screen, exitCode, ...command } = declared
  return {
    summary: operation.summary,
    ...command,
    async run(shell, given) {
      const output = await shell.call(operation, input(given))
      return {
        output,
        screen: screen(output, shell.terminal, given),
        ...(exitCode && { exitCode: exitCode(output) }),
      }
    },
  }
}

/** The options of every list, and what they become. */
export const pageOptions: readonly Parameter[] = [
  { usage: '--limit <N>', text: 'how many to show, 1 to 200 (default 50)' },
  { usage: '--cursor <CURSOR>', text: 'the page behind this one, as the page before printed it' },
]

export function pageInput(given: Given): {
  readonly limit: number | undefined
  readonly cursor: string | undefined
} {
  return { limit: given.number('limit'), cursor: given.find('cursor') }
}

/** The line below a list that has a next page, and nothing below the last. */
export function nextPageLine(terminal: Terminal, cursor: string | null): string {
  return cursor === null ? '' : `\n${terminal.style('quiet', `More: --cursor ${cursor}`)}`
}
