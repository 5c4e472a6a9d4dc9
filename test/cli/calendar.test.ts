import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { addWorkdays } from '../../src/domain/expression.ts'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const dayMs = 86_400_000

function fileOf(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

test('the working days of a file are set, shown, and counted by the runs that start then', async () => {
  // Whatever day this is: a day off in each of the next two weeks.
  const holidays = [3, 9].map((days) =>
    new Date(Date.now() + days * dayMs).toISOString().slice(0, 10),
  )
  const weekdays = [1, 2, 3, 4, 5, 6, 7]
  const calendar = fileOf(
    'calendar.yaml',
    `weekdays: [7, 6, 5, 4, 3, 2, 1]\nholidays: [${holidays}]`,
  )
  const rests = fileOf(
    'rests.yaml',
    [
      'key: RESTS',
      'name: Rests',
      'description: Rests',
      'steps: [{ key: rest, action: Rest, wait: { for: 10 workdays } }]',
    ].join('\n'),
  )

  const { stdout } = await runCli(['chat', '--json'], {
    dataDir,
    input: [
      '/calendar show',
      `/calendar set ${calendar}`,
      '/calendar show',
      `/procedures create ${rests}`,
      '/activate RESTS 1',
      '/executions start RESTS',
    ].join('\n'),
  })

  const [before, set, after, , , run] = jsonValues(stdout).map((value) => Object(value))
  expect(before.isDefault).toBe(true)
  expect(set).toEqual({ calendar: { weekdays, holidays } })
  expect(after).toEqual({ calendar: { weekdays, holidays }, isDefault: false })
  const startedAt = Date.parse(run.steps[0].startedAt)
  const due = addWorkdays(startedAt, 10, { weekdays, holidays })
  expect(due).toBe(startedAt + 12 * dayMs)
  expect(run.execution.wakeAt).toBe(new Date(due).toISOString())
})

test('a file with mistakes is refused with all of them, and nothing is set', async () => {
  const wrong = fileOf('wrong.yaml', 'weekdays: [0, 9]\nholidays: [2026-02-30]\nzone: UTC')

  const { exitCode, stdout, stderr } = await runCli(['calendar', 'set', wrong], { dataDir })
  const shown = await runCli(['calendar', 'show'], { dataDir })

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain('calendar.weekdays[0]: must be from 1 (Monday) to 7 (Sunday)')
  expect(stderr).toContain('calendar.weekdays[1]')
  expect(stderr).toContain('calendar.holidays[0]: must be a date that there is')
  expect(stderr).toContain('zone')
  expect(shown.stdout).toMatch(/^Working days +Monday, Tuesday, /)
})
