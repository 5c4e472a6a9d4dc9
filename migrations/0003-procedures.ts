import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Procedures, their versions with the tool contracts that they pin, and when each version served. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.procedures (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      latest_version_number integer NOT NULL DEFAULT 0 CHECK (latest_version_number >= 0),
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, key),
      -- What a version refers to, so that a definition cannot name another procedure's key.
      UNIQUE (tenant_id, id, key)
    )`.execute(db)

  // One definition, whole, is the source of truth; what lists and search need of it is generated from it.
  await sql`
    CREATE TABLE public.procedure_versions (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      procedure_id text COLLATE "C" NOT NULL,
      version_number integer NOT NULL CHECK (version_number >= 1),
      status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'active', 'deprecated')),
      definition jsonb NOT NULL CHECK (jsonb_typeof(definition -> 'steps') = 'array'),
      definition_hash text COLLATE "C" NOT NULL CHECK (definition_hash ~ '^[0-9a-f]{64}$'),
      summary text NOT NULL,
      purpose text NOT NULL,
      tool_contracts jsonb NOT NULL CHECK (jsonb_typeof(tool_contracts) = 'object'),
      findings jsonb NOT NULL CHECK (jsonb_typeof(findings) = 'array'),
      revision integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
      author_ids text[] NOT NULL CHECK (cardinality(author_ids) >= 1),
      based_on_version_id text COLLATE "C",
      created_by jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL,
      updated_by jsonb NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      procedure_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (definition ->> 'key') STORED,
      name text NOT NULL GENERATED ALWAYS AS (definition ->> 'name') STORED,
      description text NOT NULL GENERATED ALWAYS AS (definition ->> 'description') STORED,
      category text NOT NULL GENERATED ALWAYS AS (coalesce(definition ->> 'category', 'general')) STORED,
      -- Apart from the definition, so that search reads a few hundred bytes of a version and not all of it.
      issue_patterns jsonb NOT NULL GENERATED ALWAYS AS (coalesce(definition -> 'issuePatterns', '[]')) STORED,
      internal boolean NOT NULL GENERATED ALWAYS AS (definition @> '{"internal": true}') STORED,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, procedure_id, version_number),
      UNIQUE (tenant_id, procedure_id, id),
      FOREIGN KEY (tenant_id, procedure_id, procedure_key) REFERENCES public.procedures (tenant_id, id, key)
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX procedure_versions_one_active ON public.procedure_versions (tenant_id, procedure_id)
      WHERE status = 'active'`.execute(db)
  // What search reads: however many deprecated versions there are, they are not in it.
  await sql`
    CREATE INDEX procedure_versions_served ON public.procedure_versions (tenant_id, category)
      WHERE status = 'active' AND NOT internal`.execute(db)

  // What versions pin by hash, kept so that a run can be replayed when the tool itself is long gone.
  await sql`
    CREATE TABLE public.tool_contracts (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      hash text COLLATE "C" NOT NULL CHECK (hash ~ '^[0-9a-f]{64}$'),
      name text COLLATE "C" NOT NULL,
      contract jsonb NOT NULL,
      PRIMARY KEY (tenant_id, hash)
    )`.execute(db)

  await sql`
    CREATE TABLE public.activations (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      procedure_id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      active_from timestamptz(3) NOT NULL,
      active_until timestamptz(3) CHECK (active_until > active_from),
      activated_by jsonb NOT NULL,
      deactivated_by jsonb,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, procedure_id, active_from),
      FOREIGN KEY (tenant_id, procedure_id, version_id)
        REFERENCES public.procedure_versions (tenant_id, procedure_id, id),
      CHECK ((active_until IS NULL) = (deactivated_by IS NULL))
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX activations_one_open ON public.activations (tenant_id, procedure_id)
      WHERE active_until IS NULL`.execute(db)

  for (const table of [
    'public.procedures',
    'public.procedure_versions',
    'public.tool_contracts',
    'public.activations',
  ]) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  }

  await guardProcedures(db)
  await guardVersions(db)
  await guardActivations(db)
}

async function guardProcedures(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT, INSERT, UPDATE (latest_version_number) ON public.procedures TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedures_identity BEFORE UPDATE OF tenant_id, id, key, created_at ON public.procedures
      FOR EACH ROW EXECUTE FUNCTION public.refuse('A procedure keeps its id and key.')`.execute(db)
  await sql`
    CREATE TRIGGER procedures_numbers_rise BEFORE UPDATE ON public.procedures FOR EACH ROW
      WHEN (NEW.latest_version_number < OLD.latest_version_number)
      EXECUTE FUNCTION public.refuse('A version number is never given twice.')`.execute(db)
  await sql`
    CREATE TRIGGER procedures_kept BEFORE DELETE OR TRUNCATE ON public.procedures
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A procedure is never deleted.')`.execute(
    db,
  )
}

