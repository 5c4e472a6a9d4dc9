import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** The audit log: a hash chain per tenant that the database itself forges, link by link. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.audit_heads (
      tenant_id text COLLATE "C" PRIMARY KEY REFERENCES public.tenants (id),
      seq bigint NOT NULL CHECK (seq >= 0),
      hash text COLLATE "C",
      CHECK ((seq = 0) = (hash IS NULL))
    )`.execute(db)
  await sql`
    CREATE TABLE public.audit_events (
      tenant_id text COLLATE "C" NOT NULL,
      seq bigint NOT NULL CHECK (seq >= 1),
      id text COLLATE "C" NOT NULL,
      at timestamptz(3) NOT NULL,
      actor_id text NOT NULL,
      actor_kind text NOT NULL CHECK (actor_kind IN ('human', 'ai', 'service')),
      actor text NOT NULL,
      action text NOT NULL,
      entity_kind text NOT NULL,
      entity_id text COLLATE "C",
      before_hash text COLLATE "C",
      after_hash text COLLATE "C",
      details text NOT NULL,
      origin text,
      ungoverned boolean NOT NULL,
      hash_version integer NOT NULL,
      prev_hash text COLLATE "C",
      hash text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, seq),
      UNIQUE (tenant_id, id),
      CHECK ((seq = 1) = (prev_hash IS NULL)),
      -- JSON is kept as the text that was hashed, so that an offline verifier hashes the same bytes.
      CONSTRAINT audit_events_actor_json
        CHECK ((actor::jsonb ->> 'id') = actor_id AND (actor::jsonb ->> 'kind') = actor_kind),
      CONSTRAINT audit_events_details_json CHECK (jsonb_typeof(details::jsonb) = 'object')
    )`.execute(db)
  await sql`
    CREATE INDEX audit_events_entity ON public.audit_events (tenant_id, entity_kind, entity_id, seq)`.execute(
    db,
  )
  for (const table of ['public.audit_heads', 'public.audit_events']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }

  await sql`
    CREATE FUNCTION public.netstring(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN value IS NULL THEN '~' ELSE octet_length(value) || ':' || value || ',' END
    $$`.execute(db)
  // Hash version 1: docs/decisions/0002-rows.md. src/domain/audit.ts computes the same.
  await sql`
    CREATE FUNCTION public.audit_hash(event public.audit_events) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT encode(sha256(convert_to(
        public.netstring(event.hash_version::text)
        || public.netstring(event.tenant_id)
        || public.netstring(event.seq::text)
        || public.netstring(event.id)
        || public.netstring(
             to_char(event.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        || public.netstring(event.actor_id)
        || public.netstring(event.actor_kind)
        || public.netstring(event.actor)
        || public.netstring(event.action)
        || public.netstring(event.entity_kind)
        || public.netstring(event.entity_id)
        || public.netstring(event.before_hash)
        || public.netstring(event.after_hash)
        || public.netstring(event.details)
        || public.netstring(event.origin)
        || public.netstring(CASE WHEN event.ungoverned THEN 'true' ELSE 'false' END)
        || public.netstring(event.prev_hash),
        'UTF8')), 'hex')
    $$`.execute(db)

  // The writer of an event cannot choose its place or its hash. The lock on the head orders the writers of a tenant.
  await sql`
    CREATE FUNCTION public.chain_audit_event() RETURNS trigger LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      INSERT INTO public.audit_heads (tenant_id, seq) VALUES (NEW.tenant_id, 0)
        ON CONFLICT DO NOTHING;
      SELECT h.seq + 1, h.hash INTO STRICT NEW.seq, NEW.prev_hash
        FROM public.audit_heads h WHERE h.tenant_id = NEW.tenant_id FOR UPDATE;
      NEW.hash_version := 1;
      NEW.hash := public.audit_hash(NEW);
      UPDATE public.audit_heads SET seq = NEW.seq, hash = NEW.hash WHERE tenant_id = NEW.tenant_id;
      RETURN NEW;
    END
    $$`.execute(db)
  // Triggers fire in the order of their names: a forged link is refused before the true one is made.
  await sql`
    CREATE TRIGGER audit_events_1_unforged BEFORE INSERT ON public.audit_events FOR EACH ROW
      WHEN (num_nonnulls(NEW.seq, NEW.hash_version, NEW.prev_hash, NEW.hash) > 0)
      EXECUTE FUNCTION public.refuse('The database alone sets seq, hash_version, prev_hash and hash of an audit event.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER audit_events_2_chain BEFORE INSERT ON public.audit_events
      FOR EACH ROW EXECUTE FUNCTION public.chain_audit_event()`.execute(db)
  await sql`
    CREATE TRIGGER audit_events_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON public.audit_events
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('The audit log only grows.')`.execute(db)
  await sql`
    CREATE TRIGGER audit_heads_unforged BEFORE INSERT OR UPDATE OR DELETE ON public.audit_heads
      FOR EACH ROW WHEN (pg_trigger_depth() = 0)
      EXECUTE FUNCTION public.refuse('The head of an audit chain moves only when an event is added.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER audit_heads_kept BEFORE TRUNCATE ON public.audit_heads
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('The head of an audit chain is never removed.')`.execute(
    db,
  )

  await sql`GRANT SELECT ON public.audit_heads TO stepwarden_app`.execute(db)
  await sql`
    GRANT SELECT, INSERT (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id,
      before_hash, after_hash, details, origin, ungoverned) ON public.audit_events TO stepwarden_app`.execute(
    db,
  )
}
