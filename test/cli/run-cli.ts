import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const entry = fileURLToPath(new URL('../../bin/stepwarden.js', import.meta.url))

/** The command as the package has it, where it was built for the tests: `npm test` does. */
const builtEntry = process.env.STEPWARDEN_TEST_BUILT

/** What a process left behind. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The data folder; default one that no command makes. */
  readonly dataDir?: string
  /** What is typed into it. */
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A process that goes on, and what it has written so far. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves as soon as standard output holds a text; fails when the process ends without. */
  readonly shows: (text: string) => Promise<void>
  /** The same for standard error. */
  readonly says: (text: string) => Promise<void>
}

/** Runs a command line of its own process to its end. */
export async function runCli(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { child, ended } = startCli(words, options)
  child.stdin?.end(options.input ?? '')
  return ended
}

/** Starts a command line in a process of its own; what is typed into it is the caller's to send. */
export function startCli(words: readonly string[], options: RunOptions = {}): Running {
  const { DATABASE_URL: _url, STEPWARDEN_CONFIG: _config, ...inherited } = process.env
  // Compiled it starts in half the time; tools of a test are TypeScript, which only the sources can load.
  const needsSources = options.environment?.STEPWARDEN_CONFIG !== undefined
  const child = spawn(process.execPath, [(!needsSources && builtEntry) || entry, ...words], {
    env: {
      ...inherited,
      // Reviews have tests of their own.
      STEPWARDEN_REQUIRED_APPROVALS: '0',
      STEPWARDEN_DATA_DIR: options.dataDir ?? join(tmpdir(), 'stepwarden-no-such-folder'),
      ...options.environment,
    },
  })
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
  const untilIn = (stream: Readable, written: () => string) => (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (written().includes(text)) resolve()
      }
      stream.on('data', look)
      child.on('close', () => reject(new Error(`it ended without '${text}': ${stdout}${stderr}`)))
      look()
    })
  const shows = untilIn(child.stdout, () => stdout)
  const says = untilIn(child.stderr, () => stderr)
  return { child, ended, shows, says }
}

/** The JSON values that a session printed, one below the other. */
export function jsonValues(stdout: string): readonly unknown[] {
  return [...stdout.matchAll(/^[[{][\s\S]*?^[\]}]$/gm)].map(([text]) => JSON.parse(text))
}

/** A folder for one test file, removed after its last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stepwarden-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
