import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Signed ends of the audit chain. Copies outside the database are what they are for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.checkpoints (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      seq bigint NOT NULL CHECK (seq >= 1),
      key_id text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      at timestamptz(3) NOT NULL,
      signature text NOT NULL,
      PRIMARY KEY (tenant_id, seq, key_id)
    )`.execute(db)
  await sql`ALTER TABLE public.checkpoints ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.checkpoints
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`
    CREATE TRIGGER checkpoints_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.checkpoints
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was signed never changes.')`.execute(
    db,
  )
  await sql`GRANT SELECT, INSERT ON public.checkpoints TO stepwarden_app`.execute(db)

  await sql`GRANT SELECT (tenant_id, seq) ON public.audit_heads TO stepwarden_system`.execute(db)
  await sql`GRANT SELECT (tenant_id, seq, at) ON public.checkpoints TO stepwarden_system`.execute(
    db,
  )
  for (const table of ['audit_heads', 'checkpoints']) {
    await sql`
      CREATE POLICY system_rows ON ${sql.table(`public.${table}`)} FOR SELECT TO stepwarden_system
        USING (true)`.execute(db)
  }
  // A tenant whose chain has grown by so many events, or at all in so long.
  await sql`
    CREATE FUNCTION public.tenants_to_checkpoint(after_events bigint, after_time interval) RETURNS SETOF text
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT h.tenant_id FROM public.audit_heads h LEFT JOIN LATERAL (
          SELECT c.seq, c.at FROM public.checkpoints c WHERE c.tenant_id = h.tenant_id
          ORDER BY c.seq DESC LIMIT 1
        ) last ON true
      WHERE h.seq > coalesce(last.seq, 0)
        AND (last.seq IS NULL OR h.seq - last.seq >= after_events
          OR last.at < clock_timestamp() - after_time)
      ORDER BY h.tenant_id
    $$`.execute(db)
  const signature = sql`public.tenants_to_checkpoint(bigint, interval)`
  await sql`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION ${signature} TO stepwarden_app`.execute(db)
  await sql`ALTER FUNCTION ${signature} OWNER TO stepwarden_system`.execute(db)
}
