import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Database, migrateDatabase, openDatabase } from '../../src/db/connect.ts'
import { keepUp } from '../../src/db/embedded-upkeep.ts'
import { startProcess } from '../support/processes.ts'

const root = fs.mkdtempSync(join(tmpdir(), 'stepwarden-embedded-'))
const folder = join(root, 'data', 'stepwarden')
afterAll(() => fs.rmSync(root, { recursive: true }))

async function tenantsOf(database: Database, ...ids: readonly string[]) {
  const found = await Promise.all(
    ids.map((id) => database.forTenant(id).kysely.selectFrom('tenants').select('id').execute()),
  )
  return found.flat().map((row) => row.id)
}

// The tests build on each other's folder, because making one takes seconds.
describe('a data folder', { timeout: 60_000 }, () => {
  it('is made, migrated and locked by the first process, and refused to the second', async () => {
    fs.mkdirSync(join(folder, 'postgres.unfinished'), { recursive: true })
    fs.writeFileSync(join(folder, 'postgres.unfinished', 'PG_VERSION'), 'left by a killed process')
    const first = startProcess('test/db/embedded-process.ts', folder, 'first')
    try {
      expect(await first.nextLine()).toBe('committed')

      await expect(openDatabase({ dataDir: folder })).rejects.toMatchObject({
        code: 'DATA_FOLDER_IN_USE',
        message: expect.stringContaining(`process ${first.pid}, since`),
      })
    } finally {
      await first.kill()
    }
  })

  it('keeps what was committed when the process is killed, and is free at once', async () => {
    await using database = await openDatabase({ dataDir: folder })

    expect(await tenantsOf(database, 'default', 'first', 'second')).toEqual(['default', 'first'])
    expect(database.kind).toBe('pglite')
  })

  it('has nothing left to migrate, and no lock once it is closed', async () => {
    expect(await migrateDatabase({ dataDir: folder })).toEqual([])
    expect(fs.readdirSync(folder)).toEqual(['postgres'])
  })

  it('waits for the disk at each commit', async () => {
    await using database = await openDatabase({ dataDir: folder })
    const { fsyncSync } = fs
    let synced = 0
    fs.fsyncSync = (file) => {
      synced += 1
      fsyncSync(file)
    }
    syncBuiltinESMExports()
    try {
      for (const id of ['one', 'two', 'three']) {
        const row = { id, name: id, created_at: new Date() }
        await database.forTenant(id).kysely.insertInto('tenants').values(row).execute()
      }
    } finally {
      fs.fsyncSync = fsyncSync
      syncBuiltinESMExports()
    }

    expect(synced).toBeGreaterThanOrEqual(3)
  })

  it('is kept from growing: its log is cut when enough was written, and the role stays', async () => {
    await using database = await openDatabase({ dataDir: folder })
    const client = await database.pool.connect()
    try {
      expect(await keepUp(client)).toBe(false)
      expect(await keepUp(client, 1)).toBe(true)
      expect(await keepUp(client, 1_000_000)).toBe(false)
      const { rows } = await client.query('SELECT current_user AS role')

      expect(rows).toEqual([{ role: 'stepwarden_app' }])
    } finally {
      client.release()
    }
  })

  it('that holds no usable database is refused with the reason, and unlocked', async () => {
    fs.rmSync(join(folder, 'postgres', 'global', 'pg_control'))

    await expect(openDatabase({ dataDir: folder })).rejects.toMatchObject({
      code: 'DATA_FOLDER_UNUSABLE',
    })
    expect(fs.readdirSync(folder)).toEqual(['postgres'])
  })

  it('that cannot be made is refused with the reason', async () => {
    const file = join(root, 'a-file')
    fs.writeFileSync(file, '')

    await expect(openDatabase({ dataDir: join(file, 'data') })).rejects.toMatchObject({
      code: 'DATA_FOLDER_UNUSABLE',
      message: expect.stringContaining('STEPWARDEN_DATA_DIR'),
    })
  })
})
