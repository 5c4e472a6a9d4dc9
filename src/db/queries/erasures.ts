import { sql } from 'kysely'
import { canonicalJson } from '../../domain/canonical.ts'
import { customerDigest } from '../../domain/erasure.ts'
import { type Id, lowestId, newId } from '../../domain/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Database, Db, Transaction } from '../connect.ts'

/** What is erased: all of a customer, or what ended before an instant. */
export type ErasureSubject = { readonly customerId: string } | { readonly endedBefore: Date }

/** An erasure that has not come to its end: one batch after the other is erased under its name. */
export interface RunningErasure {
  readonly id: Id<'erasure'>
  /** 64 hex digits; null for a retention. */
  readonly customerSalt: string | null
  readonly runCount: number
  readonly ticketCount: number
}

/** A running erasure of this customer: one that was cut off. */
export async function findErasureOf(
  db: Db,
  customerId: string,
): Promise<RunningErasure | undefined> {
  const rows = await running(db).where('kind', '=', 'customer').orderBy('id').execute()
  // Whose data it is stands only in the digest, and there are few that run.
  const row = rows.find(
    ({ customer_salt: salt, customer_digest: digest }) =>
      salt !== null && customerDigest(salt, customerId) === digest,
  )
  return row && toRunning(row)
}

/** The running retention of the tenant. */
export async function findRetention(db: Db): Promise<RunningErasure | undefined> {
  const row = await running(db).where('kind', '=', 'retention').executeTakeFirst()
  return row && toRunning(row)
}

/** Holds a running erasure until the transaction ends; undefined when it is over, or held by another. */
export async function lockErasure(
  transaction: Transaction,
  id: Id<'erasure'>,
  { isWaiting }: { readonly isWaiting: boolean },
): Promise<RunningErasure | undefined> {
  const one = running(transaction).where('id', '=', id).forUpdate()
  const row = await (isWaiting ? one : one.skipLocked()).executeTakeFirst()
  return row && toRunning(row)
}

function running(db: Db) {
  return db
    .selectFrom('erasures')
    .select(['id', 'customer_salt', 'customer_digest', 'run_count', 'ticket_count'])
    .where('ended_at', 'is', null)
}

function toRunning(row: {
  readonly id: string
  readonly customer_salt: string | null
  readonly run_count: number
  readonly ticket_count: number
}): RunningErasure {
  return {
    id: row.id as Id<'erasure'>,
    customerSalt: row.customer_salt,
    runCount: row.run_count,
    ticketCount: row.ticket_count,
  }
}

