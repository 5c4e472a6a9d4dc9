import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { openShell } from './open-shell.ts'
import { runCli, temporaryFolder } from './run-cli.ts'

// A database is opened, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const folder = temporaryFolder()
const seeds = fileURLToPath(new URL('../../seeds', import.meta.url))
const key = 'REFUND_DELAY_PLAYBOOK'

/** A folder of the demo's procedures and scenarios, as they are kept in git. */
function checkout(name: string): string {
  const path = join(folder, name)
  for (const kind of ['procedures', 'scenarios']) {
    cpSync(join(seeds, kind), join(path, kind), { recursive: true })
  }
  return path
}

/** All files below a folder, with what stands in them. */
function filesIn(path: string): Readonly<Record<string, string>> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => name.endsWith('.yaml') || name.endsWith('.unfinished'))
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(path, name), 'utf8')]))
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

const shell = openShell(join(folder, 'data'))
const exporting = openShell(join(folder, 'data-export'))
// One that must not be opened: what is refused is refused before that.
const unopened = openShell(join(folder, 'data-of-none'))
afterAll(async () => {
  for (const one of [shell, exporting, unopened]) await one[Symbol.asyncDispose]()
})

const resultsOf = (output: { procedures: { procedureKey: string; result: string }[] }) =>
  Object.fromEntries(output.procedures.map((one) => [one.procedureKey, one.result]))

test('drafts are made of a folder, once, and go on as the files do', async () => {
  const path = checkout('git')
  const file = join(path, 'procedures/refund-delay.yaml')
  const apply = (...words: string[]) => shell.run('apply', '-f', path, ...words)

  const planned = await apply('--plan')
  expect(planned).toMatchObject({ output: { isPlan: true, notInFolder: [] } })
  expect(Object.values(resultsOf(planned.output))).toEqual(['created', 'created', 'created'])
  expect((await shell.run('procedures', 'list')).output.items).toEqual([])

  const applied = await apply()
  expect(applied.output.procedures).toMatchObject([
    { result: 'created', versionNumber: 1, revision: 1, findings: [] },
    { result: 'created', versionNumber: 1 },
    { procedureKey: key, file, result: 'created', versionNumber: 1 },
  ])
  const again = await apply()
  expect(Object.values(resultsOf(again.output))).toEqual(['unchanged', 'unchanged', 'unchanged'])

  // Another comment alone: the draft takes the text, and no change is told.
  edit(file, (text) => `# Why it is there.\n${text}`)
  const commented = await apply()
  expect(commented.output.procedures[2]).toMatchObject({
    ...{ result: 'edited', versionNumber: 1, revision: 2, isTextAlone: true, changes: [] },
  })
  expect((await shell.run('procedures', 'show', key)).output.version).toMatchObject({
    status: 'draft',
    source: readFileSync(file, 'utf8'),
  })

  await shell.run('procedures', 'activate', key, '1')
  const before = readFileSync(file, 'utf8')
  edit(file, (text) => text.replace('maxAttempts: 3', 'maxAttempts: 5'))
  const plan = await apply('--plan')
  expect(plan.output.procedures[2]).toMatchObject({
    result: 'new-version',
    versionNumber: null,
    fromVersionNumber: 1,
    changes: [{ kind: 'changed', name: 'check_refund', field: 'retry.maxAttempts', after: 5 }],
  })
  expect((await apply()).output.procedures[2]).toMatchObject({
    result: 'new-version',
    versionNumber: 2,
  })
  edit(file, (text) => text.replace('maxAttempts: 5', 'maxAttempts: 4'))
  expect((await apply()).output.procedures[2]).toMatchObject({
    ...{ result: 'edited', versionNumber: 2, revision: 2 },
  })
  expect((await shell.run('procedures', 'show', key)).output.versions).toMatchObject([
    { versionNumber: 2, status: 'draft' },
    { versionNumber: 1, status: 'active' },
  ])

  // What is compared is named by numbers, or as a file.
  const change = { kind: 'changed', name: 'check_refund', field: 'retry.maxAttempts' }
  const diff = async (...words: string[]) => (await shell.run('diff', key, ...words)).output.changes
  expect(await diff()).toMatchObject([{ ...change, before: 3, after: 4 }])
  expect(await diff('2', '1')).toMatchObject([{ ...change, before: 4, after: 3 }])
  expect(await diff('1', file)).toMatchObject([{ ...change, before: 3, after: 4 }])
  expect(await diff('2', file)).toEqual([])
  expect((await shell.run('diff', key, file, '1')).error).toMatchObject({ code: 'USAGE_INVALID' })

  // The files say what serves again: the draft may be somebody's work.
  writeFileSync(file, before)
  expect((await apply()).output.procedures[2]).toMatchObject({
    ...{ result: 'unchanged', versionNumber: 1, otherDraft: 2 },
  })
})

