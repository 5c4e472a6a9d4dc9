import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** People whom an issuer of tokens has let in: docs/decisions/0022-access.md. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // When the newest token that was seen of somebody was issued; null for whom an admin has made.
  await sql`ALTER TABLE public.principals ADD COLUMN token_issued_at timestamptz(3)`.execute(db)
  await sql`
    ALTER TABLE public.principals ADD CONSTRAINT principals_issued
      CHECK (token_issued_at IS NULL OR (id LIKE 'oidc:%' AND kind <> 'ai'))`.execute(db)
  await sql`GRANT UPDATE (token_issued_at) ON public.principals TO stepwarden_app`.execute(db)
  // Else whom an admin has made could be taken over by a token, or an old token bring back what was taken away.
  await sql`
    CREATE TRIGGER principals_source BEFORE UPDATE OF token_issued_at ON public.principals FOR EACH ROW
      WHEN ((OLD.token_issued_at IS NULL) <> (NEW.token_issued_at IS NULL)
        OR NEW.token_issued_at < OLD.token_issued_at)
      EXECUTE FUNCTION public.refuse('Who comes with tokens does so for ever, and older ones say nothing new.')`.execute(
    db,
  )
  await sql`
    CREATE FUNCTION public.refuse_issued_key() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      -- Whoever an old snapshot does not show is none that is known to have come without.
      IF NOT EXISTS (SELECT FROM public.principals p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.principal_id AND p.token_issued_at IS NULL) THEN
        PERFORM public.refuse_row('api_keys', 'api_keys_of_admins', 'restrict_violation',
          'Keys are for whom an admin has made, not for who comes with tokens.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER api_keys_issued BEFORE INSERT ON public.api_keys
      FOR EACH ROW EXECUTE FUNCTION public.refuse_issued_key()`.execute(db)
}
