import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Drafts that the system suggests: docs/decisions/0024-learning.md and 0025-proposals.md. A person makes a draft of one, or
 * dismisses it; nothing that runs, searches or activates reads them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepProposals(db)
  await keepSources(db)
  await guardProposals(db)
  await nameOrigins(db)
  await forgetProposals(db)
  await tellOfProposals(db)
}

async function keepProposals(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.proposals (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL CHECK (kind IN ('demonstration', 'improvement', 'gap')),
      status text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'accepted', 'dismissed')),
      procedure_key text COLLATE "C" NOT NULL,
      -- As it would be drafted. It goes when somebody is erased whom it came from.
      definition jsonb CHECK (definition ->> 'key' = procedure_key),
      base_version_id text COLLATE "C",
      evidence jsonb NOT NULL CHECK (jsonb_typeof(evidence) = 'object'),
      -- Of what was learned from, not of what came of it.
      evidence_hash text COLLATE "C" NOT NULL CHECK (evidence_hash ~ '^[0-9a-f]{64}$'),
      created_by jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      decided_by jsonb,
      decided_at timestamptz(3),
      reason text CHECK (reason <> ''),
      version_id text COLLATE "C",
      erased_at timestamptz(3),
      source text COLLATE "C" NOT NULL GENERATED ALWAYS AS (evidence ->> 'source') STORED,
      made_with text COLLATE "C" NOT NULL GENERATED ALWAYS AS (evidence ->> 'madeWith') STORED,
      PRIMARY KEY (tenant_id, id),
      -- Whatever became of it: the same evidence proposes once.
      CONSTRAINT proposals_once UNIQUE (tenant_id, evidence_hash),
      CHECK ((kind = 'improvement') = (base_version_id IS NOT NULL)),
      CHECK ((status = 'open') = (decided_at IS NULL) AND (status = 'open') = (decided_by IS NULL)),
      CHECK ((status = 'accepted') = (version_id IS NOT NULL)),
      CHECK ((definition IS NULL) = (erased_at IS NOT NULL)),
      CHECK (CASE WHEN status <> 'dismissed' THEN reason IS NULL ELSE reason IS NOT NULL OR erased_at IS NOT NULL END),
      CONSTRAINT proposals_by_people CHECK (coalesce(decided_by ->> 'kind', '') = 'human' OR decided_by IS NULL)
    )`.execute(db)
  await sql`
    CREATE INDEX proposals_status ON public.proposals (tenant_id, status, id)`.execute(db)
  await sql`
    CREATE INDEX proposals_procedure ON public.proposals (tenant_id, procedure_key, id)`.execute(db)
  await ofTenants(db, 'public.proposals')
  await sql`
    GRANT SELECT,
      INSERT (tenant_id, id, kind, procedure_key, definition, base_version_id, evidence, evidence_hash, created_by,
        created_at),
      UPDATE (status, decided_by, decided_at, reason, version_id)
      ON public.proposals TO stepwarden_app`.execute(db)
}

/**
 * Whose words a proposal may hold, also when the experience that said so is long pruned: so that an erasure finds it. Goes
 * with the text.
 */
async function keepSources(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.proposal_sources (
      tenant_id text COLLATE "C" NOT NULL,
      proposal_id text COLLATE "C" NOT NULL,
      -- The id of an experience, an execution or a triage item; of what was told by hand the proposal's own.
      source_id text COLLATE "C" NOT NULL CHECK (source_id <> ''),
      customer_id text COLLATE "C",
      PRIMARY KEY (tenant_id, proposal_id, source_id),
      FOREIGN KEY (tenant_id, proposal_id) REFERENCES public.proposals (tenant_id, id)
    )`.execute(db)
  await sql`
    CREATE INDEX proposal_sources_source ON public.proposal_sources (tenant_id, source_id)`.execute(
    db,
  )
  await sql`
    CREATE INDEX proposal_sources_customer ON public.proposal_sources (tenant_id, customer_id)
      WHERE customer_id IS NOT NULL`.execute(db)
  await ofTenants(db, 'public.proposal_sources')
  await sql`GRANT SELECT, INSERT ON public.proposal_sources TO stepwarden_app`.execute(db)
}