test('an export is what was applied, byte for byte, wherever the files are', async () => {
  const path = checkout('first')
  edit(join(path, 'procedures/refund-delay.yaml'), (text) => `# Kept.\n\n${text}\n# At the end.\n`)
  edit(join(path, 'scenarios/refund-delay.yaml'), (text) => `${text}# A test is missing.\n`)
  await exporting.run('apply', '-f', path)
  const other = join(folder, 'other')
  const exported = (...words: string[]) => exporting.run('export', ...words)

  const first = await exported('-f', other)
  expect(first.output.files.map(({ result }: { result: string }) => result)).toEqual(
    Array.from({ length: 6 }, () => 'written'),
  )
  expect(Object.keys(filesIn(other))).toContain('scenarios/refund-delay-playbook.yaml')
  expect(Object.values(filesIn(other)).sort()).toEqual(Object.values(filesIn(path)).sort())

  const applied = await exporting.run('apply', '-f', other)
  expect(Object.values(resultsOf(applied.output))).toEqual(['unchanged', 'unchanged', 'unchanged'])
  const files = filesIn(path)
  const back = await exported('-f', path)
  expect(back.output.files).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        file: join(path, 'procedures/refund-delay.yaml'),
        result: 'unchanged',
      }),
    ]),
  )
  expect(filesIn(path)).toEqual(files)

  // A file of another content keeps everything from being written, until that is wanted.
  const file = join(path, 'procedures/refund-delay.yaml')
  edit(file, (text) => text.replace('# Kept.', '# Changed.'))
  const changed = filesIn(path)
  const third = join(path, 'procedures/failed-payment.yaml')
  const refused = await exported('-f', path, key, 'FAILED_PAYMENT_PLAYBOOK')
  expect(refused).toMatchObject({ error: { code: 'FILES_DIFFER', details: { files: [file] } } })
  expect(filesIn(path)).toEqual(changed)
  const planned = await exported('-f', path, '--plan')
  expect(planned.output.files).toContainEqual(expect.objectContaining({ file, result: 'replaced' }))
  expect(filesIn(path)).toEqual(changed)
  await exported('-f', path, '--force', key)
  expect(filesIn(path)).toEqual(files)
  expect(existsSync(third)).toBe(true)

  const unknown = await exported('-f', path, 'NOT_THERE')
  expect(unknown).toMatchObject({ error: { code: 'PROCEDURE_NOT_FOUND' } })
})

test('an export leaves its folder by no link', async () => {
  const [path, outside] = [join(folder, 'linked'), join(folder, 'outside')]
  mkdirSync(path)
  mkdirSync(outside)
  symlinkSync(outside, join(path, 'scenarios'))

  const refused = await exporting.run('export', '-f', path)

  expect(refused).toMatchObject({ error: { code: 'FILE_UNWRITABLE' } })
  expect(readdirSync(outside)).toEqual([])
  expect(filesIn(path)).toEqual({})
})

