import type { Shell } from './shell.ts'

/** Tells people on standard error how far a long command is, at most once in two seconds. */
export function progress(shell: Shell): (done: string) => void {
  let toldAt = performance.now()
  return (done) => {
    if (performance.now() - toldAt < 2_000 || shell.terminal.json) return
    toldAt = performance.now()
    shell.terminal.notice(`${done} so far.`)
  }
}
