import type { AppContext } from '../context.ts'
import { carryOnAll, takeFromTheGone } from '../operations/carry-out.ts'
import { findStanding, type Standing } from '../operations/find-standing.ts'
import type { Shell } from './shell.ts'
import { countText, instantText } from './value-line.ts'

/**
 * For a command that runs playbooks, before its own: on an embedded database, where no other process could, carries on
 * the runs that nobody has, and says so. On a server that is for its workers to do.
 */
export async function carryOnLeft(shell: Shell): Promise<void> {
  if (shell.isServed) return
  const app = await shell.app()
  if (app.database.kind === 'postgres') return
  const ids = await carryOnAll(app).catch((error: unknown) => {
    // They stay where they are for the next process; what this one was asked for does not depend on them.
    app.log.warn({ err: error }, 'what earlier processes left could not be carried on')
    return []
  })
  if (ids.length === 0) return
  const { tenantId } = shell.config
  const ends = await Promise.all(
    ids.map(async (id) => {
      const standing = await findStanding(app, tenantId, id)
      return `${id} (${standing === undefined ? 'of another tenant' : standingText(standing)})`
    }),
  )
  const were = ids.length === 1 ? 'was' : 'were'
  shell.terminal.notice(
    `${countText(ids.length, 'execution')} that nobody had ${were} carried on: ${ends.join(', ')}`,
  )
}

/**
 * Makes anybody's what workers that are gone had, and runs none of it: what is wanted of such a run can be done at once
 * then, and its screen does not say that somebody has it.
 */
export async function freeLeft(app: AppContext): Promise<void> {
  await takeFromTheGone(app).catch((error: unknown) => {
    // Any worker does the same within a second.
    app.log.warn({ err: error }, 'the runs of processes that are gone could not be released')
  })
}

/** How a run stands that this process has let go, in a few words. */
export function standingText({ status, outcome, reasonCode, wakeAt }: Standing): string {
  const reason = reasonCode === null ? '' : `: ${reasonCode}`
  const until = wakeAt === null ? '' : ` until ${instantText(wakeAt.toISOString())}`
  const texts: Readonly<Record<typeof status, string>> = {
    pending: 'not begun',
    running: 'given back for any worker',
    waiting: `waits${until}`,
    paused: 'paused',
    completed: `${outcome ?? status}${reason}`,
    escalated: `escalated${reason}`,
    cancelled: 'cancelled',
  }
  return texts[status]
}