describe('a folder that is refused', () => {
  const apply = (path: string) => unopened.run('apply', '-f', path)

  test('has all its problems told with their places, and nothing is written', async () => {
    const path = checkout('bad')
    const outside = join(folder, 'outside.yaml')
    const put = (name: string, text: string) => writeFileSync(join(path, name), text)
    writeFileSync(outside, readFileSync(join(path, 'procedures/refund-delay.yaml')))
    put('a-alias.yaml', 'key: &a [*a]\n')
    put('b-syntax.yaml', 'key: [\n')
    put('c-twice.yaml', readFileSync(join(path, 'procedures/refund-delay.yaml'), 'utf8'))
    put('d-unknown.yaml', 'key: OTHER_PLAYBOOK\nname: Other\ncolour: red\n')
    put('e-other.yaml', 'services: {}\n')
    put('f-stranger.yaml', 'procedure: STRANGE_PLAYBOOK\nscenarios: []\n')
    put('g-scenarios.yaml', `procedure: ${key}\nscenarios: []\n`)
    writeFileSync(join(path, 'h-binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
    put(
      'l-long.yaml',
      `key: LONG_PLAYBOOK\nname: Long\ndescription: Long.\nsteps: [{ key: a, action: A, end: resolved }]\n# ${'x'.repeat(262_144)}\n`,
    )
    put(
      'm-escape.yaml',
      '# \u001b[2J\nkey: M_PLAYBOOK\nname: M\ndescription: M.\nsteps: [{ key: a, action: A, end: resolved }]\n',
    )
    symlinkSync(outside, join(path, 'i-link.yaml'))
    symlinkSync(join(folder, 'nothing'), join(path, 'j-dangling.yaml'))
    symlinkSync(folder, join(path, 'k-folder'))

    const { error } = await apply(path)

    const problems = isServiceError(error, 'FILES_INVALID') ? error.details.problems : []
    const told = problems.map(
      ({ file, path: at, message }) => `${file.slice(path.length + 1)} ${at} ${message}`,
    )
    for (const [file, message] of [
      ['a-alias.yaml', /key\[0\] found the alias \*a/],
      ['b-syntax.yaml', /./],
      [
        'procedures/refund-delay.yaml',
        /key is REFUND_DELAY_PLAYBOOK, which is the key of .*c-twice/,
      ],
      ['d-unknown.yaml', /colour is not a known field/],
      ['e-other.yaml', /is neither a definition nor a file of scenarios/],
      ['f-stranger.yaml', /there is no definition of STRANGE_PLAYBOOK/],
      ['scenarios/refund-delay.yaml', /is for REFUND_DELAY_PLAYBOOK, as .*g-scenarios.yaml is/],
      ['h-binary.yaml', /cannot be read: it is not text in UTF-8/],
      ['i-link.yaml', /is a symbolic link out of the folder/],
      ['j-dangling.yaml', /is a symbolic link to nothing/],
      ['k-folder', /is a symbolic link to a folder/],
      ['l-long.yaml', /has 26\d{4} bytes, and the limit is 262144/],
      ['m-escape.yaml', /has the control character U\+001B/],
    ] as const) {
      const found = told.filter((line) => line.startsWith(`${file} `))
      expect(found, file).toContainEqual(expect.stringMatching(message))
    }
    expect(problems.find(({ path: at }) => at === 'colour')).toMatchObject({ line: 3, column: 1 })
    expect(existsSync(join(folder, 'data-of-none'))).toBe(false)
  })

  test('is no folder, or has no definition', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)

    for (const path of [join(folder, 'nothing'), join(seeds, 'desk-tools.ts'), empty]) {
      expect(await apply(path)).toMatchObject({ error: { code: 'USAGE_INVALID' } })
    }
    const unnamed = await unopened.run('apply')
    expect(unnamed).toMatchObject({ error: { code: 'USAGE_INVALID' } })
  })
})

test('says it in exit codes and on the screen as well', async () => {
  const path = checkout('screen')
  await exporting.run('apply', '-f', path)
  const { screen } = await exporting.run('apply', '-f', path, '--plan')
  writeFileSync(join(path, 'wrong.yaml'), 'key: X\ncolour: red\n')

  const refused = await runCli(['apply', '-f', path], { dataDir: join(folder, 'data-of-none') })

  expect(screen).toMatch(
    /^DUPLICATE_CHARGE_PLAYBOOK {2}unchanged: version 1, draft, says the same/m,
  )
  expect(screen).toMatch(
    /0 new procedures, 0 new drafts, 0 edited drafts, 3 unchanged. Nothing was written/,
  )
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain(`${join(path, 'wrong.yaml')}:2:1 colour: `)
})
