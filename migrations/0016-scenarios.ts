import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** The scenarios of each version. docs/decisions/0010-scenarios.md says what stands in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.scenarios (
      tenant_id text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      position integer NOT NULL CHECK (position >= 1),
      scenario jsonb NOT NULL CHECK (jsonb_typeof(scenario -> 'expect') = 'object'),
      name text COLLATE "C" NOT NULL GENERATED ALWAYS AS (scenario ->> 'name') STORED,
      PRIMARY KEY (tenant_id, version_id, position),
      UNIQUE (tenant_id, version_id, name),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id) ON DELETE CASCADE
    )`.execute(db)
  await sql`
    ALTER TABLE public.scenarios ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(db)
  await sql`
    CREATE POLICY tenant_rows ON public.scenarios
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  // A list is replaced whole, so that no row is ever updated.
  await sql`GRANT SELECT, INSERT, DELETE ON public.scenarios TO stepwarden_app`.execute(db)
  await guardScenarios(db)
}

async function guardScenarios(db: Kysely<unknown>): Promise<void> {
  // The lock makes a writer and an activation wait for each other: whoever comes second sees what the first has done. A
  // version that is not there is a draft that is being deleted, whose rows go with it; an insert fails at its foreign key.
  await sql`
    CREATE FUNCTION public.guard_scenario() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      changed public.scenarios;
      status text;
    BEGIN
      changed := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
      SELECT v.status INTO status FROM public.procedure_versions v
        WHERE v.tenant_id = changed.tenant_id AND v.id = changed.version_id
        FOR SHARE;
      IF status <> 'draft' THEN
        PERFORM public.refuse_row('scenarios', 'scenarios_of_draft', 'restrict_violation',
          'Only the scenarios of a draft can be changed; make a new version instead.');
      END IF;
      RETURN changed;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER scenarios_of_draft BEFORE INSERT OR DELETE ON public.scenarios
      FOR EACH ROW EXECUTE FUNCTION public.guard_scenario()`.execute(db)
  await sql`
    CREATE TRIGGER scenarios_replaced BEFORE UPDATE OR TRUNCATE ON public.scenarios
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('Scenarios are replaced, never updated.')`.execute(
    db,
  )
}
