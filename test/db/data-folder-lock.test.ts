import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { announceServer, findServer, lockDataFolder } from '../../src/db/data-folder-lock.ts'
import { startProcess } from '../support/processes.ts'

let folder = ''
const lockFile = () => join(folder, 'stepwarden.lock')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwarden-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** No process has this number: Linux gives none above 2^22. */
const deadPid = 2 ** 22 + 1

function writeLock(holder: Record<string, unknown>): void {
  const whole = {
    pid: deadPid,
    host: hostname(),
    processStart: '1',
    lockedAt: '2026-11-29T12:00:00Z',
    ...holder,
  }
  writeFileSync(lockFile(), JSON.stringify(whole))
}

/** What this process writes of itself. */
function lockedHere(): Record<string, unknown> {
  const unlock = lockDataFolder(folder)
  const holder = JSON.parse(readFileSync(lockFile(), 'utf8'))
  unlock()
  return holder
}

describe('the lock of a data folder', () => {
  it('is a file while it is held, and gone after', () => {
    const unlock = lockDataFolder(folder)
    const during = JSON.parse(readFileSync(lockFile(), 'utf8'))
    unlock()

    expect(during).toMatchObject({ pid: process.pid, host: hostname(), server: null })
    expect(existsSync(lockFile())).toBe(false)
  })

  it('is refused while a living process has it, which is named with what to do', () => {
    const unlock = lockDataFolder(folder)
    announceServer(folder, { address: 'http://127.0.0.1:7070', token: 'secret' })
    expect(findServer(folder)).toEqual({ address: 'http://127.0.0.1:7070', token: 'secret' })

    expect(() => lockDataFolder(folder)).toThrow(
      new RegExp(
        `^The data folder ${folder} is in use by process ${process.pid}, which serves http://127.0.0.1:7070, since .*Z\\. One process at a time can open it: stop that one, use it instead \\(AI agents at http://127.0.0.1:7070/mcp, with a key\\), or set DATABASE_URL`,
      ),
    )
    unlock()
  })

  it('is taken over from a process that is gone', () => {
    writeLock({})

    lockDataFolder(folder)

    expect(JSON.parse(readFileSync(lockFile(), 'utf8')).pid).toBe(process.pid)
  })

  it.skipIf(!existsSync('/proc'))('is taken over when its pid belongs to a later process', () => {
    writeLock({ pid: process.pid, processStart: 'long before' })

    lockDataFolder(folder)

    expect(JSON.parse(readFileSync(lockFile(), 'utf8')).processStart).not.toBe('long before')
  })

  it('is never taken from another machine, whose processes cannot be seen', () => {
    writeLock({ host: 'another-machine' })

    expect(() => lockDataFolder(folder)).toThrow(/on the machine another-machine.*remove/)
  })

  it.skipIf(!existsSync('/proc'))('is never taken from another container on this machine', () => {
    const { bootId } = lockedHere()
    writeLock({ bootId, pidNamespace: 'pid:[1]' })

    expect(() => lockDataFolder(folder)).toThrow(/remove/)
  })

  it.skipIf(!existsSync('/proc'))('is taken over from before the machine was started', () => {
    const { pidNamespace } = lockedHere()
    // The pid and its start may be anybody's by now; the boot says that whoever had the lock is gone.
    writeLock({ pid: process.pid, processStart: null, bootId: 'an earlier one', pidNamespace })

    lockDataFolder(folder)

    expect(JSON.parse(readFileSync(lockFile(), 'utf8')).bootId).not.toBe('an earlier one')
  })

  it('is never taken when it cannot be read', () => {
    writeFileSync(lockFile(), 'half a fi')

    expect(() => lockDataFolder(folder)).toThrow(/not readable.*remove that file/)
  })

  it('is not given back by one that has lost it', () => {
    const unlock = lockDataFolder(folder)
    writeLock({ pid: 1 })

    unlock()

    expect(existsSync(lockFile())).toBe(true)
  })

  it('is free again after a process died while it took a lock over', () => {
    writeLock({})
    mkdirSync(`${lockFile()}.takeover`)
    expect(() => lockDataFolder(folder)).toThrow('Try again in a moment.')
    const later = Date.now() / 1000 - 60
    utimesSync(`${lockFile()}.takeover`, later, later)

    lockDataFolder(folder)

    expect(existsSync(`${lockFile()}.takeover`)).toBe(false)
  })

  it('goes to exactly one of several processes that find it stale at once', async () => {
    writeLock({})
    const processes = Array.from({ length: 4 }, () =>
      startProcess('test/db/lock-process.ts', folder),
    )
    try {
      await Promise.all(processes.map((each) => each.nextLine()))
      for (const each of processes) each.write('go\n')
      const answers = await Promise.all(processes.map((each) => each.nextLine()))

      expect(answers.sort()).toEqual([...Array(3).fill('DATA_FOLDER_IN_USE'), 'locked'])
    } finally {
      for (const each of processes) await each.kill()
    }
  }, 30_000)
})
