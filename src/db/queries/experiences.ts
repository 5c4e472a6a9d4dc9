import { type Selectable, sql } from 'kysely'
import { canonicalJson, storedValue } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { Principal } from '../../domain/principal.ts'
import type {
  ActionStep,
  Experience,
  ExperienceHashes,
  OutcomeType,
} from '../../learning/experience.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ExperiencesTable } from '../rows/experiences.ts'

/** What is recorded. */
export interface NewExperience
  extends ExperienceHashes,
    Omit<Experience, 'useCount' | 'lastUsedAt' | 'repeatCount' | 'repeatsId'> {
  readonly recordedBy: Principal
}

/**
 * Records what an agent has experienced, and answers its id. What is there already is only counted, and keeps its score:
 * its id is answered then.
 */
export async function upsertExperience(
  db: Db,
  tenantId: string,
  experience: NewExperience,
): Promise<Id<'experience'>> {
  const row = await db
    .insertInto('experiences')
    .values(toRow(tenantId, experience))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'agent_id', 'situation_hash', 'action_hash', 'outcome_type'])
        .where('execution_id', 'is', null)
        .doUpdateSet({ repeat_count: sql`experiences.repeat_count + 1` }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id as Id<'experience'>
}

/** Records what runs have experienced; one that is there already stays as it is. Answers the ids of the new ones. */
export async function insertRunExperiences(
  transaction: Transaction,
  tenantId: string,
  experiences: readonly NewExperience[],
): Promise<readonly Id<'experience'>[]> {
  if (experiences.length === 0) return []
  const rows = await transaction
    .insertInto('experiences')
    .values(experiences.map((one) => toRow(tenantId, one)))
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'execution_id'])
        .where('execution_id', 'is not', null)
        .doNothing(),
    )
    .returning('id')
    .execute()
  return rows.map(({ id }) => id as Id<'experience'>)
}

function toRow(tenantId: string, experience: NewExperience) {
  const { tenantId: _tenant, ...recordedBy } = experience.recordedBy
  return {
    tenant_id: tenantId,
    id: experience.id,
    agent_id: experience.agentId,
    situation: experience.situation,
    situation_hash: experience.situationHash,
    action_sequence: canonicalJson(experience.actionSequence),
    action_hash: experience.actionHash,
    approach_hash: experience.approachHash,
    outcome: experience.outcome,
    outcome_type: experience.outcomeType,
    score: experience.score,
    scored_by: experience.scoredBy,
    tags: [...experience.tags],
    session_id: experience.sessionId,
    customer_id: experience.customerId,
    execution_id: experience.executionId,
    recorded_by: canonicalJson(recordedBy),
    created_at: experience.createdAt,
  }
}

export async function findExperience(
  db: Db,
  id: Id<'experience'>,
): Promise<Experience | undefined> {
  const [found] = await listExperiencesByIds(db, [id])
  return found
}

/** Those of some ids that are there, by id. */
export async function listExperiencesByIds(
  db: Db,
  ids: readonly string[],
): Promise<readonly Experience[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('experiences')
    .selectAll()
    .where(sql<boolean>`id = ANY (${ids})`)
    .orderBy('id')
    .execute()
  return rows.map(toExperience)
}

/** Which experiences. What is left out says nothing. */
export interface ExperienceFilter {
  /** Any of these. */
  readonly agentIds?: readonly string[] | undefined
  readonly outcomeType?: OutcomeType | undefined
  /** All of these. */
  readonly tags?: readonly string[] | undefined
  readonly sessionId?: string | undefined
  readonly executionId?: string | undefined
}

/** A page of experiences, newest first. */
export async function listExperiences(
  db: Db,
  filter: ExperienceFilter & { readonly before?: string | undefined; readonly limit: number },
): Promise<readonly Experience[]> {
  let query = db.selectFrom('experiences').selectAll()
  const { agentIds, outcomeType, tags, sessionId, executionId, before } = filter
  if (agentIds !== undefined) query = query.where(sql<boolean>`agent_id = ANY (${agentIds})`)
  if (outcomeType !== undefined) query = query.where('outcome_type', '=', outcomeType)
  if (tags !== undefined && tags.length > 0) {
    query = query.where(sql<boolean>`tags @> ${tags}::text[]`)
  }
  if (sessionId !== undefined) query = query.where('session_id', '=', sessionId)
  if (executionId !== undefined) query = query.where('execution_id', '=', executionId)
  if (before !== undefined) query = query.where('id', '<', before)
  const rows = await query.orderBy('id', 'desc').limit(filter.limit).execute()
  return rows.map(toExperience)
}

/** Counts that experiences were shown, each so many times. One that is gone meanwhile is left out. */
export async function addUses(db: Db, uses: ReadonlyMap<string, number>, at: Date): Promise<void> {
  // In the order of ids, so that two that count the same ones never wait for each other in a circle.
  const ids = [...uses.keys()].sort()
  const counts = ids.map((id) => uses.get(id) ?? 0)
  await sql`
    WITH used AS MATERIALIZED (
      SELECT x.tenant_id, x.id, u.count
      FROM unnest(${ids}::text[], ${counts}::integer[]) AS u (id, count)
      JOIN experiences x ON x.id = u.id COLLATE "C"
      ORDER BY x.id
      FOR NO KEY UPDATE OF x
    )
    UPDATE experiences x
    SET use_count = x.use_count + u.count, last_used_at = greatest(x.last_used_at, ${at})
    FROM used u WHERE x.tenant_id = u.tenant_id AND x.id = u.id`.execute(db)
}

// The JSON column is written only by this service, from values of the type that it is read as.
function toExperience(row: Selectable<ExperiencesTable>): Experience {
  return {
    id: row.id as Id<'experience'>,
    agentId: row.agent_id,
    situation: row.situation,
    actionSequence: storedValue(row.action_sequence as Json) as unknown as readonly ActionStep[],
    outcome: row.outcome,
    outcomeType: row.outcome_type,
    score: row.score,
    scoredBy: row.scored_by,
    tags: row.tags,
    sessionId: row.session_id,
    customerId: row.customer_id,
    executionId: row.execution_id as Id<'execution'> | null,
    useCount: row.use_count,
    lastUsedAt: row.last_used_at,
    repeatCount: row.repeat_count,
    repeatsId: row.repeats_id as Id<'experience'> | null,
    createdAt: row.created_at,
  }
}
