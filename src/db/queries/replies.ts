import { canonicalJson } from '../../domain/canonical.ts'
import type { Id } from '../../domain/ids.ts'
import type { Json } from '../../domain/json.ts'
import type { Db } from '../connect.ts'

/** What was sent to the customer at the end of a run, and what it rests on. */
export interface StoredReply {
  readonly text: string
  readonly source: 'built_in' | 'model'
  readonly facts: Json
  readonly verification: Json
}

/** Stores the reply of an execution unless it has one: the first stands. Answers the one that stands. */
export async function insertReply(
  db: Db,
  reply: StoredReply & {
    readonly tenantId: string
    readonly executionId: Id<'execution'>
    readonly at: Date
  },
): Promise<void> {
  await db
    .insertInto('replies')
    .values({
      tenant_id: reply.tenantId,
      execution_id: reply.executionId,
      text: reply.text,
      source: reply.source,
      facts: canonicalJson(reply.facts),
      verification: canonicalJson(reply.verification),
      created_at: reply.at,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'execution_id']).doNothing())
    .execute()
}

export async function findReply(
  db: Db,
  executionId: Id<'execution'>,
): Promise<StoredReply | undefined> {
  return db
    .selectFrom('replies')
    .select(['text', 'source', 'facts', 'verification'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst()
}
