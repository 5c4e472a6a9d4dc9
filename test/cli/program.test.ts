import { expect, test } from 'vitest'
import type { Command, Given } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { exitCodes } from '../../src/cli/failures.ts'
import { helpGroupOf, helpGroups } from '../../src/cli/help-groups.ts'
import { runProgram } from '../../src/cli/program.ts'
import { executionListItem } from '../../src/operations/execution-output.ts'
import { operations } from '../../src/operations/registry.ts'

async function run(words: readonly string[], isSession = false) {
  const called: { path: string; given: Given }[] = []
  let help = ''
  await runProgram(
    {
      commands,
      execute: async (command: Command, given: Given) => {
        called.push({ path: command.path, given })
      },
      out: {
        write: (text) => {
          help += text
        },
      },
      isSession,
      version: '1.2.3',
    },
    words,
  )
  return { called: called[0], help }
}

test('the help shows every command and every exit code', async () => {
  const { help } = await run(['--help'])

  for (const { path } of commands) {
    expect(help).toMatch(new RegExp(`^  ${path}  `, 'm'))
    expect(helpGroupOf(path), path).toBeDefined()
  }
  expect(help.slice(0, help.indexOf('Exit codes:'))).not.toMatch(/^.{81}/m)
  const headings = [...help.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Options', ...helpGroups, 'Exit codes'])
  for (const [code, meaning] of Object.values(exitCodes)) {
    expect(help).toMatch(new RegExp(`^ +${code} +${meaning.slice(0, 20)}`, 'm'))
  }
})

test('the help of a command shows its options, those of all commands, and examples', async () => {
  const { help } = await run(['procedures', 'edit', '--help'])

  expect(help).toContain('--revision <N>')
  expect(help).toContain('--data-dir <DIR>')
  expect(help).toContain('stepwarden procedures edit KEY 2 --file draft.yaml')
})

test('the help of the list of executions names every status', async () => {
  const { help } = await run(['executions', 'list', '--help'])

  const words = help.split(/[\s,]+/)
  expect(words).toEqual(expect.arrayContaining([...executionListItem.shape.status.options]))
})

test('every operation can be reached, by a summary of its own', () => {
  const summaries = new Set(commands.map(({ summary }) => summary))

  const unreached = Object.values(operations).filter(({ summary }) => !summaries.has(summary))

  // `embeddings switch` and `backtest` begin and carry on; `doctor --after-restore` holds; `procedures scenarios --set`
  // sets them; `procedures approve`, `decline` and `comment` review; `procedures activate --at` schedules; `webhooks replay`
  // without a time repeats one message.
  expect(unreached.map(({ name }) => name).sort()).toEqual([
    'continueBacktest',
    'continueEmbeddingSwitch',
    'holdExecutions',
    'replayWebhookDelivery',
    'reviewVersion',
    'scheduleActivation',
    'setScenarios',
  ])
})

test('takes a text without quotes, and options in any place', async () => {
  const { called } = await run(['resolve', 'I', 'was', '--json', 'charged', '--customer', 'c-1'])

  expect(called?.path).toBe('resolve')
  expect(called?.given.text('TEXT')).toBe('I was charged')
  expect(called?.given.find('customer')).toBe('c-1')
  expect(called?.given.has('json')).toBe(true)
})

test('a flag is set when it is given, and only then', async () => {
  const flags = commands.flatMap(({ path, arguments: taken = [], options = [] }) => {
    const needed = taken.filter(({ usage }) => usage.startsWith('<')).map(() => 'x')
    return options
      .filter(({ usage }) => /^--[a-z-]+$/.test(usage))
      .map(({ usage }) => ({ words: [...path.split(' '), ...needed], flag: usage }))
  })
  expect(flags.map(({ flag }) => flag)).toEqual(expect.arrayContaining(['--no-work', '--detach']))

  for (const { words, flag } of flags) {
    const without = (await run(words)).called
    const given = (await run([...words, flag])).called
    const name = flag.slice('--'.length)
    expect([without?.given.has(name), given?.given.has(name)], `${words} ${flag}`).toEqual([
      false,
      true,
    ])
  }
})

test('takes what stands behind -- as text, whatever it looks like', async () => {
  const { called } = await run(['search', '--', '--json', 'is', '-1'])

  expect(called?.given.text('TEXT')).toBe('--json is -1')
  expect(called?.given.has('json')).toBe(false)
})

test.each([
  [['resolv', 'x'], /Unknown command 'resolv'\. Did you mean resolve\?/],
  [['procedures', 'shw'], /'procedures shw' is not a command\. Did you mean 'show'\?/],
  [['procedures'], /needs a command: list, show, create/],
  [
    ['procedures', 'show'],
    /Missing required argument 'KEY'\. Run 'stepwarden procedures show --help'/,
  ],
  [
    ['stats', '--jsn'],
    /Unknown option '--jsn'\. Did you mean --json\? Run 'stepwarden stats --help'/,
  ],
  [['stats', 'now'], /Too many arguments/],
])('refuses %j with what is wrong and where to look', async (words, message) => {
  await expect(run(words)).rejects.toMatchObject({
    code: 'USAGE_INVALID',
    message: expect.stringMatching(message),
  })
  await expect(run(words)).rejects.toThrow(/Run 'stepwarden .*--help' to see what there is\./)
})

test('a session has no options that are settled, and its own help', async () => {
  await expect(run(['stats', '--json'], true)).rejects.toThrow(/Type \/help/)
})

test('refuses a number that is none', async () => {
  const { called } = await run(['procedures', 'show', 'KEY', 'two'])

  expect(() => called?.given.number('NUMBER')).toThrow(/NUMBER must be a whole number, found 'two'/)
})
