import { expect, test, vi } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { runCli, startCli } from './run-cli.ts'

vi.setConfig({ testTimeout: 120_000 })

const db = await openTestDatabase()
const environment = {
  DATABASE_URL: 'url' in db.config ? db.config.url : '',
  STEPWARDEN_DATA_DIR: '',
}
const run = (words: string, more: Readonly<Record<string, string>> = {}) =>
  runCli([...words.split(' '), '--json'], { environment: { ...environment, ...more } })

test('on a server the local person acts until an admin has a key, which is the last way in and stays', async () => {
  expect((await run('principals add ann --roles admin')).exitCode).toBe(0)
  expect((await run('principals add bob --roles author')).exitCode).toBe(0)
  expect((await run('keys create bob')).exitCode).toBe(0)
  const made = JSON.parse((await run('keys create ann')).stdout)

  const without = await run('procedures list')
  expect(without.exitCode).toBe(5)
  expect(JSON.parse(without.stderr)).toMatchObject({ code: 'KEY_MISSING' })
  // Who runs the deployment is no caller: nobody's key is lent to a server or a worker.
  expect((await run('worker --until-idle')).exitCode).toBe(0)
  const serving = startCli(['serve', '--port', '0'], { environment })
  await serving.says('Ctrl-C stops it')
  serving.child.kill('SIGTERM')
  expect((await serving.ended).exitCode).toBe(0)
  const withKey = { STEPWARDEN_KEY: made.key }
  expect((await run('procedures list', withKey)).exitCode).toBe(0)

  // The last way in stays until there is another.
  const refused = await run(`keys revoke ${made.keyId}`, withKey)
  expect(refused.exitCode).toBe(4)
  expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'PRINCIPAL_LAST_ADMIN' })
  const other = JSON.parse((await run('keys create ann', withKey)).stdout)
  const withOther = { STEPWARDEN_KEY: other.key }
  expect((await run(`keys revoke ${made.keyId}`, withOther)).exitCode).toBe(0)
  expect((await run('procedures list', withKey)).exitCode).toBe(5)
  expect((await run('procedures list', withOther)).exitCode).toBe(0)
})
