import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { migrateDatabase, openDatabase } from '../../src/db/connect.ts'
import { migrations } from '../../src/db/migrate.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { openTestDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'

const backend = inject('backend')
if (backend.kind !== 'postgres') throw new Error('these tests need a server')
const server = backend.url
// With what a URL must escape.
const loginPassword = 'a secret: 1%/@'
const suffix = randomBytes(4).toString('hex')
const cleanups: (() => Promise<unknown>)[] = []
const migrated = await openTestDatabase()

function urlOf(database: string, login?: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  if (login !== undefined) {
    url.username = login
    url.password = encodeURIComponent(loginPassword)
  }
  return url.href
}

async function onServer(statement: string, url: string = server): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

async function emptyDatabase(name: string, options = ''): Promise<string> {
  const database = `stepwarden_test_${name}_${suffix}`
  await onServer(`CREATE DATABASE ${database} TEMPLATE template0 ${options}`)
  cleanups.push(() => onServer(`DROP DATABASE ${database}`))
  return database
}

async function newLogin(name: string): Promise<string> {
  const login = `stepwarden_test_${name}_${suffix}`
  await onServer(`CREATE ROLE ${login} LOGIN PASSWORD '${loginPassword}'`)
  cleanups.unshift(() => onServer(`DROP ROLE ${login}`))
  return login
}

// In the reverse order of their making: a login goes after the databases that it owns.
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Error)) throw new TypeError('not an error')
  return error
}

describe('migrating a shared database', () => {
  it('is done once when eight clients do it at once', async () => {
    const url = urlOf(await emptyDatabase('crowd'))

    const applied = await Promise.all(Array.from({ length: 8 }, () => migrateDatabase({ url })))

    const names = [...migrations.keys()]
    expect(applied.filter((each) => each.length > 0)).toEqual([names])
    const client = new pg.Client(url)
    await client.connect()
    const schema = await describeSchema(client).finally(() => client.end())
    expect(schema).toBe(await migrated.asOwner('default', describeSchema))
  })

  it('works for clients of several databases of one server at once', async () => {
    const urls = await Promise.all(
      [1, 2, 3, 4].map(async (each) => urlOf(await emptyDatabase(`many${each}`))),
    )

    const applied = await Promise.all(urls.map((url) => migrateDatabase({ url })))

    expect(applied.map((each) => each.length)).toEqual(urls.map(() => migrations.size))
  })

  it('works as a login that owns the database and is no superuser, once the extension is there', async () => {
    const login = await newLogin('owner')
    const database = await emptyDatabase('owned', `OWNER ${login}`)
    const url = urlOf(database, login)
    const refused = await errorOf(migrateDatabase({ url }))
    await onServer('CREATE EXTENSION vector', urlOf(database))
    for (const role of ['stepwarden_owner', 'stepwarden_app', 'stepwarden_system']) {
      await onServer(`GRANT ${role} TO ${login}`)
    }

    const applied = await migrateDatabase({ url })
    await using opened = await openDatabase({ url })
    const rows = await opened
      .forTenant('default')
      .kysely.selectFrom('tenants')
      .selectAll()
      .execute()

    expect(isServiceError(refused, 'DATABASE_NOT_READY')).toBe(true)
    expect(refused.message).toContain('docs/database.md')
    expect(applied).toHaveLength(migrations.size)
    expect(rows).toHaveLength(1)
  })

  it('is refused by code that is too old for it', async () => {
    const url = urlOf(await emptyDatabase('newer'))
    await migrateDatabase({ url })
    await onServer(`INSERT INTO migrations VALUES ('0099-later', now(), '99.0.0')`, url)

    for (const work of [migrateDatabase, openDatabase]) {
      expect(await errorOf(work({ url }))).toMatchObject({
        code: 'SCHEMA_NEEDS_NEWER_CODE',
        details: { required: '99.0.0', migration: '0099-later' },
      })
    }
  })
})