async function guardProposals(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TRIGGER proposals_begin_open BEFORE INSERT ON public.proposals FOR EACH ROW
      WHEN (NEW.status <> 'open' OR NEW.definition IS NULL)
      EXECUTE FUNCTION public.refuse('A proposal begins open, with what it proposes.')`.execute(db)
  await sql`
    CREATE TRIGGER proposals_identity
      BEFORE UPDATE OF tenant_id, id, kind, procedure_key, base_version_id, evidence_hash, created_by, created_at
      ON public.proposals FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What was proposed, and by what, never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER proposals_kept BEFORE DELETE OR TRUNCATE ON public.proposals
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was proposed is kept: the same is not proposed again.')`.execute(
    db,
  )
  // Ids, counts and hashes: what is left of evidence once the words are gone.
  await sql`
    CREATE FUNCTION public.erased_evidence(evidence jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
      SET search_path = pg_catalog, public, pg_temp AS $$
      SELECT coalesce(jsonb_object_agg(e.key, e.value), '{}') FROM jsonb_each(evidence) e
        WHERE e.key IN ('source', 'madeWith', 'experienceIds', 'executionIds', 'ticketIds', 'ticketCount', 'learnedFrom',
          'agreement')
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.guard_proposal() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF OLD.status = 'open' AND NEW.status IN ('accepted', 'dismissed')
        AND (NEW.definition, NEW.evidence, NEW.erased_at) IS NOT DISTINCT FROM (OLD.definition, OLD.evidence, OLD.erased_at)
        AND (NEW.status = 'dismissed' OR OLD.erased_at IS NULL)
      THEN
        RETURN NEW;
      END IF;
      IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
        AND (NEW.status, NEW.decided_by, NEW.decided_at, NEW.version_id) IS NOT DISTINCT FROM
          (OLD.status, OLD.decided_by, OLD.decided_at, OLD.version_id)
        AND num_nonnulls(NEW.definition, NEW.reason) = 0 AND NEW.evidence = public.erased_evidence(OLD.evidence)
        AND EXISTS (SELECT FROM public.erasures x WHERE x.tenant_id = NEW.tenant_id AND x.ended_at IS NULL)
      THEN
        RETURN NEW;
      END IF;
      PERFORM public.refuse_row('proposals', 'proposals_decided_once', 'restrict_violation',
        'A proposal is accepted or dismissed once, and what it says stays as it was.');
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER proposals_decided_once BEFORE UPDATE ON public.proposals
      FOR EACH ROW EXECUTE FUNCTION public.guard_proposal()`.execute(db)
  await sql`
    CREATE FUNCTION public.guard_acceptance() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.proposal_id = NEW.id
      ) THEN
        PERFORM public.refuse_row('proposals', 'proposals_make_drafts', 'restrict_violation',
          'A proposal is accepted by making a draft of it.');
      END IF;
      RETURN NULL;
    END
    $$`.execute(db)
}

