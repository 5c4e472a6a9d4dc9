import type { ReasonCode } from '../domain/escalation.ts'
import { cosine } from '../search/embedder.ts'

/** A ticket that no playbook fitted, or of a run that was handed to a person. */
export interface GapTicket {
  /** Of its triage item or escalation: in the order of time. */
  readonly escalationId: string
  readonly executionId: string | null
  /** What the customer wrote; null of a run that was started without a ticket. */
  readonly text: string | null
  readonly openedAt: Date
  readonly code: ReasonCode
  /** What ran; null where nothing did. */
  readonly procedureKey: string | null
  readonly versionNumber: number | null
  readonly stepKey: string | null
}

export const gapKinds = ['unmatched', 'escalated'] as const
/** `unmatched`: no playbook fitted. `escalated`: one ran, and handed over. */
export type GapKind = (typeof gapKinds)[number]

/** Tickets that are about the same, and of the same reason, version and step where something ran. */
export interface Gap
  extends Pick<GapTicket, 'code' | 'procedureKey' | 'versionNumber' | 'stepKey'> {
  readonly kind: GapKind
  /** Oldest first; at least one. */
  readonly tickets: readonly GapTicket[]
}

/** How tickets become gaps. They are given oldest first. */
export interface GapClusters {
  add(ticket: GapTicket): void
  /** The largest first, of equals the one with the newest ticket. */
  gaps(): readonly Gap[]
}

interface Cluster extends Omit<Gap, 'tickets'> {
  readonly tickets: GapTicket[]
  /** Of its first ticket; undefined for those that have no text. */
  readonly leader: Float32Array | undefined
}

/**
 * Leader clustering: a ticket joins the gap whose first ticket is most like it, by `minSimilarity` or more, of equals the
 * oldest; else it begins one. A mean in place of the first ticket was refused: it drifts until one gap has swallowed half
 * of all (docs/gaps.md has the figures). What ran is never mixed with what did not, nor one reason, version or step with
 * another. `vectorOf` answers undefined for a ticket without text: those of one group are one gap.
 *
 * Deterministic, for the same tickets in the same order.
 */
export function createGapClusters(
  vectorOf: (escalationId: string) => Float32Array | undefined,
  minSimilarity: number,
): GapClusters {
  const groups = new Map<string, Cluster[]>()
  return {
    add(ticket) {
      const { code, procedureKey, versionNumber, stepKey, executionId } = ticket
      const name = JSON.stringify([
        executionId !== null,
        code,
        procedureKey,
        versionNumber,
        stepKey,
      ])
      const group = groups.get(name) ?? []
      groups.set(name, group)
      const vector = vectorOf(ticket.escalationId)
      const nearest = findNearest(group, vector, minSimilarity)
      if (nearest !== undefined) {
        nearest.tickets.push(ticket)
        return
      }
      const kind = executionId === null ? 'unmatched' : 'escalated'
      group.push({
        ...{ kind, code, procedureKey, versionNumber, stepKey },
        tickets: [ticket],
        leader: vector,
      })
    },
    gaps() {
      return [...groups.values()]
        .flat()
        .map(({ leader: _leader, ...gap }): Gap => gap)
        .sort((a, b) => b.tickets.length - a.tickets.length || (newestOf(a) > newestOf(b) ? -1 : 1))
    },
  }
}

/** Of clusters that are equally near the first, which is the oldest. */
function findNearest(
  group: readonly Cluster[],
  vector: Float32Array | undefined,
  minSimilarity: number,
): Cluster | undefined {
  if (vector === undefined) return group.find(({ leader }) => leader === undefined)
  let nearest: Cluster | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const cluster of group) {
    const similarity = cluster.leader === undefined ? undefined : cosine(cluster.leader, vector)
    if (similarity === undefined || similarity < minSimilarity || similarity <= most) continue
    nearest = cluster
    most = similarity
  }
  return nearest
}

function newestOf({ tickets }: Gap): string {
  return tickets.at(-1)?.escalationId ?? ''
}
