import {
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { ServiceError } from '../domain/errors.ts'

/** What the lock file says about the process that has a data folder open. */
interface LockHolder {
  readonly pid: number
  readonly host: string
  /** The kernel's start time of the process, which tells it from a later one of the same pid; null where unknown. */
  readonly processStart: string | null
  /** Which start of the machine, and which container's view of its processes; null where unknown. */
  readonly bootId: string | null
  readonly pidNamespace: string | null
  /** RFC 3339. */
  readonly lockedAt: string
  /** Where the process can be reached, if it serves. */
  readonly server: FolderServer | null
}

/** The process that serves a data folder, for commands of the same machine. */
export interface FolderServer {
  /** `http://127.0.0.1:7420` */
  readonly address: string
  /** What shows that whoever asks may read the folder. */
  readonly token: string
}

const lockFileName = 'stepwarden.lock'

/**
 * Takes the lock of a data folder, which must exist, and answers the function that gives it back. Two processes on
 * one folder would lose data silently. The lock of a process that is gone is taken over.
 *
 * @throws ServiceError `DATA_FOLDER_IN_USE` naming the process that holds it.
 */
export function lockDataFolder(folder: string): () => void {
  const file = join(folder, lockFileName)
  const content = JSON.stringify({
    pid: process.pid,
    host: hostname(),
    processStart: processStart(process.pid),
    bootId: bootId(),
    pidNamespace: pidNamespace(),
    lockedAt: new Date().toISOString(),
    server: null,
  } satisfies LockHolder)
  if (!createLock(file, content)) takeOver(folder, file, content)
  return () => {
    // Whoever took the lock over in between keeps it.
    if (isSameLock(readLock(file), content)) rmSync(file, { force: true })
  }
}

/** Says in the lock of a folder, which this process holds, where it serves. */
export function announceServer(folder: string, server: FolderServer): void {
  const file = join(folder, lockFileName)
  const holder = parseHolder(readLock(file) ?? '')
  if (holder?.pid !== process.pid) throw new TypeError(`${folder} is not locked by this process`)
  const whole = `${file}.${process.pid}`
  writeFileSync(whole, JSON.stringify({ ...holder, server }), { mode: 0o600 })
  renameSync(whole, file)
}

/** The living process of this machine that serves a folder; undefined when none does. */
export function findServer(folder: string): FolderServer | undefined {
  const holder = parseHolder(readLock(join(folder, lockFileName)) ?? '')
  if (holder?.server == null || holder.host !== hostname() || holder.bootId !== bootId()) return
  if (holder.pidNamespace !== pidNamespace() || !isAlive(holder)) return
  return holder.server
}

/** Whether two texts are the lock of one process, whatever it has said since of where it serves. */
function isSameLock(one: string | undefined, other: string): boolean {
  const [a, b] = [parseHolder(one ?? ''), parseHolder(other)]
  return a !== undefined && a.pid === b?.pid && a.host === b.host && a.lockedAt === b.lockedAt
}

function createLock(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    // A lock that could not be written whole (the disk is full) would keep everyone out.
    rmSync(file, { force: true })
    throw error
  }
}

/**
 * Replaces the lock of a process that is gone. Two processes may find the same stale lock; without the second,
 * short-lived lock around "look, remove, create" one could remove what the other has just created.
 */
function takeOver(folder: string, file: string, content: string): void {
  const turn = `${file}.takeover`
  if (!createFolder(turn)) {
    // Held for less than a millisecond by a living process; what is older was left by one that died in it.
    if (Date.now() - (statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) < 10_000) {
      throw inUse(folder, 'another process that is opening it', 'Try again in a moment.')
    }
    rmSync(turn, { recursive: true, force: true })
    if (!createFolder(turn)) {
      throw inUse(folder, 'another process that is opening it', 'Try again in a moment.')
    }
  }
  try {
    const judged = readLock(file)
    if (judged !== undefined) {
      refuseLiving(folder, file, judged)
      removeJudged(folder, file, judged)
    }
    if (!createLock(file, content)) {
      throw inUse(folder, 'another process that is opening it', 'Try again in a moment.')
    }
  } finally {
    rmdirSync(turn)
  }
}

/** Removes the lock that was judged, and no other: one that was made since is put back. */
function removeJudged(folder: string, file: string, judged: string): void {
  const aside = `${file}.${process.pid}`
  renameSync(file, aside)
  if (readLock(aside) === judged) {
    rmSync(aside, { force: true })
    return
  }
  renameSync(aside, file)
  throw inUse(folder, 'another process that is opening it', 'Try again in a moment.')
}

function refuseLiving(folder: string, file: string, text: string): void {
  const holder = parseHolder(text)
  if (holder === undefined) {
    throw inUse(
      folder,
      `a process unknown: ${file} is not readable`,
      'If no other stepwarden process runs, remove that file and try again.',
    )
  }
  // What ran before the machine was started last is gone for certain.
  if (holder.host === hostname() && holder.bootId !== null && holder.bootId !== bootId()) return
  const isOutOfSight = holder.pidNamespace !== null && holder.pidNamespace !== pidNamespace()
  if (holder.host !== hostname() || isOutOfSight) {
    // Another machine or container: whether its process lives cannot be seen from here.
    throw inUse(
      folder,
      `process ${holder.pid} on the machine ${holder.host}, since ${holder.lockedAt}`,
      `Stop it; if it is gone for good, remove ${file} and try again.`,
    )
  }
  if (isAlive(holder)) {
    const where = holder.server === null ? '' : `, which serves ${holder.server.address}`
    const use =
      holder.server === null
        ? 'use it instead'
        : `use it instead (AI agents at ${holder.server.address}/mcp, with a key)`
    throw inUse(
      folder,
      `process ${holder.pid}${where}, since ${holder.lockedAt}`,
      `One process at a time can open it: stop that one, ${use}, or set DATABASE_URL to share a PostgreSQL.`,
    )
  }
}

function inUse(
  folder: string,
  holder: string,
  nextMove: string,
): ServiceError<'DATA_FOLDER_IN_USE'> {
  return new ServiceError('DATA_FOLDER_IN_USE', { folder, holder, nextMove })
}

function isAlive(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (errorCode(error) === 'ESRCH') return false
  }
  return holder.processStart === null || processStart(holder.pid) === holder.processStart
}

/** Field 22 of /proc/PID/stat: the start in clock ticks since boot. Null where there is no /proc. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may itself hold spaces; the third is what follows them.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

function readLock(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value = JSON.parse(text) as Partial<LockHolder> | null
    if (typeof value?.pid !== 'number' || typeof value.host !== 'string') return undefined
    return {
      pid: value.pid,
      host: value.host,
      processStart: value.processStart ?? null,
      bootId: value.bootId ?? null,
      pidNamespace: value.pidNamespace ?? null,
      lockedAt: value.lockedAt ?? 'an unknown time',
      server: isServer(value.server) ? value.server : null,
    }
  } catch {
    return undefined
  }
}

function isServer(value: FolderServer | null | undefined): value is FolderServer {
  return typeof value?.address === 'string' && typeof value.token === 'string'
}

function createFolder(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
