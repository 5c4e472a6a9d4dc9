import { sql } from 'kysely'
import { isReasonCode } from '../../domain/escalation.ts'
import type { Id } from '../../domain/ids.ts'
import type { GapTicket } from '../../learning/gap.ts'
import type { ProposalStatus } from '../../learning/proposal.ts'
import type { Db } from '../connect.ts'
import { vectorOf, vectorText } from './embeddings.ts'

/** A model reads no more of a text. */
const readCharacters = 8_000

/**
 * The newest tickets of a period that no playbook fitted, and those of runs that were handed over, newest first. What was
 * erased is not among them.
 */
export async function listGapTickets(
  db: Db,
  period: { readonly fromId: Id<'escalation'>; readonly beforeId: Id<'escalation'> },
  limit: number,
): Promise<readonly GapTicket[]> {
  const rows = await db
    .selectFrom('escalations as x')
    .leftJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 'x.tenant_id').onRef('e.id', '=', 'x.execution_id'),
    )
    .select(['x.id', 'x.execution_id', 'x.opened_at', 'x.reason_code'])
    .select(['e.procedure_key', 'e.version_number'])
    .select(sql<string | null>`left(x.ticket ->> 'text', ${readCharacters})`.as('text'))
    .select(sql<string | null>`x.reason ->> 'stepKey'`.as('step_key'))
    .where('x.id', '>=', period.fromId)
    .where('x.id', '<', period.beforeId)
    // A triage item of another reason had a playbook that fitted, and no gap is left by one.
    .where(sql<boolean>`(x.execution_id IS NOT NULL OR x.reason_code = 'no_procedure')`)
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT FROM erased_records r WHERE r.tenant_id = x.tenant_id AND r.execution_id = x.execution_id)`,
    )
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT FROM erased_tickets t WHERE t.tenant_id = x.tenant_id AND t.escalation_id = x.id)`,
    )
    .orderBy('x.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    escalationId: row.id,
    executionId: row.execution_id,
    // A cut may have gone through a character.
    text: row.text?.toWellFormed() ?? null,
    openedAt: row.opened_at,
    code: isReasonCode(row.reason_code) ? row.reason_code : 'internal_error',
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    stepKey: row.step_key,
  }))
}

/** Those of some tickets that have a vector of a model. */
export async function listTicketVectors(
  db: Db,
  model: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const rows = await db
    .selectFrom('ticket_embeddings')
    .select(['escalation_id', 'embedding'])
    .where('model', '=', model)
    .where(sql<boolean>`escalation_id = ANY (${ids}::text[])`)
    .execute()
  return new Map(
    rows.flatMap(({ escalation_id: id, embedding }) => {
      const vector = vectorOf(embedding)
      return vector === undefined ? [] : [[id, vector] as const]
    }),
  )
}

/** The vector of a ticket, to be kept. */
export interface TicketVector {
  readonly escalationId: string
  readonly textHash: string
  readonly vector: Float32Array
}

/** Keeps vectors of tickets; of one that was erased meanwhile nothing. */
export async function insertTicketVectors(
  db: Db,
  tenantId: string,
  model: string,
  vectors: readonly TicketVector[],
): Promise<void> {
  const ids = vectors.map(({ escalationId }) => escalationId)
  const hashes = vectors.map(({ textHash }) => textHash)
  const embeddings = vectors.map(({ vector }) => vectorText(vector))
  // The lock waits for an erasure, and then sees that there is no ticket any more.
  await sql`
    WITH kept AS (
      SELECT x.id FROM escalations x WHERE x.id = ANY (${ids}::text[]) AND x.ticket IS NOT NULL
      ORDER BY x.id FOR KEY SHARE
    )
    INSERT INTO ticket_embeddings (tenant_id, model, escalation_id, text_hash, embedding)
    SELECT ${tenantId}, ${model}, v.id, v.text_hash, v.embedding::public.vector
    FROM unnest(${ids}::text[], ${hashes}::text[], ${embeddings}::text[]) AS v (id, text_hash, embedding)
    JOIN kept USING (id)
    ON CONFLICT DO NOTHING`.execute(db)
}

/** What was proposed of a gap. */
export interface GapProposal {
  readonly proposalId: Id<'proposal'>
  readonly status: ProposalStatus
}

/** What gaps have proposed since an id, by the tickets that they had. */
export async function listGapProposals(
  db: Db,
  fromId: Id<'proposal'>,
): Promise<ReadonlyMap<string, GapProposal>> {
  const { rows } = await sql<{ id: string; status: ProposalStatus; ticket: string }>`
    SELECT p.id, p.status, t.ticket FROM proposals p
      CROSS JOIN LATERAL jsonb_array_elements_text(p.evidence -> 'ticketIds') AS t (ticket)
    WHERE p.id >= ${fromId} AND p.kind = 'gap' ORDER BY p.id DESC`.execute(db)
  // Of a ticket that is in two the older one stays.
  return new Map(
    rows.map(({ id, status, ticket }) => [ticket, { proposalId: id as Id<'proposal'>, status }]),
  )
}