describe('opening a shared database', () => {
  it('that was never migrated says which command to run', async () => {
    const error = await errorOf(openDatabase({ url: urlOf(await emptyDatabase('empty')) }))

    expect(error).toMatchObject({ code: 'DATABASE_NOT_READY' })
    expect(error.message).toContain("Run 'stepwarden migrate'.")
  })

  it('whose schema is older says what it lacks', async () => {
    const url = urlOf(await emptyDatabase('older'))
    await migrateDatabase({ url })
    await onServer(`DELETE FROM migrations WHERE name = '0007-demo-desk'`, url)

    expect(await errorOf(openDatabase({ url }))).toMatchObject({
      code: 'SCHEMA_OUTDATED',
      details: { missing: ['0007-demo-desk'] },
    })
  })

  it('in another encoding is refused', async () => {
    const database = await emptyDatabase('latin', `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`)
    await migrateDatabase({ url: urlOf(database) }).catch(() => undefined)

    const error = await errorOf(openDatabase({ url: urlOf(database) }))

    expect(error).toMatchObject({ code: 'DATABASE_NOT_READY' })
    expect(error.message).toContain('LATIN1')
  })

  it.each([
    [
      'nothing listens',
      (url: URL) => {
        url.port = '1'
      },
    ],
    [
      'user and password are wrong',
      (url: URL) => {
        url.username = 'stepwarden_nobody'
      },
    ],
    [
      'the database does not exist',
      (url: URL) => {
        url.pathname = '/stepwarden_none'
      },
    ],
    [
      'the host does not exist',
      (url: URL) => {
        url.hostname = 'stepwarden.invalid'
      },
    ],
  ])('names the server and keeps the password to itself when %s', async (_, spoil) => {
    const url = new URL(server)
    url.password = 'hunter2'
    spoil(url)

    const error = await errorOf(openDatabase({ url: url.href }))

    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true })
    expect(error.message).toContain(url.hostname)
    expect(error.message).not.toContain('hunter2')
  })

  it('refuses what is no URL, without repeating it', async () => {
    const error = await errorOf(openDatabase({ url: 'not a url with hunter2' }))

    expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
    expect(error.message).not.toContain('hunter2')
  })

  it('keeps the options of the URL beside its own', async () => {
    const url = new URL('url' in migrated.config ? migrated.config.url : '')
    url.searchParams.set('options', '-c lock_timeout=1234')

    await using opened = await openDatabase({ url: url.href })
    const [row] = await opened.system.query(
      'settings',
      `SELECT current_user AS role, current_setting('lock_timeout') AS timeout`,
      [],
    )

    expect(row).toEqual({ role: 'stepwarden_app', timeout: '1234ms' })
  })

  it('survives that the server ends its connections', async () => {
    const { system } = migrated.database
    const ask = () => system.query('one', 'SELECT 1 AS one', [])
    await ask()
    await migrated.asOwner('default', (client) =>
      client.query('SET ROLE NONE').then(() =>
        client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        ),
      ),
    )

    await expect.poll(() => ask().catch(() => [])).toEqual([{ one: 1 }])
  })
})

describe('a session lock', () => {
  const isFree = async (key: number) => {
    const [row] = await migrated.database.system.query<{ free: boolean }>(
      'is_free',
      `SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
         AND (classid::bigint << 32) + objid::bigint = $1) AS free`,
      [key],
    )
    return row?.free
  }

  it('is held until it is disposed', async () => {
    const lock = await migrated.database.holdSessionLock(2 ** 40 + 7)
    const during = await isFree(2 ** 40 + 7)
    await lock[Symbol.asyncDispose]()

    expect(during).toBe(false)
    await expect.poll(() => isFree(2 ** 40 + 7)).toBe(true)
  })

  it('is taken again when its connection was lost', async () => {
    await using _lock = await migrated.database.holdSessionLock(77)
    await migrated.asOwner('default', (client) =>
      client
        .query('SET ROLE NONE')
        .then(() =>
          client.query(
            `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 77`,
          ),
        ),
    )
    await expect.poll(() => isFree(77)).toBe(true)

    await expect.poll(() => isFree(77), { timeout: 5_000 }).toBe(false)
  })
})