async function guardVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (status, definition, definition_hash, summary, purpose, tool_contracts,
      findings, revision, author_ids, updated_by, updated_at) ON public.procedure_versions TO stepwarden_app`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedure_versions_begin_as_draft BEFORE INSERT ON public.procedure_versions FOR EACH ROW
      WHEN (NEW.status <> 'draft')
      EXECUTE FUNCTION public.refuse('A new version is a draft; it becomes active by an update.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedure_versions_identity
      BEFORE UPDATE OF tenant_id, id, procedure_id, version_number, based_on_version_id, created_by, created_at
      ON public.procedure_versions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('A version keeps its id, number, procedure and origin.')`.execute(
    db,
  )
  // Also the step from draft to active carries no change: what goes live is what was stored and reviewed.
  await sql`
    CREATE TRIGGER procedure_versions_content BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN ((OLD.status <> 'draft' OR NEW.status <> 'draft')
        AND (OLD.definition, OLD.definition_hash, OLD.summary, OLD.purpose, OLD.tool_contracts, OLD.findings,
             OLD.revision, OLD.author_ids, OLD.updated_by, OLD.updated_at)
          IS DISTINCT FROM
            (NEW.definition, NEW.definition_hash, NEW.summary, NEW.purpose, NEW.tool_contracts, NEW.findings,
             NEW.revision, NEW.author_ids, NEW.updated_by, NEW.updated_at))
      EXECUTE FUNCTION public.refuse('Only a draft can be edited; make a new version instead.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedure_versions_authors BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN (NOT NEW.author_ids @> OLD.author_ids)
      EXECUTE FUNCTION public.refuse('Who has written a version stays its author.')`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_lifecycle BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN (OLD.status <> NEW.status
        AND NOT (OLD.status = 'draft' AND NEW.status = 'active')
        AND NOT (OLD.status = 'active' AND NEW.status = 'deprecated'))
      EXECUTE FUNCTION public.refuse('A version goes from draft to active to deprecated, and no other way.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER procedure_versions_kept BEFORE DELETE ON public.procedure_versions FOR EACH ROW
      WHEN (OLD.status <> 'draft')
      EXECUTE FUNCTION public.refuse('Only a draft can be deleted.')`.execute(db)
  await sql`
    CREATE TRIGGER procedure_versions_no_truncate BEFORE TRUNCATE ON public.procedure_versions
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('Versions are never deleted together.')`.execute(
    db,
  )
  await sql`GRANT SELECT, INSERT ON public.tool_contracts TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER tool_contracts_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.tool_contracts
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A contract that was pinned never changes.')`.execute(
    db,
  )
}

async function guardActivations(db: Kysely<unknown>): Promise<void> {
  await sql`
    GRANT SELECT, INSERT, UPDATE (active_until, deactivated_by) ON public.activations TO stepwarden_app`.execute(
    db,
  )
  // An exclusion constraint would need btree_gist. Only one range can be open (activations_one_open) and a range
  // begins open, so that two writers meet in that index; what is left to forbid is beginning before an earlier end.
  await sql`
    CREATE FUNCTION public.check_activation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.active_until IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation begins open and is closed later.';
      END IF;
      IF EXISTS (
        SELECT FROM public.activations a
        WHERE a.tenant_id = NEW.tenant_id AND a.procedure_id = NEW.procedure_id
          AND a.active_until > NEW.active_from
      ) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation begins at or after the end of every earlier one.';
      END IF;
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.status = 'active'
      ) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation names an active version.';
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER activations_in_order BEFORE INSERT ON public.activations
      FOR EACH ROW EXECUTE FUNCTION public.check_activation()`.execute(db)
  await sql`
    CREATE TRIGGER activations_identity
      BEFORE UPDATE OF tenant_id, id, procedure_id, version_id, active_from, activated_by ON public.activations
      FOR EACH ROW EXECUTE FUNCTION public.refuse('An activation keeps its version and its beginning.')`.execute(
    db,
  )
  await sql`
    CREATE TRIGGER activations_closed BEFORE UPDATE ON public.activations FOR EACH ROW
      WHEN (OLD.active_until IS NOT NULL)
      EXECUTE FUNCTION public.refuse('A past activation never changes.')`.execute(db)
  await sql`
    CREATE TRIGGER activations_kept BEFORE DELETE OR TRUNCATE ON public.activations
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('What was active is never forgotten.')`.execute(
    db,
  )
}
