import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { runCli, startCli, temporaryFolder } from '../cli/run-cli.ts'
import { call, textOf } from '../support/mcp.ts'

const bin = fileURLToPath(new URL('../../bin/stepwarden.js', import.meta.url))
const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const noisy = {
  dataDir: join(folder, 'noisy'),
  environment: {
    STEPWARDEN_CONFIG: fileURLToPath(new URL('noisy-tools.ts', import.meta.url)),
  },
}

const messages = {
  initialize: {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      ...{ protocolVersion: '2025-06-18', capabilities: {} },
      clientInfo: { name: 'test', version: '1' },
    },
  },
  initialized: { jsonrpc: '2.0', method: 'notifications/initialized' },
  start: {
    ...{ jsonrpc: '2.0', id: 2, method: 'tools/call' },
    params: { name: 'start_execution', arguments: { procedureKey: 'NOISY_PLAYBOOK' } },
  },
}
const lines = (...sent: readonly unknown[]) =>
  sent
    .map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
    .join('')
/** Every line of an output as a message of the protocol; fails on any other. */
const parsed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a client that starts the command', () => {
  beforeAll(async () => {
    const input = '{"transactionId": "TXN-REFUND-003"}'
    const typed = [
      '/procedures seed',
      `/executions start REFUND_DELAY_PLAYBOOK --detach --input '${input}'`,
    ]
    await runCli(['chat'], { dataDir, input: lines(...typed) })
  })

  it('resolves the ticket of the demo, as an AI agent in the name of the local person', async () => {
    const { PATH = '' } = process.env
    const client = new Client({ name: 'test', version: '1' })
    const environment = { PATH, STEPWARDEN_DATA_DIR: dataDir, STEPWARDEN_REQUIRED_APPROVALS: '0' }
    await client.connect(
      new StdioClientTransport({
        ...{ command: process.execPath, args: [bin, 'mcp'], env: environment, stderr: 'ignore' },
      }),
    )
    await client.listTools()
    const told: unknown[] = []

    const result = await call(
      client,
      'resolve_ticket',
      { ticket: { text: 'Checkout failed but my card was charged for TXN-DEMO-001' } },
      { onprogress: ({ message }) => told.push(message) },
    )
    const second = await runCli(['mcp'], { dataDir })
    await client.close()

    const { execution } = Object(result.structuredContent)
    expect(textOf(result)).toContain('The refund status is auto_refund_triggered')
    expect(told).toContain('check_refund: completed')
    expect(execution.requester).toMatchObject({
      kind: 'ai',
      roles: ['agent'],
      unauthenticated: true,
    })
    // One process at a time has a folder.
    expect(second).toMatchObject({ exitCode: 6, stdout: '' })
    // What nobody had was carried on meanwhile.
    const listed = await runCli(['executions', 'list', '--json'], { dataDir })
    const { items } = JSON.parse(listed.stdout)
    expect(items.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
    ])
  })

  it('whose key lets nobody in is told why before it says anything', async () => {
    const environment = { STEPWARDEN_KEY: `sw_default_${'x'.repeat(43)}` }

    const { exitCode, stdout, stderr } = await runCli(['mcp'], { dataDir, environment })

    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toContain('key')
  })

  it('is no person in a session', async () => {
    const { stdout, stderr } = await runCli(['chat'], { dataDir, input: '/mcp\n' })

    expect(stdout + stderr).toContain("'mcp' speaks to a program.")
  })
})

describe('on tools that print', () => {
  beforeAll(async () => {
    const file = join(folder, 'noisy.yaml')
    writeFileSync(
      file,
      [
        'key: NOISY_PLAYBOOK',
        'name: Noisy',
        'description: Sends something.',
        'steps:',
        '  - { key: send, action: Send it, tool: send }',
        'completionConditions:',
        '  - { text: Sent, when: steps.send.output.sent }',
      ].join('\n'),
    )
    await runCli(['chat'], {
      ...noisy,
      input: lines(`/procedures create ${file}`, '/activate NOISY_PLAYBOOK 1'),
    })
  })

  it('standard output holds the protocol alone, and what was asked is answered before the end', async () => {
    const { initialize, initialized, start } = messages

    const { exitCode, stdout, stderr } = await runCli(['mcp'], {
      ...noisy,
      input: lines(initialize, initialized, 'no message', start),
    })

    const answers = parsed(stdout)
    expect(exitCode).toBe(0)
    expect(answers.map(({ id }) => id)).toEqual([1, 2])
    expect(answers[1].result.structuredContent.execution).toMatchObject({ outcome: 'resolved' })
    for (const said of ['are loaded', 'is at work', 'has done its work'])
      expect(stderr).toContain(said)
  })

  it('SIGTERM lets a step finish, says that its run goes on, and ends well', async () => {
    const { initialize, initialized, start } = messages
    const { child, ended, says } = startCli(['mcp'], noisy)
    child.stdin?.write(lines(initialize, initialized, start))
    await says('the tool is at work')

    child.kill('SIGTERM')

    const { exitCode, stdout } = await ended
    expect(exitCode).toBe(0)
    const { structuredContent, content } = parsed(stdout)[1]?.result ?? {}
    expect(structuredContent.steps).toMatchObject([{ key: 'send', status: 'completed' }])
    expect(structuredContent.execution).toMatchObject({ status: 'running' })
    expect(content[0].text).toContain('Next: it goes on by itself.')
    // Whoever opens the folder next carries it on, and sends nothing again.
    const worked = await runCli(['worker', '--until-idle'], noisy)
    expect(worked.exitCode).toBe(0)
    expect(worked.stdout).not.toContain('the tool is at work')
  })

  it('a client that is killed in the middle leaves no run behind', async () => {
    const { initialize, initialized, start } = messages
    const { child, ended, says } = startCli(['mcp'], noisy)
    child.stdin?.write(lines(initialize, initialized, start))
    await says('the tool is at work')

    child.stdout?.destroy()
    child.stdin?.destroy()

    expect(await ended).toMatchObject({ exitCode: 0 })
    const listed = await runCli(['executions', 'list', '--json'], noisy)
    const statuses = JSON.parse(listed.stdout.slice(listed.stdout.indexOf('{'))).items.map(
      ({ status }: { status: string }) => status,
    )
    expect(new Set(statuses)).toEqual(new Set(['completed']))
  })
})