/** Which proposal a draft was made of: told when it is made, by whoever accepted it, and never changed. */
async function nameOrigins(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.procedure_versions ADD COLUMN proposal_id text COLLATE "C",
      ADD FOREIGN KEY (tenant_id, proposal_id) REFERENCES public.proposals (tenant_id, id)`.execute(
    db,
  )
  await sql`
    CREATE UNIQUE INDEX procedure_versions_proposal ON public.procedure_versions (tenant_id, proposal_id)
      WHERE proposal_id IS NOT NULL`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_proposed BEFORE UPDATE OF proposal_id ON public.procedure_versions
      FOR EACH ROW EXECUTE FUNCTION public.refuse('Where a version came from is told when it is made.')`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.guard_proposed_version() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.proposals p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.proposal_id AND p.status = 'accepted'
          AND p.version_id = NEW.id AND p.decided_by ->> 'id' = ANY (NEW.author_ids)
      ) THEN
        PERFORM public.refuse_row('procedure_versions', 'procedure_versions_of_accepted', 'restrict_violation',
          'A draft comes from a proposal that was accepted for it, and who accepted that is its author.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_of_accepted BEFORE INSERT ON public.procedure_versions
      FOR EACH ROW WHEN (NEW.proposal_id IS NOT NULL) EXECUTE FUNCTION public.guard_proposed_version()`.execute(
    db,
  )
  // At the end of the transaction: the draft is made after the proposal is taken, so that one alone makes it.
  await sql`
    CREATE CONSTRAINT TRIGGER proposals_make_drafts AFTER UPDATE ON public.proposals
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.status = 'open' AND NEW.status = 'accepted')
      EXECUTE FUNCTION public.guard_acceptance()`.execute(db)
}

/** The text goes with what it came from. Of a person's draft that was made of it, nothing does: that is a text of theirs. */
async function forgetProposals(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.forget_proposals(of_tenant text, ids text[], at timestamptz) RETURNS void LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      -- In the order in which whoever decides locks: the proposal, then what it holds.
      PERFORM FROM public.proposals p WHERE p.tenant_id = of_tenant AND p.id = ANY (ids) ORDER BY p.id FOR UPDATE;
      UPDATE public.proposals p
        SET definition = NULL, reason = NULL, evidence = public.erased_evidence(p.evidence), erased_at = at
        WHERE p.tenant_id = of_tenant AND p.id = ANY (ids) AND p.erased_at IS NULL;
      DELETE FROM public.proposal_sources s WHERE s.tenant_id = of_tenant AND s.proposal_id = ANY (ids);
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.forget_proposals_of(of_tenant text, sources text[], at timestamptz) RETURNS void
      LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      PERFORM public.forget_proposals(of_tenant, ARRAY(
        SELECT DISTINCT s.proposal_id FROM public.proposal_sources s
        WHERE s.tenant_id = of_tenant AND s.source_id = ANY (sources)), at);
    END
    $$`.execute(db)
  await sql`
    CREATE OR REPLACE FUNCTION public.forget_experiences(of_tenant text, ids text[]) RETURNS integer LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      forgotten integer;
    BEGIN
      PERFORM public.forget_proposals_of(of_tenant, ids, clock_timestamp());
      DELETE FROM public.experience_holds h WHERE h.tenant_id = of_tenant AND h.experience_id = ANY (ids);
      DELETE FROM public.experiences x WHERE x.tenant_id = of_tenant AND x.id = ANY (ids);
      GET DIAGNOSTICS forgotten = ROW_COUNT;
      RETURN forgotten;
    END
    $$`.execute(db)
  // A run or a ticket, also when what it experienced was pruned since.
  await sql`
    CREATE FUNCTION public.forget_proposals_of_erased() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      PERFORM public.forget_proposals_of(NEW.tenant_id,
        ARRAY[coalesce(to_jsonb(NEW) ->> 'execution_id', to_jsonb(NEW) ->> 'escalation_id')], NEW.erased_at);
      RETURN NULL;
    END
    $$`.execute(db)
  for (const table of ['erased_records', 'erased_tickets']) {
    // After the experience of a run, by its name: the locks are taken in the order of `finish_erasure`.
    await sql`
      CREATE TRIGGER ${sql.id(`${table}_forget_proposals`)} AFTER INSERT ON ${sql.table(`public.${table}`)}
        FOR EACH ROW EXECUTE FUNCTION public.forget_proposals_of_erased()`.execute(db)
  }
  await finishErasures(db)
}

