import { startWorking } from '../operations/work.ts'
import type { Command } from './command.ts'
import { countText } from './value-line.ts'

export const worker: Command = {
  path: 'worker',
  summary: 'Work on the runs that nobody has, until it is stopped',
  options: [
    { usage: '--concurrency <N>', text: 'how many runs at once, from 1 (default 16)' },
    { usage: '--until-idle', text: 'end as soon as there is nothing left to do' },
  ],
  notes: `It takes what was started with --detach, what a timer has woken, and what processes that are gone have left.
Any number of workers may share a PostgreSQL server. Ctrl-C or SIGTERM lets each run finish the step that it is at, gives
the runs back for others, and ends within ten seconds; a second one ends it at once, and loses nothing either.`,
  async run(shell, given) {
    const { terminal } = shell
    const app = await shell.bareApp()
    let carriedOn = 0
    const working = startWorking(app, {
      concurrency: given.number('concurrency'),
      onCarriedOn(executionId) {
        carriedOn += 1
        terminal.notice(`carried on ${executionId}`)
      },
    })
    terminal.notice(`${app.worker.id} is at work. Ctrl-C stops it.`)
    await Promise.race([
      shell.untilInterrupted(),
      ...(given.has('until-idle') ? [working.untilIdle()] : []),
    ])
    await working.stop()
    return {
      output: { workerId: app.worker.id, carriedOn },
      screen: `Stopped. ${countText(carriedOn, 'run')} carried on, each to its end or its next wait.`,
    }
  },
}
