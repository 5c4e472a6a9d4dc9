import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const page = readFileSync(new URL('../../docs/proposals.md', import.meta.url), 'utf8')
const [, actions = ''] = /```yaml actions\n([\s\S]*?)```/.exec(page) ?? []
const file = join(folder, 'refund.yaml')
writeFileSync(file, actions)

/** The commands of the page's example, and the first line that each prints. */
const session = [...page.matchAll(/^ {4}\$ npx stepwarden (.*)\n {4}(.*)$/gm)].map(
  ([, command = '', line = '']) => ({ command, line }),
)

test('the example of docs/proposals.md proposes, shows and makes a draft, as the page says', async () => {
  expect(session).toHaveLength(3)
  let proposalId = 'prp_…'
  let shown = ''
  for (const { command, line } of session) {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) =>
      word.replaceAll('"', '').replace('prp_…', proposalId).replace('refund.yaml', file),
    )
    const { stdout, exitCode, stderr } = await runCli(words, { dataDir })
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    proposalId = /prp_[0-9a-z]{21}/.exec(stdout)?.[0] ?? proposalId
    expect(stdout.split('\n')[0]).toBe(line.replace('prp_…', proposalId))
    if (words[1] === 'show') shown = stdout
  }

  expect(shown).toContain('Would make  a new procedure')
  expect(shown).toContain('1 success\n')
  expect(shown).toContain('source: demonstration')
  expect(shown).toContain('situation: The customer was charged twice for TXN-DUP-002')
  expect(shown).toMatch(/1\s+check_transaction/)
  expect(shown).toContain(`Next: 'stepwarden proposals accept ${proposalId}'`)

  const { stdout, stderr } = await runCli(['chat'], {
    dataDir,
    input: [
      '/procedures show SECOND_CHARGE',
      '/proposals list',
      '/proposals list --status all',
      `/proposals from-actions ${file}`,
      `/proposals dismiss ${proposalId} --reason "Not ours"`,
      '/proposals improve SECOND_CHARGE --feedback "Be kind"',
      '/proposals from-experiences a parcel that is lost',
      `/proposals show ${proposalId.slice(0, -1)}`,
      `/proposals from-experiences x --ids exp_000000000000000000000 --agent bot`,
    ].join('\n'),
  })
  expect(stdout).toMatch(new RegExp(`Proposal +${proposalId}`))
  expect(stdout).toContain('No proposals.')
  expect(stdout).toMatch(new RegExp(`${proposalId} +demonstration +accepted +SECOND_CHARGE`))
  expect(stdout).toContain(
    `The same evidence has proposed before: ${proposalId}, which is accepted`,
  )
  expect(stderr).toContain(`Proposal ${proposalId} was accepted by`)
  expect(stderr).toContain('STEPWARDEN_PROPOSE_MODEL')
  expect(stderr).toContain('Nobody has recorded an experience that is like it')
  expect(stderr).toContain('must be the id of a proposal')
  expect(stderr).toContain('goes with a situation alone')
})