/** As in 0030-experiences, and what was proposed by what a customer has said, or so long ago, is forgotten too. */
async function finishErasures(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION public.finish_erasure(
      of_erasure text, customer text, event_id text, at timestamptz, actor text, origin text)
      RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
      forgotten integer;
    BEGIN
      SELECT * INTO erasure FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.id = of_erasure AND x.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND OR (erasure.kind = 'customer' AND erasure.customer_digest IS DISTINCT FROM
        encode(sha256(convert_to(erasure.customer_salt || ':' || customer, 'UTF8')), 'hex'))
      THEN
        PERFORM public.refuse_row('erasures', 'erasures_running', 'restrict_violation',
          'Only an erasure that is running can be ended, by naming whom it is about.');
      END IF;
      IF erasure.kind = 'customer' THEN
        DELETE FROM public.limit_counters c
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND c.subject = customer;
        forgotten := public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x
          WHERE x.tenant_id = tenant AND x.customer_id = customer ORDER BY x.id FOR UPDATE));
        PERFORM public.forget_proposals(tenant, ARRAY(
          SELECT DISTINCT s.proposal_id FROM public.proposal_sources s
          WHERE s.tenant_id = tenant AND s.customer_id = customer), at);
      ELSE
        DELETE FROM public.limit_counters c USING public.tenants t
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND t.id = tenant
            AND c.starts_at + ('1 ' || c.period)::interval < at - make_interval(days => t.retention_days);
        PERFORM public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x, public.tenants t
          WHERE x.tenant_id = tenant AND x.execution_id IS NULL AND t.id = tenant
            AND x.created_at < at - make_interval(days => t.retention_days) ORDER BY x.id FOR UPDATE OF x));
        PERFORM public.forget_proposals(tenant, ARRAY(
          SELECT p.id FROM public.proposals p, public.tenants t
          WHERE p.tenant_id = tenant AND p.erased_at IS NULL AND t.id = tenant
            AND p.created_at < at - make_interval(days => t.retention_days)), at);
      END IF;
      UPDATE public.erasures x SET ended_at = at, customer_salt = NULL
        WHERE x.tenant_id = tenant AND x.id = of_erasure;
      IF erasure.kind = 'customer' THEN
        INSERT INTO public.audit_events
          (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
        VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor, 'customer.erased',
          'erasure', of_erasure,
          jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
            'runs', erasure.run_count, 'tickets', erasure.ticket_count, 'experiences', forgotten)::text,
          origin, false);
      END IF;
    END
    $$`.execute(db)
}

/** As in 0029-webhooks, with the acts on proposals: what they say, and why one is dismissed, is free text and not told. */
async function tellOfProposals(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION public.tell_act() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      said jsonb;
      told jsonb := '{}';
      escalation public.escalations;
      subject text;
    BEGIN
      IF NEW.action NOT IN ('escalation.assigned', 'escalation.resolved', 'version.reviewed', 'version.activated',
        'version.deprecated', 'activation.refused', 'procedure.stopped', 'procedure.allowed', 'tool.stopped',
        'tool.allowed', 'proposal.made', 'proposal.accepted', 'proposal.dismissed')
      THEN
        RETURN NULL;
      END IF;
      IF NOT EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN RETURN NULL; END IF;
      IF NEW.entity_kind = 'escalation' THEN
        SELECT * INTO escalation FROM public.escalations x WHERE x.tenant_id = NEW.tenant_id AND x.id = NEW.entity_id;
        told := public.told_escalation(escalation);
        subject := coalesce(escalation.execution_id, escalation.id);
      ELSE
        said := NEW.details::jsonb;
        -- Of what stands there only what names things: reasons and comments are free text.
        SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') INTO told FROM jsonb_each(said) d
          WHERE d.key IN ('procedureKey', 'versionNumber', 'replaced', 'verdict', 'tool', 'scheduleId', 'code')
            OR (NEW.entity_kind = 'proposal' AND d.key IN ('kind', 'versionId'));
        IF NEW.entity_kind = 'version' THEN told := told || jsonb_build_object('versionId', NEW.entity_id); END IF;
        IF NEW.entity_kind = 'proposal' THEN
          told := told || jsonb_build_object('proposalId', NEW.entity_id);
          subject := NEW.entity_id;
        ELSE
          subject := coalesce(said ->> 'procedureKey', said ->> 'tool', NEW.entity_id);
        END IF;
      END IF;
      PERFORM public.tell_webhooks(NEW.tenant_id, NEW.action, coalesce(subject, NEW.entity_id), NEW.at,
        told || jsonb_build_object('auditSeq', NEW.seq));
      RETURN NULL;
    END
    $$`.execute(db)
}

async function ofTenants(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON ${sql.table(table)}
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
}
