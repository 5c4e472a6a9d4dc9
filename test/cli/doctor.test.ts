import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonValues, runCli, temporaryFolder } from './run-cli.ts'

const dataDir = join(temporaryFolder(), 'data')
const input = `--input '{"transactionId": "TXN-DEMO-001"}'`

test('doctor tells runs without a worker from paused ones, and says how many it held', async () => {
  const start = `/executions start FAILED_PAYMENT_PLAYBOOK --detach ${input}`
  const prepared = await runCli(['chat', '--json'], {
    dataDir,
    input: ['/procedures seed', start, start, start].join('\n'),
  })
  const started = jsonValues(prepared.stdout)[1]
  await runCli(['executions', 'pause', Object(started).execution.id], { dataDir })

  const [before, held, again] = [
    await runCli(['doctor'], { dataDir }),
    await runCli(['doctor', '--after-restore', '--json'], { dataDir }),
    await runCli(['doctor', '--after-restore'], { dataDir }),
  ]

  expect(before.stdout).toMatch(
    /warn +executions +2 executions without a worker.*; 1 paused, 0 waiting for a moment$/m,
  )
  const { held: count, checks } = JSON.parse(held.stdout)
  expect(count).toBe(2)
  expect(checks[0].text).toMatch(/^2 runs held, of all tenants/)
  expect(again.stdout).toMatch(/ok +restore +0 runs held/)
  expect(again.stdout).toMatch(/ok +executions +none is without a worker; 3 paused, 0 waiting/)
})

test('doctor loads the tools before there is a data folder, and says what is wrong with them', async () => {
  const folder = temporaryFolder()
  const tools = join(folder, 'shop.config.mjs')
  writeFileSync(tools, "import './nowhere.mjs'\nexport const tools = []\n")

  const { exitCode, stdout } = await runCli(['doctor'], {
    dataDir: join(folder, 'none'),
    environment: { STEPWARDEN_CONFIG: tools },
  })

  expect(stdout).toMatch(/^fail +tools +.*shop\.config\.mjs.*cannot be loaded/m)
  expect(exitCode).toBe(7)
})
