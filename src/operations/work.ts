import { setMaxListeners } from 'node:events'
import type { AppContext } from '../context.ts'
import { ServiceError } from '../domain/errors.ts'
import { lookAfterAudit } from './audit-chore.ts'
import { carryOnOne, claimWork, takeFromTheGone } from './carry-out.ts'
import type { CarriedOut } from './carry-out-schedules.ts'
import { doChores } from './chores.ts'
import { lookAfterExperiences } from './experience-chore.ts'
import { pause } from './pause.ts'
import { lookAfterRetention } from './retention-chore.ts'
import { lookAfterWebhooks } from './webhook-chore.ts'

/** How a process works on the executions that nobody has. */
export interface WorkOptions {
  /** The most executions at once, 1 to 1,000; default 16. */
  readonly concurrency?: number | undefined
  /** How often an idle worker looks for work, in milliseconds from 10; default 250. */
  readonly pollMs?: number | undefined
  /**
   * How long no new work is taken so that what may have ended two workers can be tried alone, in milliseconds: at first,
   * and at most; default 2 and 64 s.
   */
  readonly drainMs?: readonly [first: number, longest: number]
  /** Told the id of each execution that was carried on, to its end or its next wait. */
  readonly onCarriedOn?: (executionId: string) => void
  /** Told of each scheduled activation that was carried out, or refused. */
  readonly onActivation?: (carriedOut: CarriedOut) => void
}

/** A process at work. */
export interface Working {
  /**
   * Takes no more work, lets each run finish the step that it is at, and gives the runs back. Resolves when all are, at
   * the latest after `graceMs` (default 10 s): what is still going then is what a crash would leave.
   */
  stop(graceMs?: number): Promise<void>
  /** Resolves as soon as nothing is left to do, here and now. */
  untilIdle(): Promise<void>
}

/** How often chores are done, and the executions of workers that are gone looked for. */
const releaseEveryMs = 1_000
/** How many suspects are worked on, one after the other, before other work goes on. */
const suspectsAtOnce = 8
const maxConcurrency = 1_000
const defaultDrainMs = [2_000, 64_000] as const
/** After the database could not be asked, it is asked again after this long, and twice as long each time up to the other. */
const firstPauseMs = 250
const longestPauseMs = 5_000

/**
 * Works on the executions that nobody has, until it is stopped. What goes wrong is logged, and tried again.
 *
 * @throws ServiceError `REQUEST_INVALID` for a concurrency that is none.
 */
export function startWorking(
  app: AppContext,
  {
    concurrency = 16,
    pollMs = 250,
    drainMs = defaultDrainMs,
    onCarriedOn,
    onActivation,
  }: WorkOptions = {},
): Working {
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency) {
    const message = `must be a whole number from 1 to ${maxConcurrency}, found ${concurrency}`
    const problems = [{ path: 'concurrency', message }]
    throw new ServiceError('REQUEST_INVALID', { operation: 'work', problems })
  }
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  // Each run that pauses listens to it, and beyond ten Node would warn of a leak.
  setMaxListeners(0, stopping.signal)
  let becomeIdle = (): void => {}
  const idle = new Promise<void>((resolve) => {
    becomeIdle = resolve
  })

  /** Whoever listens must not be able to stop the work. */
  function tellCarriedOn(executionId: string): void {
    try {
      onCarriedOn?.(executionId)
    } catch (error) {
      app.log.warn({ err: error, executionId }, 'a listener to runs has failed')
    }
  }

  function tellActivation(carriedOut: CarriedOut): void {
    try {
      onActivation?.(carriedOut)
    } catch (error) {
      app.log.warn({ err: error, ...carriedOut }, 'a listener to activations has failed')
    }
  }

  /** Since when runs fail because the database cannot do its work, and until when none is taken up for that. */
  let awaySince: number | undefined
  let restsUntil = 0

  async function run(claim: Parameters<typeof carryOnOne>[1]): Promise<void> {
    const came = await carryOnOne(app, claim, () => stopping.signal.aborted)
    if (came === 'done') {
      awaySince = undefined
      tellCarriedOn(claim.executionId)
    } else if (came === 'away') {
      // A database may let a run be claimed and not be written: it would call its tools again and again, all in vain. The
      // longer that has lasted, the longer the next try waits.
      const now = performance.now()
      awaySince ??= now
      restsUntil = now + Math.max(pollMs, Math.min(now - awaySince, longestPauseMs))
    } else {
      // What failed is claimed again at once; a moment in between keeps it from taking all of the worker's time.
      await pause(pollMs, stopping.signal)
    }
  }

  const [firstDrainMs, longestDrainMs] = drainMs
  let thisDrainMs = firstDrainMs
  let drainsFrom = 0

  /**
   * What may have ended two workers is worked on alone, so that it can take nothing else along. Where the others do not
   * come to their end in time they go on, and the next try is given twice as long, until it must do beside them.
   */
  async function workOnSuspects(): Promise<void> {
    if (performance.now() < drainsFrom) return
    await Promise.race([Promise.allSettled(running), pause(thisDrainMs, stopping.signal)])
    if (stopping.signal.aborted) return
    if (running.size > 0 && thisDrainMs < longestDrainMs) {
      drainsFrom = performance.now() + thisDrainMs
      thisDrainMs *= 2
      return
    }
    thisDrainMs = firstDrainMs
    for (let count = 0; count < suspectsAtOnce && !stopping.signal.aborted; count++) {
      const [claim] = await claimWork(app, 1, { suspects: true })
      if (claim === undefined) return
      await run(claim)
      if (performance.now() < restsUntil) return
    }
  }

  async function loop(): Promise<void> {
    let pauseMs = firstPauseMs
    let releasedAt = Number.NEGATIVE_INFINITY
    while (!stopping.signal.aborted) {
      try {
        await pause(restsUntil - performance.now(), stopping.signal)
        if (performance.now() - releasedAt >= releaseEveryMs) {
          await doChores(app, tellActivation)
          if (await takeFromTheGone(app)) await workOnSuspects()
          releasedAt = performance.now()
        }
        const free = concurrency - running.size
        const claims = free === 0 ? [] : await claimWork(app, free)
        for (const claim of claims) {
          const one = run(claim).finally(() => running.delete(one))
          running.add(one)
        }
        pauseMs = firstPauseMs
        if (claims.length === 0 && running.size === 0) becomeIdle()
        // Where all places are taken there may be more: it is looked for as soon as one is free.
        if (running.size >= concurrency) await Promise.race(running)
        else await pause(pollMs, stopping.signal)
      } catch (error) {
        app.log.warn({ err: error, pauseMs }, 'work could not be looked for; it is tried again')
        await pause(pauseMs, stopping.signal)
        pauseMs = Math.min(2 * pauseMs, longestPauseMs)
      }
    }
  }

  const looping = loop()
  const lookingAfter = Promise.all([
    lookAfterAudit(app, stopping.signal),
    lookAfterRetention(app, stopping.signal),
    lookAfterWebhooks(app, stopping.signal),
    lookAfterExperiences(app, stopping.signal),
  ])
  return {
    async stop(graceMs = 10_000) {
      stopping.abort()
      const done = new AbortController()
      const all = looping
        .then(() => Promise.allSettled([...running, lookingAfter]))
        .then(() => done.abort())
      await Promise.race([all, pause(graceMs, done.signal)])
    },
    untilIdle: () => idle,
  }
}
