import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * The seals of runs that have ended: docs/decisions/0016-seals.md. Nothing here is written with a run; a chore finds by the
 * primary key what has ended.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.seals (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      number integer NOT NULL CHECK (number >= 1),
      record_version integer NOT NULL,
      record_count integer NOT NULL CHECK (record_count BETWEEN 1 AND 1000),
      root text COLLATE "C" NOT NULL,
      first_id text COLLATE "C" NOT NULL,
      last_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, number)
    )`.execute(db)
  await sql`
    CREATE TABLE public.sealed_records (
      tenant_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      -- A reply that came after its run was sealed has a record of its own.
      kind text NOT NULL CHECK (kind IN ('run', 'reply')),
      seal_number integer NOT NULL,
      position integer NOT NULL CHECK (position >= 0),
      leaf_hash text COLLATE "C" NOT NULL,
      has_reply boolean NOT NULL,
      PRIMARY KEY (tenant_id, execution_id, kind),
      UNIQUE (tenant_id, seal_number, position),
      FOREIGN KEY (tenant_id, seal_number) REFERENCES public.seals (tenant_id, number)
    )`.execute(db)
  // Those of which a reply may still come.
  await sql`
    CREATE INDEX sealed_records_unanswered ON public.sealed_records (tenant_id, execution_id)
      WHERE kind = 'run' AND NOT has_reply`.execute(db)
  await sql`
    CREATE TABLE public.record_salts (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      execution_id text COLLATE "C" NOT NULL,
      salt text COLLATE "C" NOT NULL CHECK (salt ~ '^[0-9a-f]{64}$'),
      PRIMARY KEY (tenant_id, execution_id)
    )`.execute(db)
  await sql`
    CREATE TABLE public.erased_records (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      execution_id text COLLATE "C" NOT NULL,
      digests jsonb NOT NULL CHECK (jsonb_typeof(digests) = 'object'),
      erased_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, execution_id)
    )`.execute(db)
  await sql`
    CREATE TABLE public.seal_cursors (
      tenant_id text COLLATE "C" PRIMARY KEY REFERENCES public.tenants (id),
      -- Every run up to here is sealed or in seal_waiting.
      walked_to text COLLATE "C" NOT NULL DEFAULT '',
      -- Where looking for late replies goes on; it goes round.
      replies_from text COLLATE "C" NOT NULL DEFAULT ''
    )`.execute(db)
  await sql`
    CREATE TABLE public.seal_waiting (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      execution_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, execution_id)
    )`.execute(db)
  const kept = ['seals', 'sealed_records', 'record_salts', 'erased_records']
  for (const name of [...kept, 'seal_cursors', 'seal_waiting']) {
    const table = sql.table(`public.${name}`)
    await sql`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(db)
    await sql`
      CREATE POLICY tenant_rows ON ${table}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }
  for (const name of kept) {
    await sql`
      CREATE TRIGGER ${sql.id(`${name}_kept`)} BEFORE UPDATE OR DELETE OR TRUNCATE
        ON ${sql.table(`public.${name}`)}
        FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was sealed never changes.')`.execute(
      db,
    )
  }
  await sql`
    GRANT SELECT, INSERT ON public.seals, public.sealed_records, public.record_salts TO stepwarden_app`.execute(
    db,
  )
  await sql`GRANT SELECT ON public.erased_records TO stepwarden_app`.execute(db)
  await sql`GRANT SELECT, INSERT, UPDATE (walked_to, replies_from) ON public.seal_cursors TO stepwarden_app`.execute(
    db,
  )
  await sql`GRANT SELECT, INSERT, DELETE ON public.seal_waiting TO stepwarden_app`.execute(db)
  await findTenants(db)
}

/** Which tenants have runs that may be sealed: one look along each tenant's keys behind its cursor. */
async function findTenants(db: Kysely<unknown>): Promise<void> {
  await sql`GRANT SELECT (tenant_id, walked_to) ON public.seal_cursors TO stepwarden_system`.execute(
    db,
  )
  await sql`GRANT SELECT ON public.seal_waiting TO stepwarden_system`.execute(db)
  for (const table of ['seal_cursors', 'seal_waiting']) {
    await sql`
      CREATE POLICY system_rows ON ${sql.table(`public.${table}`)} FOR SELECT TO stepwarden_system
        USING (true)`.execute(db)
  }
  await sql`
    CREATE FUNCTION public.tenants_to_seal() RETURNS SETOF text LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT t.id FROM public.tenants t LEFT JOIN public.seal_cursors c ON c.tenant_id = t.id
      WHERE EXISTS (
          SELECT FROM public.executions e
          WHERE e.tenant_id = t.id AND e.id > coalesce(c.walked_to, ''))
        OR EXISTS (
          SELECT FROM public.seal_waiting w JOIN public.executions e
            ON e.tenant_id = w.tenant_id AND e.id = w.execution_id
          WHERE w.tenant_id = t.id AND e.ended_at IS NOT NULL)
      ORDER BY t.id
    $$`.execute(db)
  await sql`REVOKE ALL ON FUNCTION public.tenants_to_seal() FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION public.tenants_to_seal() TO stepwarden_app`.execute(db)
  await sql`ALTER FUNCTION public.tenants_to_seal() OWNER TO stepwarden_system`.execute(db)
}
