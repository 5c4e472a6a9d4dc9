import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../support/database.ts'
import { startCli } from './run-cli.ts'

const db = await openTestDatabase()
const environment = {
  DATABASE_URL: 'url' in db.config ? db.config.url : '',
  STEPWARDEN_DATA_DIR: '',
}

test('a worker ends although its database is locked, and says that it could not ask it', async () => {
  const { child, ended, says } = startCli(['worker'], { environment })
  onTestFinished(() => void child.kill('SIGKILL'))
  await says('is at work')

  const { exitCode, stdout } = await db.asOwner('default', async (client) => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE executions, workers IN ACCESS EXCLUSIVE MODE')
    child.kill('SIGTERM')
    const end = await ended
    await client.query('ROLLBACK')
    return end
  })

  expect(exitCode).toBe(0)
  expect(stdout).toContain('The database does not say in time')
})
