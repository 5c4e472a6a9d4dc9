import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')

test('a customer is erased, the log verifies, and how long values are kept is set and shown', async () => {
  const note = join(folder, 'note.yaml')
  writeFileSync(
    note,
    [
      'key: NOTE',
      'name: Note',
      'description: Notes',
      'input: { type: object, properties: { account: { type: string } } }',
      'steps: [{ key: note, action: Note, compute: { account: input.account } }]',
    ].join('\n'),
  )

  const { stdout } = await runCli(['chat', '--json'], {
    dataDir,
    input: [
      `/procedures create ${note}`,
      '/activate NOTE 1',
      '/executions start NOTE --customer C-1042 --input \'{"account": "A-1"}\'',
      '/erase C-1042 --dry-run',
      '/erase C-1042 --reason "asked for by letter"',
      '/audit verify',
      '/retention show',
      '/retention set 90',
      '/retention set never',
    ].join('\n'),
  })

  const [, , run, dry, erased, verdict, ...retention] = jsonValues(stdout).map((value) =>
    Object(value),
  )
  expect(run.execution.customerId).toBe('C-1042')
  expect(dry).toMatchObject({ erasureId: null, runs: 1, tickets: 0 })
  expect(erased).toMatchObject({
    runs: 1,
    tickets: 0,
    receipt: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(verdict).toMatchObject({ ok: true, counts: { erased: 1 } })
  expect(retention.slice(0, 3)).toEqual([{ days: null }, { days: 90 }, { days: null }])

  const shown = await runCli(['executions', 'show', run.execution.id], { dataDir })
  expect(shown.stdout).toContain('Erased')
  expect(shown.stdout).not.toContain('A-1')
  expect(shown.stdout).toMatch(/^ +out +erased$/m)
  const replay = await runCli(['executions', 'replay', run.execution.id], { dataDir })
  expect(replay).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('erased') })
})

test('an erasure without a reason, and a retention of no days, are refused', async () => {
  const erase = await runCli(['erase', 'C-1'], { dataDir })
  const retention = await runCli(['retention', 'set', '0'], { dataDir })

  expect(erase.exitCode).toBe(2)
  expect(erase.stderr).toContain('--reason is missing')
  expect(retention.exitCode).toBe(2)
})
