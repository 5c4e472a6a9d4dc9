import { sha256 } from './canonical.ts'

/**
 * One event of a tenant's audit chain, as it is stored and exported. `actor` and `details` are the canonical JSON
 * text itself, not a value, because the hash is taken over their bytes.
 */
export interface AuditEvent {
  readonly tenantId: string
  /** From 1, without gaps. */
  readonly seq: number
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly actorId: string
  readonly actorKind: string
  readonly actor: string
  readonly action: string
  readonly entityKind: string
  readonly entityId: string | null
  readonly beforeHash: string | null
  readonly afterHash: string | null
  readonly details: string
  readonly origin: string | null
  readonly ungoverned: boolean
  readonly hashVersion: number
  /** The hash of the event before it; null for the first. */
  readonly prevHash: string | null
  readonly hash: string
}

/** The end of a chain: the last event's number and hash; 0 and null before the first event. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string | null
}

/** The chain is whole from its first event to `head`, or the first place where it is not. */
export type ChainVerdict =
  | { readonly ok: true; readonly head: AuditHead }
  | {
      readonly ok: false
      readonly seq: number
      /** Undefined where an event is missing. */
      readonly id: string | undefined
      /** One sentence for people. */
      readonly problem: string
    }

/**
 * The hash of an event, in lower-case hex: SHA-256 over all its columns but the hash itself, each as a netstring, in
 * the order written here, for ever (hash version 1, docs/decisions/0002-rows.md). The database computes the same.
 */
export function auditHash(event: Omit<AuditEvent, 'hash'>): string {
  return sha256(
    [
      String(event.hashVersion),
      event.tenantId,
      String(event.seq),
      event.id,
      new Date(event.at).toISOString(),
      event.actorId,
      event.actorKind,
      event.actor,
      event.action,
      event.entityKind,
      event.entityId,
      event.beforeHash,
      event.afterHash,
      event.details,
      event.origin,
      String(event.ungoverned),
      event.prevHash,
    ]
      .map(netstring)
      .join(''),
  )
}

/**
 * Why an event cannot follow `head`, as one sentence, or undefined if it does. Events can so be verified one by one,
 * in constant memory.
 */
export function findBrokenLink(head: AuditHead, event: AuditEvent): string | undefined {
  if (event.seq !== head.seq + 1) {
    return `Event ${event.seq} follows event ${head.seq}: an event is missing or out of its place.`
  }
  if (event.prevHash !== head.hash) {
    return `Event ${event.seq} does not hold the hash of the event before it: one of the two was replaced.`
  }
  if (event.hashVersion !== 1) {
    return `Event ${event.seq} has hash version ${event.hashVersion}, which this code does not know.`
  }
  if (auditHash(event) !== event.hash) {
    return `Event ${event.seq} does not have the hash of its content: it was changed after it was written.`
  }
  return undefined
}

/**
 * Verifies one tenant's chain from its first event on. `events` come in the order of `seq`. With `head`, the end that
 * the chain must have (the stored head, or a checkpoint), a tail that was cut off shows as well.
 */
export function verifyChain(events: Iterable<AuditEvent>, head?: AuditHead): ChainVerdict {
  let last: AuditHead = { seq: 0, hash: null }
  for (const event of events) {
    const problem = findBrokenLink(last, event)
    if (problem !== undefined) return { ok: false, seq: event.seq, id: event.id, problem }
    last = event
  }
  if (head !== undefined && (head.seq !== last.seq || head.hash !== last.hash)) {
    return {
      ok: false,
      seq: Math.min(last.seq, head.seq) + 1,
      id: undefined,
      problem: `The chain ends at event ${last.seq}, but its head is event ${head.seq}: events were cut off or added.`,
    }
  }
  return { ok: true, head: { seq: last.seq, hash: last.hash } }
}

/** `<count of UTF-8 bytes>:<text>,` so that no two lists of columns give the same bytes; `~` for null. */
function netstring(value: string | null): string {
  return value === null ? '~' : `${Buffer.byteLength(value)}:${value},`
}
