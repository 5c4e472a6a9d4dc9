import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const environment = { STEPWARDEN_LOG_LEVEL: 'debug' }
const session = (words: readonly string[], ...lines: string[]) =>
  runCli(['chat', ...words], { dataDir, environment, input: lines.join('\n') })

const playbook = `
key: SECRETS
name: Secrets
description: Has to do with what nobody is to see.
input:
  type: object
  required: [transactionId]
  properties: { transactionId: { type: string, sensitive: true } }
steps:
  - { key: check, action: Look, tool: check_transaction, with: { transactionId: '{{input.transactionId}}' } }
  - { key: code, action: Ask, ask: agent, message: 'Is it {{input.transactionId}}?', answer: { type: string, pattern: '^CODE-[0-9]+$', sensitive: true }, deadline: 1d }
  - { key: again, action: Look, tool: check_transaction, with: { transactionId: '{{steps.code.output}}' } }
`
const secrets = ['TXN-DUP-002', 'CODE-4711', 'WORDS-0815']

test('no command and no log shows a sensitive value', async () => {
  const file = join(folder, 'secrets.yaml')
  writeFileSync(file, playbook)

  const begun = await session(
    ['--json'],
    `/procedures create ${file}`,
    '/activate SECRETS 1',
    `/executions start SECRETS --input '{"transactionId": "TXN-DUP-002"}'`,
  )
  const [, , run] = jsonValues(begun.stdout).map((value) => Object(value))
  const { id } = run.execution
  const shown = await session(
    [],
    '/executions waiting',
    `/executions answer ${id} code --text "it says WORDS-0815"`,
    `/executions show ${id}`,
    `/executions answer ${id} code --text CODE-4711`,
    `/executions show ${id}`,
    `/executions replay ${id}`,
    '/escalations list',
  )
  const answers = await session(['--json'], `/executions show ${id}`, '/escalations list')

  expect(run.execution).toMatchObject({
    status: 'waiting',
    input: { transactionId: '(sensitive)' },
  })
  expect(shown.stdout).toContain('Is it (sensitive)?')
  expect(shown.stdout).toMatch(/out +\(sensitive\)/)
  expect(shown.stdout).toContain('The record agrees with its definition')
  const [ended] = jsonValues(answers.stdout).map((value) => Object(value))
  expect(ended.execution).toMatchObject({ status: 'escalated', reasonCode: 'tool_failed' })
  for (const { stdout, stderr } of [begun, shown, answers]) {
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret)
  }
})
