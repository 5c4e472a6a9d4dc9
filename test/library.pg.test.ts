import pg from 'pg'
import { expect, it } from 'vitest'
import { createStepwarden, type Principal } from '../src/index.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import { openTestDatabase } from './support/database.ts'
import { openTestIssuer } from './support/issuer.ts'

const { config: database } = await openTestDatabase()
const ann: Principal = {
  id: 'ann',
  kind: 'human',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
}

it('on a server the library takes on no run that it was not asked for, unless it is told to', async () => {
  const options = { database, embedder: ngramEmbedder }
  await using first = await createStepwarden(options)
  const client = first.as(ann)
  const procedureKey = 'LEFT_PLAYBOOK'
  const steps = [{ key: 'sum', action: 'Add', compute: { n: '1 + 1' } }]
  const definition = { key: procedureKey, name: 'Left', description: 'Left', steps }
  await client.createProcedure({ definition })
  await client.activateVersion({ procedureKey, versionNumber: 1, seenActive: null })
  const { execution } = await client.startExecution({ procedureKey, detach: true })
  const status = async () =>
    (await client.getExecution({ executionId: execution.id as never })).execution.status

  await using _script = await createStepwarden(options)
  expect(await status()).toBe('pending')

  await using _service = await createStepwarden({ ...options, recover: true })
  expect(await status()).toBe('completed')
})

it('a connection that is cut, or a statement that is ended, says that the database is away', async () => {
  await using stepwarden = await createStepwarden({ database, embedder: ngramEmbedder })
  const admin = new pg.Client('url' in database ? database.url : '')
  await admin.connect()
  const lockedOut = async (end: string, caught: (error: unknown) => void) => {
    await admin.query('BEGIN')
    await admin.query('LOCK TABLE procedures IN ACCESS EXCLUSIVE MODE')
    const failed = stepwarden.as(ann).listProcedures({}).catch(caught)
    const waiting = `FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'`
    await expect
      .poll(async () => (await admin.query(`SELECT ${waiting}`)).rowCount, { interval: 20 })
      .toBe(1)
    await admin.query(`SELECT ${end}(pid) ${waiting}`)
    await failed
    await admin.query('ROLLBACK')
  }
  const errors: unknown[] = []

  await lockedOut('pg_cancel_backend', (error) => errors.push(error))
  await lockedOut('pg_terminate_backend', (error) => errors.push(error))
  await admin.end()

  expect(errors).toMatchObject([
    { name: 'ServiceError', code: 'DATABASE_UNAVAILABLE', cause: { code: '57014' } },
    { name: 'ServiceError', code: 'DATABASE_UNAVAILABLE', cause: { code: '57P01' } },
  ])
})

it('whoever has a token of the issuer comes in by the library as by other doors', async () => {
  const issuer = await openTestIssuer()
  const oidc = {
    ...{ issuer: issuer.url, audience: 'stepwarden', rolesClaim: 'groups' },
    roleMap: { desk: ['agent' as const] },
  }
  await using stepwarden = await createStepwarden({ database, embedder: ngramEmbedder, oidc })
  const token = await issuer.token(Date.now(), { groups: ['desk'] })
  const forged = `${token.slice(0, -4)}AAAA`

  expect(await stepwarden.withKey(token).whoAmI({})).toMatchObject({ roles: ['agent'] })
  await expect(stepwarden.withKey(token).listPrincipals({})).rejects.toMatchObject({
    code: 'ROLE_MISSING',
  })
  await expect(stepwarden.withKey(forged).whoAmI({})).rejects.toMatchObject({ code: 'KEY_REFUSED' })
})

it('what is wrong with the options for tokens is told at once, before anything is opened', async () => {
  const oidc = { issuer: 'http://desk.example', audience: '', rolesClaim: '' }

  await expect(createStepwarden({ database, oidc })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    details: {
      problems: [
        expect.objectContaining({ path: 'oidc.issuer' }),
        expect.objectContaining({ path: 'oidc.audience' }),
        expect.objectContaining({ path: 'oidc.rolesClaim' }),
      ],
    },
  })
})
