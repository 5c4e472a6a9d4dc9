import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const page = readFileSync(new URL('../../docs/track-record.md', import.meta.url), 'utf8')

test('runs here and elsewhere stand beside each other, as docs/track-record.md says', async () => {
  const elsewhere = /npx stepwarden (executions record .*)/.exec(page)?.[1]

  const { stdout } = await runCli(['chat'], {
    dataDir: join(temporaryFolder(), 'data'),
    input: [
      '/procedures seed',
      '/resolve I was charged twice for TXN-DUP-002',
      `/${elsewhere}`,
      '/procedures record DUPLICATE_CHARGE_PLAYBOOK',
    ].join('\n'),
  })

  expect(stdout).toMatch(/Recorded: out_\w+, a run of DUPLICATE_CHARGE_PLAYBOOK v1\./)
  const shown = page.split('\n').filter((line) => /^ {4}(VERSION|v1)/.test(line))
  const plain = (text: string) =>
    text.replaceAll(/\d+ ms|[\d.]+ s\b|…/g, '…').replaceAll(/ +/g, ' ')
  expect(shown).toHaveLength(2)
  for (const line of shown) expect(plain(stdout)).toContain(plain(line.trim()))
})
