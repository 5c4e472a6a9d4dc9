import { type Selectable, sql } from 'kysely'
import { canonicalJson, storedValue } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json, JsonObject } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type {
  Proposal,
  ProposalActor,
  ProposalEvidence,
  ProposalKind,
  ProposalStatus,
} from '../../learning/proposal.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ProposalsTable } from '../rows/proposals.ts'

/** What is proposed. */
export type NewProposal = Pick<
  Proposal,
  'id' | 'kind' | 'procedureKey' | 'baseVersionId' | 'evidence' | 'evidenceHash' | 'createdAt'
> & { readonly definition: JsonObject; readonly createdBy: Principal }

/** Stores a proposal; false where the same evidence has proposed before, whatever became of it. */
export async function insertProposal(
  transaction: Transaction,
  tenantId: string,
  proposal: NewProposal,
): Promise<boolean> {
  const row = await transaction
    .insertInto('proposals')
    .values({
      tenant_id: tenantId,
      id: proposal.id,
      kind: proposal.kind,
      procedure_key: proposal.procedureKey,
      definition: canonicalJson(proposal.definition),
      base_version_id: proposal.baseVersionId,
      evidence: canonicalJson(proposal.evidence),
      evidence_hash: proposal.evidenceHash,
      created_by: actorColumn(proposal.createdBy),
      created_at: proposal.createdAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'evidence_hash']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function findProposal(db: Db, id: Id<'proposal'>): Promise<Proposal | undefined> {
  const row = await db.selectFrom('proposals').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toProposal(row)
}

/** What the same evidence has proposed before. */
export async function findProposalByEvidence(
  db: Db,
  evidenceHash: string,
): Promise<Pick<Proposal, 'id' | 'status'> | undefined> {
  const row = await db
    .selectFrom('proposals')
    .select(['id', 'status'])
    .where('evidence_hash', '=', evidenceHash)
    .executeTakeFirst()
  return row && { id: row.id as Id<'proposal'>, status: row.status }
}

/** Which proposals. What is left out says nothing. */
export interface ProposalFilter {
  readonly status?: ProposalStatus | undefined
  readonly kind?: ProposalKind | undefined
  readonly procedureKey?: string | undefined
}

/** A page of proposals, newest first. */
export async function listProposals(
  db: Db,
  filter: ProposalFilter & { readonly before?: string | undefined; readonly limit: number },
): Promise<readonly Proposal[]> {
  let query = db.selectFrom('proposals').selectAll()
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind)
  if (filter.procedureKey !== undefined) {
    query = query.where('procedure_key', '=', filter.procedureKey)
  }
  if (filter.before !== undefined) query = query.where('id', '<', filter.before)
  const rows = await query.orderBy('id', 'desc').limit(filter.limit).execute()
  return rows.map(toProposal)
}

/** What became of a proposal. */
export type Decision = { readonly by: Principal; readonly at: Date } & (
  | { readonly status: 'accepted'; readonly versionId: Id<'version'> }
  | { readonly status: 'dismissed'; readonly reason: string }
)

/** Decides a proposal that is open; false when it cannot be any more. Whoever else decides it waits until the transaction ends. */
export async function updateDecided(
  transaction: Transaction,
  id: Id<'proposal'>,
  { by, at, ...decision }: Decision,
): Promise<boolean> {
  const row = await transaction
    .updateTable('proposals')
    .set({
      status: decision.status,
      decided_by: actorColumn(by),
      decided_at: at,
      ...(decision.status === 'accepted'
        ? { version_id: decision.versionId }
        : { reason: decision.reason }),
    })
    .where('id', '=', id)
    .where('status', '=', 'open')
    // What is erased can still be dismissed.
    .$if(decision.status === 'accepted', (query) => query.where('erased_at', 'is', null))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** What something was learned from: ids. */
export interface Sources {
  readonly experienceIds: readonly string[]
  readonly executionIds: readonly string[]
  readonly ticketIds: readonly string[]
}

/**
 * Keeps what something was learned from as it is until the transaction ends, in the order in which an erasure locks, and
 * answers the ids of what is gone: deleted, or erased.
 */
export async function keepSources(
  transaction: Transaction,
  { experienceIds, executionIds, ticketIds }: Sources,
): Promise<readonly string[]> {
  const runs = await sql<{ id: string }>`
    SELECT e.id FROM executions e WHERE e.id = ANY (${executionIds}::text[])
    ORDER BY e.id FOR KEY SHARE`.execute(transaction)
  const tickets = await sql<{ id: string }>`
    SELECT x.id FROM escalations x WHERE x.id = ANY (${ticketIds}::text[])
    ORDER BY x.id FOR KEY SHARE`.execute(transaction)
  const experiences = await sql<{ id: string }>`
    SELECT x.id FROM experiences x WHERE x.id = ANY (${experienceIds}::text[])
    ORDER BY x.id FOR KEY SHARE`.execute(transaction)
  const erased = await sql<{ id: string }>`
    SELECT r.execution_id AS id FROM erased_records r WHERE r.execution_id = ANY (${executionIds}::text[])
    UNION ALL
    SELECT t.escalation_id FROM erased_tickets t WHERE t.escalation_id = ANY (${ticketIds}::text[])`.execute(
    transaction,
  )
  const kept = new Set([...runs.rows, ...tickets.rows, ...experiences.rows].map(({ id }) => id))
  for (const { id } of erased.rows) kept.delete(id)
  return [...executionIds, ...ticketIds, ...experienceIds].filter((id) => !kept.has(id))
}

/** Notes whose words a proposal may hold, for erasures. `customerId` is whom it is about besides. */
export async function insertProposalSources(
  transaction: Transaction,
  tenantId: string,
  id: Id<'proposal'>,
  sources: Sources,
  customerId: string | undefined,
): Promise<void> {
  await sql`
    INSERT INTO proposal_sources (tenant_id, proposal_id, source_id, customer_id)
    SELECT ${tenantId}, ${id}, s.source_id, min(s.customer_id) FROM (
      SELECT x.id AS source_id, x.customer_id FROM experiences x
        WHERE x.id = ANY (${sources.experienceIds}::text[])
      UNION ALL
      SELECT x.execution_id, x.customer_id FROM experiences x
        WHERE x.id = ANY (${sources.experienceIds}::text[]) AND x.execution_id IS NOT NULL
      UNION ALL
      SELECT e.id, e.customer_id FROM executions e WHERE e.id = ANY (${sources.executionIds}::text[])
      UNION ALL
      SELECT x.id, coalesce(g.customer_id, e.customer_id) FROM escalations x
        LEFT JOIN coverage_gaps g ON g.tenant_id = x.tenant_id AND g.escalation_id = x.id
        LEFT JOIN executions e ON e.tenant_id = x.tenant_id AND e.id = x.execution_id
        WHERE x.id = ANY (${sources.ticketIds}::text[])
      UNION ALL
      SELECT ${id}, ${customerId ?? null} WHERE ${customerId ?? null}::text IS NOT NULL
    ) s GROUP BY s.source_id`.execute(transaction)
}

/** Nothing that a proposal held is needed by it any more. */
export async function deleteHolds(transaction: Transaction, holderId: string): Promise<void> {
  await transaction.deleteFrom('experience_holds').where('holder_id', '=', holderId).execute()
}

function actorColumn({ tenantId: _tenant, ...actor }: Principal): string {
  return canonicalJson(actor)
}

// The JSON columns are written only by this service, from values of the types that they are read as.
function toProposal(row: Selectable<ProposalsTable>): Proposal {
  return {
    id: row.id as Id<'proposal'>,
    kind: row.kind,
    status: row.status,
    procedureKey: row.procedure_key,
    definition: row.definition === null ? null : (storedValue(row.definition) as JsonObject),
    baseVersionId: row.base_version_id as Id<'version'> | null,
    evidence: toEvidence(row.evidence),
    evidenceHash: row.evidence_hash,
    createdBy: row.created_by as unknown as ProposalActor,
    createdAt: row.created_at,
    decidedBy: row.decided_by as unknown as ProposalActor | null,
    decidedAt: row.decided_at,
    reason: row.reason,
    versionId: row.version_id as Id<'version'> | null,
    erasedAt: row.erased_at,
  }
}

/** An erased one has lost its words, and with them these lists. */
function toEvidence(stored: Json): ProposalEvidence {
  const evidence = storedValue(stored) as unknown as ProposalEvidence
  return { ...evidence, parameters: evidence.parameters ?? [], guards: evidence.guards ?? [] }
}
