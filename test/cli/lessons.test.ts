import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')

test('lessons are curated, shown, taken into a run and credited, as docs/lessons.md says', async () => {
  const { stdout } = await runCli(['chat'], {
    dataDir,
    input: [
      '/lessons curate support --score 0.4 --issue "rate limits"',
      '/lessons curate support --score 0.6 --issue "hitting the rate limit"',
      '/lessons curate support --score 0.9 --answer "Looked the transaction up first."',
      '/lessons show support --prompt',
      '/lessons list',
      '/lessons show other',
    ].join('\n'),
  })

  expect(stdout).toContain('1 new, 0 known, 0 dropped; 1 lesson now.')
  expect(stdout).toContain('0 new, 1 known, 0 dropped; 1 lesson now.')
  expect(stdout).toContain('1 new, 0 known, 0 dropped; 2 lessons now.')
  expect(stdout).toContain('## Known strategies for this task')
  expect(stdout).toContain('- (avoid) Avoid: rate limits')
  expect(stdout).toContain('- (helpful) Worked well: Looked the transaction up first.')
  expect(stdout).toMatch(/support +2 /)
  expect(stdout).toContain("Nothing was learned for 'other' yet.")
})

test('lessons are written, changed, exported, imported and removed by hand', async () => {
  const added = await runCli(
    ['lessons', 'add', 'desk', 'Promise', 'no', 'date', '--avoid', '--json'],
    { dataDir },
  )
  const { lessonId } = JSON.parse(added.stdout)
  const exported = await runCli(['lessons', 'export', 'desk'], { dataDir })
  const file = join(folder, 'desk.json')
  writeFileSync(file, exported.stdout)
  const issues = join(folder, 'issues.yaml')
  writeFileSync(issues, '- vague answers\n- no sources\n')

  const { stdout } = await runCli(['chat', '--json'], {
    dataDir,
    input: [
      `/lessons edit ${lessonId} Promise nothing --helpful`,
      `/lessons import ${file} --tag copy`,
      `/lessons curate copy --score 0.2 --issues @${issues}`,
      '/lessons take copy',
      '/lessons show copy',
      `/lessons remove ${lessonId}`,
      '/lessons list',
    ].join('\n'),
  })

  const [edited, imported, curated, taken, shown, removed, listed] = jsonValues(stdout)
  expect(edited).toMatchObject({ kind: 'helpful', content: 'Promise nothing', isByHand: true })
  expect(imported).toMatchObject({ taskTag: 'copy', addedCount: 1, entryCount: 1 })
  expect(curated).toMatchObject({ addedCount: 2, entryCount: 3 })
  expect(taken).toMatchObject({ showingId: expect.stringMatching(/^shw_/) })
  expect(Object(shown).entries).toHaveLength(3)
  expect(removed).toMatchObject({ taskTag: 'desk', entryCount: 0 })
  expect(Object(listed).items.map(({ taskTag }: { taskTag: string }) => taskTag)).toEqual([
    'copy',
    'support',
  ])
  const credited = await runCli(['lessons', 'credit', Object(taken).showingId, '0.8'], { dataDir })
  expect(credited.stdout).toContain("3 lessons of 'copy' credited.")
})

test.each([
  [['curate', 'x'], 'The score must be a number from 0 to 1, none was given.'],
  [['curate', 'x', '--score', '1.5'], "The score must be a number from 0 to 1, found '1.5'."],
  [['curate', 'x', '--score', 'NaN'], "found 'NaN'"],
  [['edit', 'les_000000000000000000000', '--helpful', '--avoid'], 'exclude each other'],
])('lessons %j is refused', async (words, message) => {
  const { exitCode, stderr } = await runCli(['lessons', ...words], { dataDir })

  expect(exitCode).toBe(2)
  expect(stderr).toContain(message)
})
