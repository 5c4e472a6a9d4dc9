import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli, temporaryFolder } from './run-cli.ts'

const dataDir = join(temporaryFolder(), 'data')
const index = (...more: readonly string[]) => runCli(['experiences', 'index', ...more], { dataDir })

test('an index is made only where it is worth it, or on request, and doctor says how it stands', async () => {
  const [fresh, _opened, first, made, there, doctor] = [
    await index(),
    await runCli(['stats'], { dataDir }),
    await index(),
    await index('--anyway', '--json'),
    await index('--anyway', '--memory', '64MB'),
    await runCli(['doctor'], { dataDir }),
  ]

  expect(fresh.stdout).toContain('No embedding model is known yet')
  expect(first).toMatchObject({ exitCode: 0, stderr: '' })
  expect(first.stdout).toMatch(/^No tenant has more than 10000 experiences .*--anyway makes it\.$/m)
  const { models, recalls } = JSON.parse(made.stdout)
  expect(models.map(({ status }: { status: string }) => status)).toContain('made')
  expect(recalls).toEqual([])
  expect(there.stdout).toMatch(/^The index of \S+ is there\.$/m)
  expect(doctor.stdout).toMatch(/^ok +experiences +.*compared one by one/m)
})

test.each([
  [['--memory', 'much'], 'must be a size'],
  [['--links', '1'], 'must be 2 to 100'],
  [['--links', '40', '--breadth', '64'], 'must be 80 to 1000'],
  [['nobody'], 'There is no embedding model nobody.'],
])('%j is refused', async (words, message) => {
  const { exitCode, stdout, stderr } = await index(...words)

  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
})
