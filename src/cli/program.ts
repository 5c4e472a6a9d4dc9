import { Argument, Command as Commander, CommanderError, Option } from 'commander'
import { didYouMean } from '../domain/nearest-name.ts'
import { type Command, Given, type Parameter } from './command.ts'
import { exitCodes, usageError } from './failures.ts'
import { helpGroupOf, helpGroups } from './help-groups.ts'
import type { Sink } from './terminal.ts'

export interface ProgramOptions {
  readonly commands: readonly Command[]
  /** Takes a command that was called rightly. */
  readonly execute: (command: Command, given: Given) => Promise<void>
  /** Where help goes when it was asked for. */
  readonly out: Sink
  /** In a session `--json` and `--data-dir` are settled, and commands begin with a slash. */
  readonly isSession?: boolean
  readonly version?: string
}

const globalOptions: readonly Parameter[] = [
  { usage: '--json', text: 'answer with one JSON value on standard output' },
  {
    usage: '--data-dir <DIR>',
    text: 'the folder of the embedded database (default: what the environment names, else .stepwarden)',
  },
]

const groups: Readonly<Record<string, string>> = {
  procedures: 'Write, review and activate playbooks',
  tools: 'What playbooks may call, and what is stopped',
  executions: 'Look at runs, start them, prove them',
  escalations: 'What waits for a person',
  embeddings: 'The models that search goes by',
  principals: 'Who may act, and in which roles',
  keys: 'What lets them in',
  tenants: 'The customers of this installation',
  audit: 'What was done and by whom, and the proof of it',
}

/**
 * Reads the words of a command line and executes the one command that they call.
 *
 * @throws ServiceError `USAGE_INVALID`; and what `execute` throws. Asking for help or version is no error.
 */
