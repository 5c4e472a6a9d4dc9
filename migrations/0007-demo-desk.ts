import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** What the tools of the demo's payment desk have done, so that it survives a restart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.desk_refunds (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      transaction_id text COLLATE "C" NOT NULL,
      amount numeric(14, 2) NOT NULL CHECK (amount > 0),
      currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
      state text NOT NULL,
      eta_business_days integer CHECK (eta_business_days >= 0),
      idempotency_key text COLLATE "C" NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, idempotency_key)
    )`.execute(db)
  // Two runs for one transaction at once cannot both refund it.
  await sql`
    CREATE UNIQUE INDEX desk_refunds_one_standing ON public.desk_refunds (tenant_id, transaction_id)
      WHERE state NOT IN ('failed', 'cancelled')`.execute(db)
  await sql`
    CREATE TABLE public.desk_messages (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      idempotency_key text COLLATE "C" NOT NULL,
      message text NOT NULL CHECK (message <> ''),
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, idempotency_key)
    )`.execute(db)
  for (const table of ['public.desk_refunds', 'public.desk_messages']) {
    await sql`ALTER TABLE ${sql.table(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
      db,
    )
    await sql`
      CREATE POLICY tenant_rows ON ${sql.table(table)}
        USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
        WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
    await sql`GRANT SELECT, INSERT ON ${sql.table(table)} TO stepwarden_app`.execute(db)
  }
}
