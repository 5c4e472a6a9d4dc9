import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Sensitive values, apart from the rows that they belong to, and when a case is to be done.
 * docs/decisions/0009-sensitive-values.md says what stands in the rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // There is no foreign key to the execution, and no check: the statement that writes a value selects from the locked row
  // of its execution, and a refusal by a check would quote the value.
  await sql`
    CREATE TABLE public.sensitive_values (
      tenant_id text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL,
      ordinal integer NOT NULL,
      part text COLLATE "C" NOT NULL,
      pointer text COLLATE "C" NOT NULL,
      is_whole boolean NOT NULL,
      digest text COLLATE "C" NOT NULL,
      salt text COLLATE "C" NOT NULL,
      value text COLLATE "C" NOT NULL,
      PRIMARY KEY (tenant_id, execution_id, ordinal, part, pointer)
    )`.execute(db)
  await sql`ALTER TABLE public.sensitive_values ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.sensitive_values
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`GRANT SELECT, INSERT ON public.sensitive_values TO stepwarden_app`.execute(db)
  await sql`
    CREATE TRIGGER sensitive_values_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON public.sensitive_values
      FOR EACH STATEMENT EXECUTE FUNCTION public.refuse('A sensitive value never changes.')`.execute(
    db,
  )

  await sql`
    ALTER TABLE public.executions
      ADD COLUMN due_at timestamptz(3),
      ADD COLUMN due_warn_at timestamptz(3)`.execute(db)
  await sql`
    CREATE TRIGGER executions_due_date AFTER UPDATE OF due_at, due_warn_at ON public.executions FOR EACH ROW
      EXECUTE FUNCTION public.refuse('What an execution was started with never changes.')`.execute(
    db,
  )
}
