import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A TypeScript file that runs as a process of its own. */
export interface TestProcess {
  readonly pid: number
  /** The next line that it writes; an error with what it wrote to standard error if it ends before. */
  nextLine(): Promise<string>
  write(text: string): void
  /** Kills it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>
}

/** Starts a file of this repository, given from its root. The caller kills it, also after a failure. */
export function startProcess(file: string, ...args: readonly string[]): TestProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { stdio: 'pipe' })
  const { pid } = child
  if (pid === undefined) throw new Error(`${file} could not be started`)
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    pid,
    async nextLine() {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${file} ended: ${errors}`)
      return value
    },
    write: (text) => child.stdin.write(text),
    kill: () => killed(child),
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
