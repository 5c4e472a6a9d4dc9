import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** The disk of a server that may be filled is smaller than this: never the one of the machine. */
const maxDiskBytes = 4 * 1024 ** 3

/** A PostgreSQL server whose folder is at hand, so that it can be harmed as crashes and full disks harm it. */
export interface HarmedServer {
  /** Ends it without a checkpoint, as a crash does, and starts it again; it recovers from its log. */
  restart(): Promise<void>
  /** Takes all room on its disk. */
  fillDisk(): void
  /** Gives the room back, and starts the server if it has not survived. Answers whether it had. */
  freeDisk(): Promise<boolean>
}

/** Whether a server keeps its data below a folder as `.ci/postgres` makes it. */
export function isServerFolder(folder: string): boolean {
  return folder !== '' && existsSync(join(folder, 'data', 'postmaster.opts'))
}

/** `folder` is what `.ci/postgres` calls TEST_DATABASE_DIR: `data` in it is the data folder of the server. */
export function openServer(folder: string): HarmedServer {
  const data = join(folder, 'data')
  // PostgreSQL notes there how it was started.
  const [postgres = ''] = readFileSync(join(data, 'postmaster.opts'), 'utf8').split(' ')
  const { uid, gid } = statSync(data)
  const ballast = join(folder, 'ballast')
  /** Answers the exit code. */
  const pgCtl = async (...args: string[]): Promise<unknown> => {
    const child = spawn(join(dirname(postgres), 'pg_ctl'), [...args, '-D', data], {
      // PostgreSQL refuses to run as root.
      ...(process.getuid?.() === 0 && { uid, gid }),
      cwd: '/',
      stdio: 'ignore',
    })
    const [code] = await once(child, 'close')
    return code
  }
  const log = ['-l', join(folder, 'log'), '-w', '-t', '120']
  const bring = async (...args: string[]): Promise<void> => {
    const code = await pgCtl(...args, ...log)
    if (code !== 0) throw new Error(`pg_ctl ${args[0]} ended with ${code}; see ${log[1]}`)
  }
  return {
    restart: () => bring('restart', '-m', 'immediate'),
    fillDisk() {
      const disk = statfsSync(folder)
      if (disk.blocks * disk.bsize > maxDiskBytes) {
        throw new Error(
          `the disk of ${folder} holds ${Math.round((disk.blocks * disk.bsize) / 1024 ** 3)} GiB; only one of at most 4 is filled. ` +
            'Put the server on a disk of its own: mount -t tmpfs -o size=1g none DIR; chmod 755 DIR; TMPDIR=DIR .ci/postgres',
        )
      }
      fill(ballast)
    },
    async freeDisk() {
      rmSync(ballast, { force: true })
      if ((await pgCtl('status')) === 0) return true
      await bring('start')
      return false
    },
  }
}

function fill(file: string): void {
  const descriptor = openSync(file, 'w')
  try {
    for (let size = 1024 ** 2; size >= 1; ) {
      try {
        writeSync(descriptor, Buffer.alloc(size))
      } catch {
        // Not even so much is left.
        size = Math.floor(size / 16)
      }
    }
  } finally {
    closeSync(descriptor)
  }
}
