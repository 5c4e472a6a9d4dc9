import type { RunDetailOutput } from '../operations/execution-output.ts'

export type Run = RunDetailOutput
type Step = Run['steps'][number]

/** How much of a run's record a client has seen: enough to tell what is new to it, whoever tells it. */
export interface Seen {
  /** The sequence of the last step that it knows of; 0: none. */
  readonly last: number
  /** Of the steps that it has seen going, how much was said then. */
  readonly open: ReadonlyMap<number, string>
  /** The status that it was told last, and whether it has the reply; `none` at first. */
  readonly status: string
  readonly hasReply: boolean
  readonly hasEnd: boolean
}

export interface RunEvent {
  readonly name: 'step' | 'execution' | 'reply' | 'end'
  readonly data: unknown
  /** What the client has seen with this event, in the form of `Last-Event-ID`. */
  readonly id: string
  readonly after: Seen
}

const nothing: Seen = { last: 0, open: new Map(), status: 'none', hasReply: false, hasEnd: false }

/** The events that a record holds for somebody who has seen so much of it, in order. */
export function eventsSince(run: Run, from: Seen = nothing): readonly RunEvent[] {
  const events: RunEvent[] = []
  let seen = from
  const tell = (name: RunEvent['name'], data: unknown, after: Seen): void => {
    seen = after
    events.push({ name, data, id: textOf(after), after })
  }
  for (const step of run.steps) {
    const known = seen.open.get(step.sequence)
    if (step.sequence <= seen.last && (known === undefined || known === standingOf(step))) continue
    const open = new Map(seen.open)
    if (isOpen(step)) open.set(step.sequence, standingOf(step))
    else open.delete(step.sequence)
    tell('step', step, { ...seen, last: Math.max(seen.last, step.sequence), open })
  }
  const { status } = run.execution
  if (status !== seen.status) {
    tell('execution', run.execution, { ...seen, status })
  }
  if (run.reply !== null && !seen.hasReply) tell('reply', run.reply, { ...seen, hasReply: true })
  // The reply is written just after the end; one that cannot be is written by whoever comes next.
  if (hasEnded(run) && run.reply !== null && !seen.hasEnd) {
    tell('end', { executionId: run.execution.id }, { ...seen, hasEnd: true })
  }
  return events
}

/** Whether nothing more can come for somebody who has seen so much. */
export function isOver(run: Run, seen: Seen): boolean {
  return seen.hasEnd && hasEnded(run)
}

/** Reads a `Last-Event-ID`; undefined for none, and for one that is not ours: then all is told again. */
export function readSeen(text: string | readonly string[] | undefined): Seen | undefined {
  const found = /^(\d{1,9})((?:\.\d{1,9}-[a-z]+-\d{1,9}-\d{1,9}){0,200})~([a-z]+)~(r?)(e?)$/.exec(
    String(text),
  )
  if (found === null) return undefined
  const [, last = '', open = '', status = '', reply, end] = found
  const entries = open.split('.').flatMap((part) => {
    const [sequence, ...standing] = part.split('-')
    return standing.length === 0 ? [] : [[Number(sequence), standing.join('-')] as const]
  })
  return {
    last: Number(last),
    open: new Map(entries),
    status,
    hasReply: reply === 'r',
    hasEnd: end === 'e',
  }
}

function textOf({ last, open, status, hasReply, hasEnd }: Seen): string {
  const parts = [...open].map(([sequence, standing]) => `.${sequence}-${standing}`)
  return `${last}${parts.join('')}~${status}~${hasReply ? 'r' : ''}${hasEnd ? 'e' : ''}`
}

/** What changes of a step that goes on: its status, its attempts, and what was said. */
function standingOf({ status, attempts, exchange }: Step): string {
  return `${status}-${attempts}-${exchange.length}`
}

function isOpen({ status }: Step): boolean {
  return status === 'running' || status === 'waiting' || status === 'pending'
}

function hasEnded({ execution }: Run): boolean {
  return execution.endedAt !== null
}