/** Begins an erasure. Of a retention that runs already, nothing is inserted. */
export async function insertErasure(
  db: Db,
  erasure: {
    readonly principal: Principal
    readonly reason: string
    readonly at: number
    /** Of a customer: its id with a new salt. */
    readonly customer?: { readonly id: string; readonly salt: string }
  },
): Promise<Id<'erasure'>> {
  const { principal, reason, at, customer } = erasure
  const id = newId('erasure', at)
  await db
    .insertInto('erasures')
    .values({
      tenant_id: principal.tenantId,
      id,
      kind: customer === undefined ? 'retention' : 'customer',
      reason,
      customer_digest: customer === undefined ? null : customerDigest(customer.salt, customer.id),
      customer_salt: customer?.salt ?? null,
      started_by: canonicalJson(principal),
      started_at: new Date(at),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return id
}

/** Runs to erase behind an id, by id: all of them have ended, and so have the runs that called them. */
export async function listErasableRuns(
  db: Db,
  subject: ErasureSubject,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await runsOf(db, subject)
    .select('e.id')
    .where('e.id', '>', page.after)
    .orderBy('e.id')
    .limit(page.limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Tickets to erase that no playbook fitted, by the id of their triage item. */
export async function listErasableTickets(
  db: Db,
  subject: ErasureSubject,
  limit: number,
): Promise<readonly string[]> {
  const rows = await ticketsOf(db, subject).select('x.id').orderBy('x.id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

/** Whether there are counters of customers whose window was over before an instant. */
export async function hasOldCounters(db: Db, before: Date): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT FROM limit_counters
      WHERE scope = 'customer' AND starts_at + ('1 ' || period)::interval < ${before}
    ) AS found`.execute(db)
  return rows[0]?.found ?? false
}

/** Whether counters of limits count something for a customer. */
export async function hasCounters(db: Db, customerId: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT FROM limit_counters WHERE scope = 'customer' AND subject = ${customerId}
    ) AS found`.execute(db)
  return rows[0]?.found ?? false
}

/** How often evidence or records were taken away, as the log knows. It looks at all events. */
export async function countTakenAway(db: Db): Promise<number> {
  const { n } = await db
    .selectFrom('audit_events')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('action', 'in', ['audit.exported', 'execution.bundled'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Experiences of no run that name the customer, or are as old: those of runs go with these. */
export async function countExperiencesOf(db: Db, subject: ErasureSubject): Promise<number> {
  const own = db.selectFrom('experiences').where('execution_id', 'is', null)
  const some =
    'customerId' in subject
      ? own.where('customer_id', '=', subject.customerId)
      : own.where('created_at', '<', subject.endedBefore)
  const { n } = await some
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Whether proposals have words of the customer, or are as old. */
export async function hasProposalsOf(db: Db, subject: ErasureSubject): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    SELECT ${
      'customerId' in subject
        ? sql`EXISTS (SELECT FROM proposal_sources WHERE customer_id = ${subject.customerId})`
        : sql`EXISTS (SELECT FROM proposals WHERE erased_at IS NULL AND created_at < ${subject.endedBefore})`
    } AS found`.execute(db)
  return rows[0]?.found ?? false
}

/** How many runs, tickets and experiences that name the customer an erasure would erase. It looks at all runs. */
export async function countErasable(
  db: Db,
  subject: ErasureSubject,
): Promise<{ readonly runs: number; readonly tickets: number; readonly experiences: number }> {
  const runs = await runsOf(db, subject)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const tickets = await ticketsOf(db, subject)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return {
    runs: Number(runs.n),
    tickets: Number(tickets.n),
    experiences: await countExperiencesOf(db, subject),
  }
}

function runsOf(db: Db, subject: ErasureSubject) {
  const ended = db.selectFrom('executions as e').where('e.ended_at', 'is not', null)
  if ('customerId' in subject) return ended.where('e.customer_id', '=', subject.customerId)
  // Of an escalation that is open somebody still needs all there is, and so does a run that has called this one.
  // Ids are in the order of starts, which spares those that are too young a look.
  return ended
    .where('e.id', '<', lowestId('execution', subject.endedBefore.getTime()))
    .where('e.ended_at', '<', subject.endedBefore)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('erased_records as r')
            .whereRef('r.tenant_id', '=', 'e.tenant_id')
            .whereRef('r.execution_id', '=', 'e.id'),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('executions as root')
            .whereRef('root.tenant_id', '=', 'e.tenant_id')
            .whereRef('root.id', '=', 'e.root_id')
            .where('root.ended_at', 'is', null),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('escalations as x')
            .whereRef('x.tenant_id', '=', 'e.tenant_id')
            .whereRef('x.execution_id', '=', 'e.id')
            .where('x.status', '<>', 'resolved'),
        ),
      ),
    )
}

function ticketsOf(db: Db, subject: ErasureSubject) {
  const items = db
    .selectFrom('escalations as x')
    .innerJoin('coverage_gaps as g', (join) =>
      join.onRef('g.tenant_id', '=', 'x.tenant_id').onRef('g.escalation_id', '=', 'x.id'),
    )
    .where('x.execution_id', 'is', null)
  if ('customerId' in subject) return items.where('g.customer_id', '=', subject.customerId)
  return items
    .where('x.resolved_at', '<', subject.endedBefore)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('erased_tickets as t')
            .whereRef('t.tenant_id', '=', 'x.tenant_id')
            .whereRef('t.escalation_id', '=', 'x.id'),
        ),
      ),
    )
}

/** What of a customer is not over: ids of runs that go on, and of escalations that nobody has resolved. At most `limit` each. */
export async function listUnfinished(
  db: Db,
  customerId: string,
  limit: number,
): Promise<{ readonly runs: readonly string[]; readonly escalations: readonly string[] }> {
  const runs = await db
    .selectFrom('executions')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  const open = await db
    .selectFrom('escalations as x')
    .leftJoin('executions as e', (join) =>
      join.onRef('e.tenant_id', '=', 'x.tenant_id').onRef('e.id', '=', 'x.execution_id'),
    )
    .leftJoin('coverage_gaps as g', (join) =>
      join.onRef('g.tenant_id', '=', 'x.tenant_id').onRef('g.escalation_id', '=', 'x.id'),
    )
    .select('x.id')
    .where('x.status', '<>', 'resolved')
    .where((eb) =>
      eb.or([eb('e.customer_id', '=', customerId), eb('g.customer_id', '=', customerId)]),
    )
    .orderBy('x.id')
    .limit(limit)
    .execute()
  return { runs: runs.map(({ id }) => id), escalations: open.map(({ id }) => id) }
}

/** Of some runs, those that have ended; until the transaction ends nothing is added to them. */
export async function lockEnded(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const rows = await transaction
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .where('ended_at', 'is not', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

/** Who erases, when, and through which door: what the event says that the database writes. */
export interface Eraser {
  readonly principal: Principal
  readonly origin: string
  readonly at: number
}

/**
 * Takes the values out of some runs and tickets, and tells of it in the audit log: the last statement of a transaction.
 * What was erased before is left as it is. Answers how many were.
 */
export async function eraseRuns(
  transaction: Transaction,
  erasureId: Id<'erasure'>,
  what: {
    /** By execution, the digests of all its personal values by path. */
    readonly digests: Readonly<Record<string, Readonly<Record<string, string>>>>
    readonly tickets: readonly string[]
    /** The idempotency keys of the calls that the demo's desk may have kept. */
    readonly deskKeys: readonly string[]
  },
  eraser: Eraser,
): Promise<{ readonly runs: number; readonly tickets: number }> {
  const { principal, origin, at } = eraser
  const { rows } = await sql<{ run_count: number; ticket_count: number }>`
    SELECT run_count, ticket_count FROM erase_runs(
      ${erasureId}, ${newId('audit', at)}, ${new Date(at)}, ${canonicalJson(principal)}, ${origin},
      ${JSON.stringify(what.digests)}::jsonb, ${what.tickets}::text[], ${what.deskKeys}::text[])`.execute(
    transaction,
  )
  return { runs: rows[0]?.run_count ?? 0, tickets: rows[0]?.ticket_count ?? 0 }
}

/** Ends an erasure: counters of the customer's limits go, and the salt of its id. An erasure of a customer is an event. */
export async function finishErasure(
  transaction: Transaction,
  erasureId: Id<'erasure'>,
  customerId: string | null,
  { principal, origin, at }: Eraser,
): Promise<void> {
  await sql`
    SELECT finish_erasure(${erasureId}, ${customerId}, ${newId('audit', at)}, ${new Date(at)},
      ${canonicalJson(principal)}, ${origin})`.execute(transaction)
}

/** When the values of a run were erased; undefined where they were not. */
export async function findErasedAt(db: Db, executionId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('erased_records')
    .select('erased_at')
    .where('execution_id', '=', executionId)
    .executeTakeFirst()
  return row?.erased_at
}

/** The tenants that keep values only for some time, in the order of their ids. */
export async function listTenantsWithRetention(database: Database): Promise<readonly string[]> {
  const rows = await database.system.query<{ id: string }>(
    'tenants_with_retention',
    'SELECT id FROM tenants_with_retention() AS names (id)',
    [],
  )
  return rows.map(({ id }) => id)
}
