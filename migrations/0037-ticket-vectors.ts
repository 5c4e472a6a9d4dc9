import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * Tickets that no playbook fitted, and those of runs that were handed over, as a model sees them: so that gaps are found
 * without embedding the same words again. A vector says of a text what it was about, and goes with it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.ticket_embeddings (
      tenant_id text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      escalation_id text COLLATE "C" NOT NULL,
      text_hash text COLLATE "C" NOT NULL,
      embedding public.vector NOT NULL CHECK (public.vector_dims(embedding) BETWEEN 1 AND 4096),
      dimensions integer NOT NULL GENERATED ALWAYS AS (public.vector_dims(embedding)) STORED,
      PRIMARY KEY (tenant_id, model, escalation_id),
      FOREIGN KEY (tenant_id, escalation_id) REFERENCES public.escalations (tenant_id, id),
      FOREIGN KEY (model, dimensions) REFERENCES public.embedding_models (name, dimensions)
    )`.execute(db)
  await sql`
    CREATE INDEX ticket_embeddings_escalation ON public.ticket_embeddings (tenant_id, escalation_id)`.execute(
    db,
  )
  await sql`ALTER TABLE public.ticket_embeddings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.ticket_embeddings
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`GRANT SELECT, INSERT ON public.ticket_embeddings TO stepwarden_app`.execute(db)
  await forgetVectors(db)
}

/** An erasure holds the escalation, so that whoever stores a vector has done so before, or finds no ticket any more. */
async function forgetVectors(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.guard_ticket_vector() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      PERFORM FROM public.escalations x
        WHERE x.tenant_id = NEW.tenant_id AND x.id = NEW.escalation_id AND x.ticket IS NOT NULL FOR KEY SHARE;
      IF NOT FOUND THEN
        PERFORM public.refuse_row('ticket_embeddings', 'ticket_embeddings_of_tickets', 'restrict_violation',
          'A vector is kept of a ticket that is there.');
      END IF;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER ticket_embeddings_of_tickets BEFORE INSERT ON public.ticket_embeddings
      FOR EACH ROW EXECUTE FUNCTION public.guard_ticket_vector()`.execute(db)
  await sql`
    CREATE FUNCTION public.forget_ticket_vectors() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
      erased CONSTANT jsonb := to_jsonb(NEW);
    BEGIN
      DELETE FROM public.ticket_embeddings v USING public.escalations x
        WHERE v.tenant_id = NEW.tenant_id AND v.escalation_id = x.id AND x.tenant_id = NEW.tenant_id
          AND (x.id = erased ->> 'escalation_id' OR x.execution_id = erased ->> 'execution_id');
      RETURN NULL;
    END
    $$`.execute(db)
  for (const table of ['erased_records', 'erased_tickets']) {
    await sql`
      CREATE TRIGGER ${sql.id(`${table}_forget_vectors`)} AFTER INSERT ON ${sql.table(`public.${table}`)}
        FOR EACH ROW EXECUTE FUNCTION public.forget_ticket_vectors()`.execute(db)
  }
}
