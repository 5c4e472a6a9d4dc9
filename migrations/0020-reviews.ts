import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Verdicts on what is to go live, and the guard that asks for them. docs/decisions/0012-governance.md has the reasons. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await governance(db)
  await reviews(db)
  await guardActivation(db)
}

/** How many approvals a version needs: of the deployment, not of a tenant, and never written by the service. */
async function governance(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.governance (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      required_approvals integer NOT NULL CHECK (required_approvals BETWEEN 0 AND 10)
    )`.execute(db)
  await sql`INSERT INTO public.governance (required_approvals) VALUES (1)`.execute(db)
  await sql`GRANT SELECT ON public.governance TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER governance_kept BEFORE DELETE OR TRUNCATE ON public.governance
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What a deployment requires is changed, never removed.')`.execute(
    db,
  )
  // An id of an audit event as src/domain/ids.ts makes it; its random part is taken from a UUID.
  await sql`
    CREATE FUNCTION public.new_audit_id(at timestamptz) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
      rest bigint := floor(extract(epoch FROM at) * 1000)::bigint;
      bytes constant bytea := uuid_send(gen_random_uuid());
      id text := '';
    BEGIN
      FOR place IN 1..9 LOOP
        id := substr(alphabet, (rest % 32)::integer + 1, 1) || id;
        rest := rest / 32;
      END LOOP;
      -- Bytes 6 and 8 of a UUID are not all random.
      FOREACH rest IN ARRAY ARRAY[0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13] LOOP
        id := id || substr(alphabet, get_byte(bytes, rest::integer) % 32 + 1, 1);
      END LOOP;
      RETURN 'aud_' || id;
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.tell_governance() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      tag constant text := current_setting('stepwarden.tenant', true);
      tenant text;
    BEGIN
      FOR tenant IN SELECT t FROM public.tenant_ids() t LOOP
        PERFORM set_config('stepwarden.tenant', tenant, true);
        INSERT INTO public.audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind,
            entity_id, details, origin, ungoverned)
          VALUES (tenant, public.new_audit_id(clock_timestamp()), clock_timestamp(), 'deployment', 'service',
            '{"groups":[],"id":"deployment","kind":"service","roles":[],"tenantId":"' || tenant || '"}',
            'governance.changed', 'tenant', tenant,
            '{"before":' || OLD.required_approvals || ',"requiredApprovals":' || NEW.required_approvals || '}',
            'deployment', NEW.required_approvals = 0);
      END LOOP;
      PERFORM set_config('stepwarden.tenant', coalesce(tag, ''), true);
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER governance_told AFTER UPDATE ON public.governance FOR EACH ROW
      WHEN (OLD.required_approvals <> NEW.required_approvals)
      EXECUTE FUNCTION public.tell_governance()`.execute(db)
}

async function reviews(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.reviews (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
      procedure_id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      digest text COLLATE "C" NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
      parts jsonb NOT NULL CHECK (jsonb_typeof(parts) = 'object'),
      content text COLLATE "C" NOT NULL,
      verdict text NOT NULL CHECK (verdict IN ('approve', 'decline', 'comment')),
      comment text,
      acknowledged jsonb NOT NULL CHECK (jsonb_typeof(acknowledged) = 'array'),
      reviewer_id text COLLATE "C" NOT NULL,
      reviewer jsonb NOT NULL CHECK (reviewer ->> 'id' = reviewer_id),
      at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id),
      -- Not of the version: a draft that is deleted leaves what was said of it.
      FOREIGN KEY (tenant_id, procedure_id) REFERENCES public.procedures (tenant_id, id),
      CONSTRAINT reviews_by_people CHECK (verdict = 'comment'
        OR (reviewer ->> 'kind' = 'human' AND NOT coalesce((reviewer ->> 'unauthenticated')::boolean, false)))
    )`.execute(db)
  await sql`
    CREATE INDEX reviews_digest ON public.reviews (tenant_id, procedure_id, digest, seq)`.execute(
    db,
  )
  await sql`ALTER TABLE public.reviews ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.reviews
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`
    GRANT SELECT, INSERT (tenant_id, id, procedure_id, version_id, digest, parts, verdict, comment, acknowledged,
      reviewer_id, reviewer, at) ON public.reviews TO stepwarden_app`.execute(db)

  await sql`
    CREATE FUNCTION public.version_content(version public.procedure_versions) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT encode(sha256(convert_to(jsonb_build_array(version.definition, version.tool_contracts, (
        SELECT coalesce(jsonb_agg(s.scenario ORDER BY s.position), '[]') FROM public.scenarios s
          WHERE s.tenant_id = version.tenant_id AND s.version_id = version.id
      ))::text, 'UTF8')), 'hex')
    $$`.execute(db)
  // The lock makes a reviewer and a writer wait for each other: what is stamped is what was there.
  await sql`
    CREATE FUNCTION public.stamp_review() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      version public.procedure_versions;
    BEGIN
      SELECT * INTO version FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.procedure_id = NEW.procedure_id
        FOR SHARE;
      IF version.id IS NULL OR (NEW.verdict <> 'comment' AND version.status <> 'draft') THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_draft', 'restrict_violation',
          'A verdict is given on a draft.');
      END IF;
      IF NEW.verdict = 'approve' AND NEW.reviewer_id = ANY (version.author_ids) THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_others', 'restrict_violation',
          'Nobody approves their own work.');
      END IF;
      NEW.content := public.version_content(version);
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER reviews_stamped BEFORE INSERT ON public.reviews
      FOR EACH ROW EXECUTE FUNCTION public.stamp_review()`.execute(db)
  await sql`
    CREATE TRIGGER reviews_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON public.reviews
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was said in a review stays said.')`.execute(
    db,
  )
}

async function guardActivation(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.procedure_versions ADD COLUMN approval_digest text COLLATE "C"
      CHECK (approval_digest ~ '^[0-9a-f]{64}$')`.execute(db)
  await sql`GRANT UPDATE (approval_digest) ON public.procedure_versions TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedure_versions_digest BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN (OLD.approval_digest IS DISTINCT FROM NEW.approval_digest
        AND NOT (OLD.status = 'draft' AND NEW.status = 'active'))
      EXECUTE FUNCTION public.refuse('The approval of a version is told when it goes live, and stays.')`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.guard_approval() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      required integer;
      approved bigint;
      declined bigint;
    BEGIN
      SELECT g.required_approvals INTO STRICT required FROM public.governance g;
      IF required > 0 THEN
        SELECT count(*) FILTER (WHERE last.verdict = 'approve' AND last.reviewer_id <> ALL (NEW.author_ids)),
            count(*) FILTER (WHERE last.verdict = 'decline')
          INTO approved, declined
          FROM (
            SELECT DISTINCT ON (r.reviewer_id) r.reviewer_id, r.verdict FROM public.reviews r
              WHERE r.tenant_id = NEW.tenant_id AND r.procedure_id = NEW.procedure_id
                AND r.digest = NEW.approval_digest AND r.content = public.version_content(NEW)
                AND r.verdict <> 'comment'
              ORDER BY r.reviewer_id, r.seq DESC
          ) last;
        IF approved < required OR declined > 0 THEN
          PERFORM public.refuse_row('procedure_versions', 'procedure_versions_approved', 'restrict_violation',
            'Nothing goes live without the approval of people who wrote no part of it.');
        END IF;
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_approved BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN (OLD.status = 'draft' AND NEW.status = 'active')
      EXECUTE FUNCTION public.guard_approval()`.execute(db)
}
