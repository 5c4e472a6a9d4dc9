import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * The texts that a version was written as, with their comments; null where it came as values. They mean nothing to a run:
 * docs/decisions/0014-diff.md.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE public.procedure_versions
      ADD COLUMN source text CHECK (octet_length(source) <= 262144),
      ADD COLUMN scenarios_source text CHECK (octet_length(scenarios_source) <= 1048576)`.execute(
    db,
  )
  await sql`
    GRANT UPDATE (source, scenarios_source) ON public.procedure_versions TO stepwarden_app`.execute(
    db,
  )
  // Frozen like what they say, also in the step from draft to active.
  await sql`
    CREATE TRIGGER procedure_versions_source BEFORE UPDATE ON public.procedure_versions FOR EACH ROW
      WHEN ((OLD.status <> 'draft' OR NEW.status <> 'draft')
        AND (OLD.source, OLD.scenarios_source) IS DISTINCT FROM (NEW.source, NEW.scenarios_source))
      EXECUTE FUNCTION public.refuse('Only the text of a draft can be changed; make a new version instead.')`.execute(
    db,
  )
}
