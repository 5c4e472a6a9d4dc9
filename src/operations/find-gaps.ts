import { setImmediate } from 'node:timers/promises'
import { type GapProposal, listGapProposals, listGapTickets } from '../db/queries/gaps.ts'
import { ServiceError } from '../domain/errors.ts'
import { firstId } from '../domain/ids.ts'
import { createGapClusters, type Gap } from '../learning/gap.ts'
import type { OperationContext } from './define.ts'
import { instant } from './shapes.ts'
import { embedTickets, type TicketVectors } from './ticket-vectors.ts'

const defaultPeriodMs = 30 * 24 * 60 * 60_000
/** More would take long to compare, and be more than anybody reads: the newest of them say what is missing now. */
export const maxGapTickets = 2_000
/** After so many tickets others get their turn. */
const comparedAtOnce = 50

/** Which tickets: the fields of a period. */
export const gapPeriod = {
  from: instant.optional().describe("Default: 30 days before 'to'"),
  to: instant.optional().describe('Default: now'),
}

/** The gaps of a period. */
export interface FoundGaps {
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
  readonly ticketCount: number
  /** There were more tickets than are compared, and these are the newest. */
  readonly isCut: boolean
  readonly vectors: TicketVectors
  readonly gaps: readonly (Gap & { readonly proposal: GapProposal | null })[]
}

/**
 * Puts the tickets of a period together that are about the same, with what was proposed of them before: of a gap whatever
 * was proposed of any of its tickets, of several the oldest.
 *
 * @throws ServiceError `REQUEST_INVALID` for a period that ends before it begins; `EMBEDDER_UNAVAILABLE`.
 */
export async function findGaps(
  context: OperationContext,
  operation: string,
  period: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<FoundGaps> {
  const { app, db } = context
  const to = period.to === undefined ? app.clock.now() : Date.parse(period.to)
  const from = period.from === undefined ? to - defaultPeriodMs : Date.parse(period.from)
  if (!(from < to)) {
    const problems = [{ path: 'to', message: "must be after 'from'" }]
    throw new ServiceError('REQUEST_INVALID', { operation, problems })
  }
  // Up to now is what has come just now as well.
  const before = period.to === undefined ? to + 1 : to
  const ids = { fromId: firstId('escalation', from), beforeId: firstId('escalation', before) }
  const found = await listGapTickets(db.kysely, ids, maxGapTickets + 1)
  const tickets = found.slice(0, maxGapTickets).reverse()
  const vectors = await embedTickets(context, tickets)
  const clusters = createGapClusters(vectors.of, vectors.minSimilarity)
  for (const [at, ticket] of tickets.entries()) {
    clusters.add(ticket)
    if (at % comparedAtOnce === comparedAtOnce - 1) await setImmediate()
  }
  // What was proposed of a ticket was proposed after it.
  const proposals = await listGapProposals(db.kysely, firstId('proposal', from))
  return {
    ...{ from, to, vectors },
    ticketCount: tickets.length,
    isCut: found.length > maxGapTickets,
    gaps: clusters.gaps().map((gap) => ({ ...gap, proposal: proposalOf(gap, proposals) })),
  }
}

function proposalOf(
  { tickets }: Gap,
  proposals: ReadonlyMap<string, GapProposal>,
): GapProposal | null {
  const made = tickets.flatMap(({ escalationId }) => proposals.get(escalationId) ?? [])
  return made.reduce<GapProposal | null>(
    (first, one) => (first === null || one.proposalId < first.proposalId ? one : first),
    null,
  )
}