export async function runProgram(options: ProgramOptions, words: readonly string[]): Promise<void> {
  const program = buildProgram(options)
  try {
    await program.parseAsync([...words], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return
    throw usageOf(error, options.isSession === true, pathIn(options.commands, words))
  }
}

function buildProgram({
  commands,
  execute,
  out,
  version = '',
  isSession,
}: ProgramOptions): Commander {
  const program = new Commander(isSession === true ? '/' : 'stepwarden')
  program.description('Governs and runs support playbooks.')
  configure(program, out)
  if (isSession !== true) {
    for (const option of globalOptions) program.addOption(toOption(option))
    program.version(version, '--version', 'print the version')
    program.addHelpText('after', exitCodeHelp())
  }
  for (const command of commands) {
    const words = command.path.split(' ')
    const parent = words.length === 1 ? program : groupOf(program, words[0] ?? '')
    addCommand(parent, words.at(-1) ?? '', command, execute)
  }
  return program
}

function addCommand(
  parent: Commander,
  name: string,
  command: Command,
  execute: ProgramOptions['execute'],
): void {
  const commander = parent.command(name).description(`${command.summary}.`)
  const heading = helpGroupOf(command.path)
  if (heading !== undefined) commander.helpGroup(`${heading}:`)
  for (const { usage, text } of command.arguments ?? []) {
    commander.addArgument(new Argument(usage, text))
  }
  for (const option of command.options ?? []) commander.addOption(toOption(option))
  if (command.notes !== undefined) commander.addHelpText('after', `\n${command.notes}`)
  commander.action(() => execute(command, givenTo(commander)))
}

function groupOf(program: Commander, name: string): Commander {
  const known = program.commands.find((command) => command.name() === name)
  if (known !== undefined) return known
  const group = program.command(name).description(`${groups[name] ?? name}.`)
  // Without an action, a word that is no command of the group would be an excess argument.
  group.action(() => {
    const [found] = group.args
    const names = group.commands.map((command) => command.name())
    if (found === undefined) {
      throw usageError(`'${name}' needs a command: ${names.join(', ')}.`, helpHint(name))
    }
    throw usageError(
      `'${name} ${found}' is not a command.${didYouMean(found, names)}`,
      helpHint(name),
    )
  })
  group.allowExcessArguments()
  return group
}

function configure(program: Commander, out: Sink): void {
  program.exitOverride()
  program.helpCommand(false)
  program.showSuggestionAfterError(true)
  program.configureOutput({
    writeOut: (text) => out.write(text),
    // Errors are thrown, and told by who catches them.
    writeErr: () => {},
    outputError: () => {},
  })
  program.configureHelp({
    showGlobalOptions: true,
    // The first page shows every command; that of a group, its own.
    visibleCommands: (command) =>
      command.parent === null ? inGroups(leavesOf(command)) : [...command.commands],
    // In the order in which they are shown.
    groupItems: (_unsorted, items, headingOf) => {
      const headed = new Map<string, typeof items>()
      for (const item of items) {
        headed.set(headingOf(item), [...(headed.get(headingOf(item)) ?? []), item])
      }
      return headed
    },
    // Their arguments stand in the help of each: beside them no summary would have room.
    subcommandTerm: (command) => {
      const group = command.parent?.parent == null ? '' : `${command.parent.name()} `
      return `${group}${command.name()}`
    },
  })
}

/** By their headings in the order of those, and within one in their own. */
function inGroups(commands: readonly Commander[]): Commander[] {
  const placeOf = (command: Commander) => helpGroups.indexOf(command.helpGroup().replace(/:$/, ''))
  return [...commands].sort((a, b) => placeOf(a) - placeOf(b))
}

function leavesOf(command: Commander): Commander[] {
  return command.commands.flatMap((child) =>
    child.commands.length === 0 ? [child] : leavesOf(child),
  )
}

function toOption({ usage, text }: Parameter): Option {
  return new Option(usage, text)
}

/** What the words gave a command, by the names of its parameters; options of the program among them. */
function givenTo(commander: Commander): Given {
  const values: [string, string | boolean | readonly string[]][] = []
  for (const [index, argument] of commander.registeredArguments.entries()) {
    const value: unknown = commander.processedArgs[index]
    if (Array.isArray(value)) {
      if (value.length > 0) values.push([argument.name(), value.map(String)])
    } else if (typeof value === 'string') values.push([argument.name(), value])
  }
  const given = commander.optsWithGlobals()
  for (const option of [...commander.options, ...rootOf(commander).options]) {
    const value: unknown = given[option.attributeName()]
    if (Array.isArray(value)) values.push([option.name(), value.map(String)])
    if (option.negate) {
      // Commander calls `--no-work` the option `work`, which is true as long as the flag is not given.
      values.push([option.name(), value === false])
    } else if (typeof value === 'string' || typeof value === 'boolean') {
      values.push([option.name(), value])
    }
  }
  return new Given(values)
}

function rootOf(commander: Commander): Commander {
  return commander.parent === null ? commander : rootOf(commander.parent)
}

/** The command that words begin with, options among them left out; undefined for none. */
function pathIn(commands: readonly Command[], words: readonly string[]): string | undefined {
  const plain = words.filter((word) => !word.startsWith('-'))
  const paths = [plain.slice(0, 2).join(' '), plain.slice(0, 1).join(' ')]
  return paths.find((path) => commands.some((command) => command.path === path))
}

function usageOf(error: CommanderError, isSession: boolean, path: string | undefined): Error {
  const problem = error.message
    .replace(/^error: /, '')
    .replace(/\n\(?(Did you mean .*\?)\)?$/, '. $1')
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
  return usageError(
    /[.?!]$/.test(sentence) ? sentence : `${sentence}.`,
    isSession ? 'Type /help to see what there is.' : helpHint(path),
  )
}

function helpHint(group?: string): string {
  return `Run 'stepwarden ${group === undefined ? '' : `${group} `}--help' to see what there is.`
}

function exitCodeHelp(): string {
  const lines = Object.values(exitCodes).map(
    ([code, meaning]) => `  ${String(code).padEnd(5)}${meaning}`,
  )
  return `\nExit codes:\n${lines.join('\n')}`
}
