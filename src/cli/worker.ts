import type { AppContext } from '../context.ts'
import { findStanding, listOwn } from '../operations/find-standing.ts'
import { startWorking } from '../operations/work.ts'
import type { Command } from './command.ts'
import { examinePlaybooks } from './doctor.ts'
import { standingText } from './left-runs.ts'
import { metricsOption, openMetrics } from './metrics-port.ts'
import { localPerson, type Shell } from './shell.ts'
import { countText } from './value-line.ts'
import { settledWithin } from './within.ts'

/** How long a worker that ends waits to hear what it leaves: a database that is locked may never say. */
const lookWithinMs = 500

export const worker: Command = {
  path: 'worker',
  summary: 'Work on the runs that nobody has, until it is stopped',
  options: [
    { usage: '--concurrency <N>', text: 'how many runs at once, from 1 (default 16)' },
    metricsOption,
    {
      usage: '--until-idle',
      text: 'end as soon as it has no run and finds none to take; runs that are paused, wait for a later moment, or are with other workers do not count',
    },
  ],
  notes: `It takes what was started with --detach, what a timer has woken, and what processes that are gone have left, and says
of each run how it ended, or until when it waits. Any number of workers may share a PostgreSQL server.

Ctrl-C or SIGTERM lets each run finish the step that it is at, for up to ten seconds, and gives the runs back for others;
the process ends within three seconds more, says what it left in the middle of a step, and exits with 0. A second one ends
it at once (exit code 130), and loses nothing either. Tools are loaded at the start: restart workers to change them.`,
  async run(shell, given) {
    const { terminal } = shell
    // From the beginning: a database that does not answer may take long to be opened.
    const interrupted = shell.untilInterrupted()
    await shell.measure(given.port('metrics-port'))
    const app = await Promise.race([shell.bareApp(), interrupted])
    if (app === undefined) {
      const output = { workerId: null, carriedOn: 0, left: [] }
      return { output, screen: 'Stopped before it was at work.' }
    }
    // One with the wrong tools would hand every run of the queue to a person.
    // No key of anybody is needed for that, nor for the work: runs go on as those who have started them.
    const { status, text } = await examinePlaybooks(app, localPerson(shell.config.tenantId))
    if (status === 'fail') terminal.notice(`Look out: ${text}.`)
    await using _metrics = await openMetrics(shell)
    let carriedOn = 0
    const telling = new Set<Promise<void>>()
    const working = startWorking(app, {
      concurrency: given.number('concurrency'),
      onCarriedOn(executionId) {
        carriedOn += 1
        const told = tell(shell, app, executionId).finally(() => telling.delete(told))
        telling.add(told)
      },
      onActivation({ scheduleId, procedureKey, versionNumber, end }) {
        const how =
          end.status === 'refused' ? `is refused: ${end.problem.message}` : 'serves from now on'
        terminal.notice(`${scheduleId}  version ${versionNumber} of ${procedureKey} ${how}`)
      },
    })
    terminal.notice(`${app.worker.id} is at work. Ctrl-C stops it.`)
    await Promise.race([interrupted, ...(given.has('until-idle') ? [working.untilIdle()] : [])])
    await working.stop()
    const left = await settledWithin(
      lookWithinMs,
      Promise.all(telling).then(() => listOwn(app)),
    )
    return {
      output: { workerId: app.worker.id, carriedOn, left: left ?? null },
      screen: [
        `Stopped. ${countText(carriedOn, 'run')} carried on, each to its end or its next wait, or given back.`,
        ...leftLines(left),
      ].join('\n'),
    }
  },
}

/** Says how a run stands that was carried on. */
async function tell(shell: Shell, app: AppContext, executionId: string): Promise<void> {
  const { terminal, config } = shell
  try {
    const standing = await findStanding(app, config.tenantId, executionId)
    const how =
      standing === undefined
        ? 'of another tenant'
        : `${standing.procedureKey}  ${standingText(standing)}`
    terminal.notice(`${executionId}  ${how}`)
  } catch (error) {
    // The run is as it is in the record, whether or not this line can say so.
    app.log.warn({ err: error, executionId }, 'how a run ended could not be looked up')
    terminal.notice(`${executionId}  carried on`)
  }
}

function leftLines(left: readonly string[] | undefined): readonly string[] {
  if (left === undefined) {
    return [
      'The database does not say in time whether a run was left in the middle of a step; another worker finds it.',
    ]
  }
  if (left.length === 0) return []
  return [`Left in the middle of a step, for another worker to take over: ${left.join(', ')}.`]
}
