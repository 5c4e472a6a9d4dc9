import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { openContext } from '../../src/context.ts'
import { startExecution } from '../../src/operations/start-execution.ts'
import { callerOf } from '../support/caller.ts'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

// Each process opens a database of its own, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const folder = temporaryFolder()
const dataDir = join(folder, 'data')
const run = (...words: string[]) => runCli(words, { dataDir })
const start = (key: string, options = '') => `/executions start ${key} ${options}`

/** The answers of commands that are typed into one session. */
async function session(...lines: string[]) {
  const { stdout } = await runCli(['chat', '--json'], { dataDir, input: lines.join('\n') })
  return jsonValues(stdout).map((value) => Object(value))
}

/** A run of a person who is not the one at this machine. */
async function startedByAnn(procedureKey: string) {
  const config = readConfig({ STEPWARDEN_DATA_DIR: dataDir }, folder)
  await using app = await openContext(config)
  const { execution } = await startExecution.invoke(app, callerOf('ann'), { procedureKey })
  return execution
}

function playbook(key: string, ...steps: string[]): readonly string[] {
  const file = join(folder, `${key}.yaml`)
  const head = [`key: ${key}`, `name: ${key}`, 'description: Waits for somebody.', 'steps:']
  writeFileSync(file, [...head, ...steps.map((step) => `  - ${step}`)].join('\n'))
  return [`/procedures create ${file}`, `/activate ${key} 1`]
}

const ask =
  '{ key: code, action: Ask for the code, ask: customer, message: "Which code?", answer: { type: string, pattern: "^[0-9]{4}$" }, deadline: 2d, remind: 1d }'
const approval =
  '{ key: yes, action: Ask for a yes, approval: approver, show: { amount: 700 }, deadline: 1d }'
const desk =
  '{ key: desk, action: Ask the desk, approval: "group:refund-desk", show: { amount: 700 }, deadline: 1d }'

beforeAll(() =>
  session(
    ...playbook('ASKS', ask),
    ...playbook('APPROVES', approval),
    ...playbook('DESK', desk),
    '/procedures seed',
  ),
)

test('a question is listed, keeps words that do not fit, and goes on with the answer', async () => {
  const asked = await run('executions', 'start', 'ASKS')
  const command = /stepwarden executions answer (exec_\w+) code --text "…"/.exec(asked.stdout)
  const id = command?.[1] ?? ''
  expect(asked.stdout).toContain('Goes on     with an answer of the customer at step code, until ')

  const unfit = await run('executions', 'answer', id, 'code', '--text', 'I see nothing')
  expect(unfit).toMatchObject({ exitCode: 0, stderr: '' })
  expect(unfit.stdout).toMatch(/^The words do not fit and were kept: .*\^\[0-9\]\{4\}\$/)
  expect(unfit.stdout).toContain(`stepwarden executions answer ${id} code --text "…"`)

  const listed = await run('executions', 'waiting', '--mine', '--execution', id)
  expect(listed.stdout).toMatch(
    new RegExp(
      `^${id} +code +ask +the customer +\\S+ \\S+Z +\\S+ \\S+Z +ASKS v1 +1 answer did not fit +Which code\\? \\(a text that matches \\^\\[0-9\\]\\{4\\}\\$\\)$`,
      'm',
    ),
  )

  const refused = await run('executions', 'answer', id, 'code', '--answer', '1234')
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain('found 1234, expected a text')

  const answered = await run('executions', 'answer', id, 'code', '--text', '1234')
  expect(answered.stdout).toMatch(/✓ +1 +code +1234\nOutcome +resolved/)
  const again = await run('executions', 'answer', id, 'code', '--text', '1234')
  expect(again.exitCode).toBe(4)
})

test('an approval is taken from somebody else, and only of what they have seen', async () => {
  const { id } = await startedByAnn('APPROVES')
  const shown = await run('executions', 'show', id)
  const hash = /^ +hash +([0-9a-f]{64})$/m.exec(shown.stdout)?.[1] ?? ''
  expect(shown.stdout).toMatch(/^ +asks +the role approver, until /m)
  expect(shown.stdout).toMatch(/^ +shows +amount: 700$/m)
  expect(shown.stdout).toContain(`stepwarden executions approve ${id} yes --shown ${hash}`)

  const stale = await run('executions', 'approve', id, 'yes', '--shown', 'another')
  expect(stale).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(hash) })

  const approved = await run('executions', 'approve', id, 'yes', '--shown', hash)
  expect(approved.stdout).toMatch(/Outcome +resolved/)
})

test('who has started a run is told who else may approve it', async () => {
  const [own, desked] = await session(start('APPROVES'), start('DESK'))

  const shown = await run('executions', 'show', own.execution.id)
  const listed = await run('executions', 'waiting')
  const listedMine = await run('executions', 'waiting', '--mine')
  const mine = await run('executions', 'approve', own.execution.id, 'yes')
  const theirs = await run('executions', 'deny', desked.execution.id, 'desk', '--json')

  expect(shown.stdout.replaceAll(/\n +/g, ' ')).toMatch(
    /Goes on +with a yes or a no of the role approver at step yes, until .*; somebody else must decide: nobody approves what they have asked for themselves/,
  )
  expect(shown.stdout).not.toContain('stepwarden executions approve')
  expect(listed.stdout).toContain(own.execution.id)
  expect(listedMine.stdout).not.toContain(own.execution.id)
  expect(mine).toMatchObject({ exitCode: 5, stdout: '' })
  expect(mine.stderr).toMatch(/asked for themselves\. This run was started by or for '.+'/)
  expect(mine.stderr).toContain(`'stepwarden executions cancel ${own.execution.id}' ends the run`)
  expect(theirs.exitCode).toBe(5)
  expect(JSON.parse(theirs.stderr)).toMatchObject({
    code: 'NOT_ASKED',
    message: expect.stringContaining('is not in it: somebody of the group does it, with a key'),
  })
})

test('a guided run asks before a write, and hears a no', async () => {
  const input = `--guided --input '{"transactionId": "TXN-DUP-002"}'`
  const [guided] = await session(start('DUPLICATE_CHARGE_PLAYBOOK', input))
  const { id } = guided.execution
  expect(guided.steps.at(-1)).toMatchObject({ key: 'issue_refund', status: 'waiting' })

  const listed = await run('executions', 'waiting', '--execution', id)
  expect(listed.stdout).toMatch(/ write +an agent .* issue_refund: transactionId: TXN-DUP-002$/m)

  const denied = await run('executions', 'deny', id, 'issue_refund', '--comment', 'not today')

  expect(denied.stdout).toMatch(/Outcome +escalated/)
  expect(denied.stdout).toMatch(/not today\. \(approval_denied at step issue_refund\)/)
})

test('an answer is given once, in one form', async () => {
  const place = ['executions', 'answer', 'exec_0123456789abcdefghjkm', 'code'] as const

  const none = await run(...place)
  const rounds = await run(
    ...['executions', 'deny', 'exec_0123456789abcdefghjkm', 'code[3]', '--iteration', '4'],
  )

  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no answer') })
  expect(rounds).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('round 3') })
})
