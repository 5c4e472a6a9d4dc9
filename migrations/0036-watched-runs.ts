import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** How the runs that somebody looks at are found: those that are followed, and those of a ticket or a customer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One question for all the streams of a process, whatever tenants they are of. Who may follow a run was settled before,
  // and is settled again before anything of it is read: here there are ids and a number alone.
  await sql`
    CREATE FUNCTION public.changed_executions(tenant_ids text[], execution_ids text[], revisions bigint[])
      RETURNS TABLE (tenant_id text, id text, revision bigint) LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT e.tenant_id, e.id, e.revision
      FROM unnest(tenant_ids, execution_ids, revisions) AS seen (tenant_id, id, revision)
      JOIN public.executions e ON e.tenant_id = seen.tenant_id AND e.id = seen.id
      WHERE e.revision IS DISTINCT FROM seen.revision
    $$`.execute(db)
  await sql`GRANT SELECT (revision) ON public.executions TO stepwarden_system`.execute(db)
  const signature = sql.raw('public.changed_executions(text[], text[], bigint[])')
  await sql`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION ${signature} TO stepwarden_app`.execute(db)
  // Last, because from here on only its new owner can grant it.
  await sql`ALTER FUNCTION ${signature} OWNER TO stepwarden_system`.execute(db)

  // A run of no ticket and no customer has no entry in them, so a start pays for what it names alone. None by requester:
  // every run has one. See docs/decisions/0028-lists.md.
  await sql`
    CREATE INDEX executions_of_ticket ON public.executions (tenant_id, ticket_id, id)
      WHERE ticket_id IS NOT NULL`.execute(db)
  await sql`
    CREATE INDEX executions_of_customer ON public.executions (tenant_id, customer_id, id)
      WHERE customer_id IS NOT NULL`.execute(db)
}
