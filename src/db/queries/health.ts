import { type AuditEvent, type AuditHead, findBrokenLink } from '../../domain/audit.ts'
import type { Id } from '../../domain/ids.ts'
import type { Database } from '../connect.ts'

/** What the server says of itself and of who is connected. */
export interface ServerState {
  readonly version: string
  /** Null where the extension is missing. */
  readonly pgvectorVersion: string | null
  readonly role: string
  /** Tables with a tenant that this role sees whole: none, or tenants could see each other. */
  readonly openTables: readonly string[]
  /** Whether this role may make temporary objects, which could stand in for what a guard of the database names. */
  readonly mayMakeTemporary: boolean
  readonly lastMigration: string
  /** How many approvals a version needs to go live. */
  readonly requiredApprovals: number
}

/** Asks what the database is and what it lets this process see. */
export async function readServerState(database: Database): Promise<ServerState> {
  const [row] = await database.system.query<{
    version: string
    pgvector_version: string | null
    role: string
    open_tables: string[]
    may_make_temporary: boolean
    last_migration: string
    required_approvals: number
  }>(
    'server_state',
    `SELECT current_setting('server_version') AS version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector_version,
       current_user::text AS role,
       ARRAY(
         SELECT c.relname::text
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
           AND NOT row_security_active(c.oid)
         ORDER BY 1
       ) AS open_tables,
       has_database_privilege(current_database(), 'TEMP') AS may_make_temporary,
       (SELECT max(name) FROM public.migrations) AS last_migration,
       (SELECT required_approvals FROM public.governance) AS required_approvals`,
    [],
  )
  if (row === undefined) throw new TypeError('a query without FROM has one row')
  return {
    version: row.version,
    pgvectorVersion: row.pgvector_version,
    role: row.role,
    openTables: row.open_tables,
    mayMakeTemporary: row.may_make_temporary,
    lastMigration: row.last_migration,
    requiredApprovals: row.required_approvals,
  }
}

/** Whether a tenant is there. Without one, lists would be empty and writes refused, and neither says why. */
export async function hasTenant(database: Database, tenantId: string): Promise<boolean> {
  const rows = await database
    .forTenant(tenantId)
    .query('tenant_exists', 'SELECT FROM tenants WHERE id = $1', [tenantId])
  return rows.length > 0
}

/** How many executions, of all tenants, wait for a worker or are with one that is gone: counted up to 1,000. */
export async function countUnattended(database: Database, workerId: Id<'worker'>): Promise<number> {
  const [row] = await database.system.query<{ n: number }>(
    'executions_unattended',
    'SELECT count_unattended($1, 1000) AS n',
    [workerId],
  )
  return row?.n ?? 0
}

/** What the whole deployment has to do: counts by figure and label, and of no tenant. */
export async function listFigures(
  database: Database,
): Promise<readonly { readonly figure: string; readonly label: string; readonly value: number }[]> {
  return database.system.query(
    'deployment_figures',
    'SELECT figure, label, value FROM deployment_figures()',
    [],
  )
}

/** How many executions of a tenant need no worker now: they are paused, or wait for a moment. */
export async function countResting(
  database: Database,
  tenantId: string,
): Promise<{ readonly paused: number; readonly waiting: number }> {
  const rows = await database
    .forTenant(tenantId)
    .query<{ status: 'paused' | 'waiting'; n: number }>(
      'executions_resting',
      `SELECT status, count(*)::integer AS n FROM executions
       WHERE tenant_id = $1 AND status IN ('paused', 'waiting') GROUP BY status`,
      [tenantId],
    )
  const countOf = (wanted: string) => rows.find(({ status }) => status === wanted)?.n ?? 0
  return { paused: countOf('paused'), waiting: countOf('waiting') }
}

/**
 * Recomputes the hashes of the last `count` events of a tenant's audit chain, up to its head, and answers the first
 * thing that does not fit as one sentence; undefined when all does.
 */
export async function findAuditProblem(
  database: Database,
  tenantId: string,
  count: number,
): Promise<string | undefined> {
  const db = database.forTenant(tenantId)
  const [head = { seq: 0, hash: null }] = await db.query<AuditHead & { seq: number }>(
    'audit_head',
    'SELECT seq, hash FROM audit_heads WHERE tenant_id = $1',
    [tenantId],
  )
  const rows = await db.query<Omit<AuditEvent, 'at'> & { readonly at: Date }>(
    'audit_recent',
    `SELECT tenant_id AS "tenantId", seq, id, at, actor_id AS "actorId", actor_kind AS "actorKind", actor, action,
       entity_kind AS "entityKind", entity_id AS "entityId", before_hash AS "beforeHash", after_hash AS "afterHash",
       details, origin, ungoverned, hash_version AS "hashVersion", prev_hash AS "prevHash", hash
     FROM audit_events WHERE tenant_id = $1 AND seq > $2 ORDER BY seq`,
    [tenantId, Math.max(0, head.seq - count)],
  )
  const [first] = rows
  // Of the event before the first of these only its hash is known: as the first one holds it.
  let last: AuditHead = { seq: Math.max(0, head.seq - count), hash: first?.prevHash ?? null }
  for (const row of rows) {
    const event = { ...row, at: row.at.getTime() }
    const problem = findBrokenLink(last, event)
    if (problem !== undefined) return problem
    last = event
  }
  if (last.seq === head.seq && last.hash === head.hash) return undefined
  return `The chain ends at event ${last.seq}, and its head is event ${head.seq}.`
}
