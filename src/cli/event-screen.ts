import type { z } from 'zod'
import type { Json } from '../domain/json.ts'
import type { auditEventOutput } from '../operations/audit-event-output.ts'
import { fields } from './table.ts'
import type { Terminal } from './terminal.ts'
import { instantText, valueLine } from './value-line.ts'

type Event = z.infer<typeof auditEventOutput>

/** Hashes and lists that prove something, and say nothing to people who look down a list. */
const notTold = [
  'procedureKey',
  'versionNumber',
  'records',
  'digests',
  'reviewId',
  'approvalDigest',
]
const longest = 120

/** Who did it, what kind of principal that is, and whether nobody has checked that it was them. */
export function actorText({ actorId, actorKind, actor }: Event): string {
  const what = [
    ...(actorKind === 'human' ? [] : [actorKind]),
    ...(actor.unauthenticated === true ? ['unauthenticated'] : []),
  ]
  return what.length === 0 ? actorId : `${actorId} (${what.join(', ')})`
}

/** What it was done to, by the name that people know where there is one. */
export function entityText({ details, entityId, entityKind }: Event): string {
  const { procedureKey, versionNumber } = details
  if (typeof procedureKey !== 'string') return entityId ?? entityKind
  return typeof versionNumber === 'number' ? `${procedureKey} v${versionNumber}` : procedureKey
}

/** The details that say something by themselves: a verdict, a reason, who approved, whose key it is. */
export function detailsText({ details }: Event): string {
  const told = Object.entries(details).filter(
    ([name, value]) => !notTold.includes(name) && isShort(value),
  )
  return told.length === 0 ? '' : valueLine(Object.fromEntries(told))
}

function isShort(value: Json): boolean {
  return value !== null && JSON.stringify(value).length <= longest
}

/** One event whole, with what it proves. */
export function eventScreen(terminal: Terminal, event: Event): string {
  const { seq, action, entityKind, entityId, beforeHash, afterHash, details, ungoverned } = event
  return [
    `${terminal.style('heading', `Event ${seq}`)}  ${action}${ungoverned ? ' (ungoverned)' : ''}`,
    fields(terminal, [
      ['Time', instantText(event.at)],
      ['Who', actorText(event)],
      ['As', valueLine(event.actor)],
      ['Door', event.origin],
      ['What', `${entityKind} ${entityId ?? ''}`.trimEnd()],
      ['Before', beforeHash],
      ['After', afterHash],
      ...Object.entries(details).map(([name, value]) => [name, valueLine(value)] as const),
      ['Hash', event.hash],
      ['Behind', event.prevHash],
    ]),
  ].join('\n')
}
