import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Escalations of which it is open whether a write was made: looked at before each write, and few at any time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX escalations_unknown ON public.escalations (tenant_id)
      WHERE status <> 'resolved'
        AND reason_code IN ('outcome_unknown', 'recovery_exhausted', 'internal_error')`.execute(db)
}
