import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Who may act in a tenant, and the keys that they show. docs/decisions/0012-governance.md says why it is so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.principals (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (kind IN ('human', 'ai', 'service')),
      name text NOT NULL,
      roles text[] NOT NULL CHECK (roles <@ ARRAY['agent', 'author', 'approver', 'admin', 'auditor']),
      groups text[] NOT NULL,
      created_at timestamptz(3) NOT NULL,
      disabled_at timestamptz(3),
      PRIMARY KEY (tenant_id, id)
    )`.execute(db)
  await sql`
    CREATE TABLE public.api_keys (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      principal_id text COLLATE "C" NOT NULL,
      name text NOT NULL,
      key_hash text COLLATE "C" NOT NULL CHECK (key_hash ~ '^[0-9a-f]{64}$'),
      created_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) CHECK (expires_at > created_at),
      revoked_at timestamptz(3),
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, key_hash),
      FOREIGN KEY (tenant_id, principal_id) REFERENCES public.principals (tenant_id, id)
    )`.execute(db)
  for (const table of ['public.principals', 'public.api_keys']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }
  await sql`
    GRANT SELECT, INSERT, UPDATE (name, roles, groups, disabled_at) ON public.principals TO stepwarden_app`.execute(
    db,
  )
  await sql`GRANT SELECT, INSERT, UPDATE (revoked_at) ON public.api_keys TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER principals_identity BEFORE UPDATE OF tenant_id, id, kind, created_at ON public.principals
      FOR EACH ROW EXECUTE FUNCTION public.refuse('A principal keeps its id and its kind.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER principals_kept BEFORE DELETE OR TRUNCATE ON public.principals
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A principal is disabled, never deleted.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER api_keys_identity
      BEFORE UPDATE OF tenant_id, id, principal_id, name, key_hash, created_at, expires_at ON public.api_keys
      FOR EACH ROW EXECUTE FUNCTION public.refuse('A key is revoked, never changed.')`.execute(db)
  await sql`
    CREATE TRIGGER api_keys_revoked BEFORE UPDATE ON public.api_keys FOR EACH ROW
      WHEN (OLD.revoked_at IS NOT NULL)
      EXECUTE FUNCTION public.refuse('A revoked key stays revoked.')`.execute(db)
  await sql`
    CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON public.api_keys
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A key is revoked, never deleted.')`.execute(
    db,
  )
  await listTenants(db)
}

/** What nobody who is tagged with a tenant can see: which other tenants there are. */
async function listTenants(db: Kysely<unknown>): Promise<void> {
  await sql`GRANT SELECT (id) ON public.tenants TO stepwarden_system`.execute(db)
  await sql`
    CREATE POLICY system_rows ON public.tenants FOR SELECT TO stepwarden_system USING (true)`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.tenant_ids() RETURNS SETOF text LANGUAGE sql STABLE
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT id FROM public.tenants ORDER BY id
    $$`.execute(db)
  await sql`ALTER FUNCTION public.tenant_ids() OWNER TO stepwarden_system`.execute(db)
  await sql`REVOKE EXECUTE ON FUNCTION public.tenant_ids() FROM PUBLIC`.execute(db)
  await sql`GRANT EXECUTE ON FUNCTION public.tenant_ids() TO stepwarden_app, stepwarden_owner`.execute(
    db,
  )
}
