import { type RawBuilder, sql } from 'kysely'
import type { Db, Transaction } from '../connect.ts'

/** What is pruned: what is poor and was not used for long. */
export interface PruningRule {
  /** Not used since then, nor recorded. */
  readonly unusedSince: Date
  readonly belowScore: number
  /** Of what stays and is as poor, that which was used less often is listed for review. */
  readonly usedFewerThan: number
  readonly agentId?: string | undefined
}

/** What is shown of an experience that is pruned, or looked at for it. */
export interface PrunableExperience {
  readonly id: string
  readonly agentId: string
  readonly situation: string
  readonly score: number
  readonly useCount: number
  readonly lastUsedAt: Date | null
  readonly createdAt: Date
}

/** How many would be pruned, and how many are for review; with the first of each, by id. */
export interface PruningPreview {
  readonly prunable: { readonly count: number; readonly items: readonly PrunableExperience[] }
  readonly review: { readonly count: number; readonly items: readonly PrunableExperience[] }
}

/** What the rule finds, in one snapshot. */
export async function previewPruning(
  db: Db,
  rule: PruningRule,
  limit: number,
): Promise<PruningPreview> {
  const isPrunable = sql<boolean>`${prunable(rule)} AND ${unneeded()}`
  const { rows } = await sql<{ is_prunable: boolean; n: number; items: readonly Listed[] | null }>`
    WITH poor AS (
      SELECT x.id, x.agent_id, x.situation, x.score, x.use_count, x.last_used_at, x.created_at,
        (${isPrunable}) AS is_prunable
      FROM experiences x
      WHERE ${poor(rule)}
    ), counted AS (
      SELECT p.*, row_number() OVER (PARTITION BY p.is_prunable ORDER BY p.id) AS place
      FROM poor p WHERE p.is_prunable OR p.use_count < ${rule.usedFewerThan}
    )
    SELECT c.is_prunable, count(*)::integer AS n,
      jsonb_agg(jsonb_build_object('id', c.id, 'agentId', c.agent_id, 'situation', left(c.situation, 200),
        'score', c.score, 'useCount', c.use_count, 'lastUsedAt', c.last_used_at, 'createdAt', c.created_at)
        ORDER BY c.id) FILTER (WHERE c.place <= ${limit}) AS items
    FROM counted c GROUP BY c.is_prunable`.execute(db)
  const of = (which: boolean) => {
    const row = rows.find(({ is_prunable }) => is_prunable === which)
    return { count: row?.n ?? 0, items: (row?.items ?? []).map(toPrunable) }
  }
  return { prunable: of(true), review: of(false) }
}

/**
 * Deletes what the rule finds: the first `limit`, by id. What is used, or begins to be needed, in that very moment stays.
 * Answers what was deleted.
 */
export async function deletePrunable(
  transaction: Transaction,
  rule: PruningRule,
  limit: number,
): Promise<readonly PrunableExperience[]> {
  const { rows: locked } = await sql<{ id: string }>`
    SELECT x.id FROM experiences x
    WHERE ${poor(rule)} AND ${prunable(rule)} AND ${unneeded()}
    ORDER BY x.id LIMIT ${limit}
    FOR UPDATE SKIP LOCKED`.execute(transaction)
  if (locked.length === 0) return []
  // Asked again once they are locked: a hold that was just being written is seen by this statement alone.
  const { rows } = await sql<Listed>`
    DELETE FROM experiences x
    WHERE x.id = ANY (${locked.map(({ id }) => id)}::text[]) AND ${poor(rule)} AND ${prunable(rule)} AND ${unneeded()}
    RETURNING x.id, x.agent_id AS "agentId", left(x.situation, 200) AS situation, x.score, x.use_count AS "useCount",
      x.last_used_at AS "lastUsedAt", x.created_at AS "createdAt"`.execute(transaction)
  return rows.map(toPrunable).sort((a, b) => (a.id < b.id ? -1 : 1))
}

function poor({ belowScore, agentId }: PruningRule): RawBuilder<boolean> {
  const ofAgent = agentId === undefined ? sql`true` : sql`x.agent_id = ${agentId}`
  return sql<boolean>`(x.score < ${belowScore} AND ${ofAgent})`
}

function prunable({ unusedSince }: PruningRule): RawBuilder<boolean> {
  return sql<boolean>`coalesce(x.last_used_at, x.created_at) < ${unusedSince}`
}

/** Nobody has said that it is needed, and of its run no escalation is open. */
function unneeded(): RawBuilder<boolean> {
  return sql<boolean>`(NOT EXISTS (
      SELECT FROM experience_holds h WHERE h.tenant_id = x.tenant_id AND h.experience_id = x.id
    ) AND NOT EXISTS (
      SELECT FROM escalations s
      WHERE s.tenant_id = x.tenant_id AND s.execution_id = x.execution_id AND s.status <> 'resolved'
    ))`
}

interface Listed extends Omit<PrunableExperience, 'lastUsedAt' | 'createdAt'> {
  readonly lastUsedAt: Date | string | null
  readonly createdAt: Date | string
}

function toPrunable({ lastUsedAt, createdAt, ...row }: Listed): PrunableExperience {
  return {
    ...row,
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
    createdAt: new Date(createdAt),
  }
}

/** Notes that a tenant was pruned, so that the chore does it again only in a week. */
export async function notePruned(
  transaction: Transaction,
  tenantId: string,
  at: Date,
): Promise<void> {
  await transaction
    .insertInto('experience_cursors')
    .values({ tenant_id: tenantId, pruned_at: at })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ pruned_at: at }))
    .execute()
}

/** Says that something needs experiences, so that they are not pruned. Those that are gone are left out. */
export async function holdExperiences(
  transaction: Transaction,
  tenantId: string,
  holderId: string,
  ids: readonly string[],
): Promise<void> {
  await sql`
    INSERT INTO experience_holds (tenant_id, experience_id, holder_id)
    SELECT ${tenantId}, x.id, ${holderId} FROM experiences x
    WHERE x.id = ANY (${ids}::text[]) ORDER BY x.id FOR KEY SHARE
    ON CONFLICT DO NOTHING`.execute(transaction)
}
