import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/** Embedding models with the thresholds that were measured for them, and the vectors of versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.embedding_models (
      name text COLLATE "C" PRIMARY KEY,
      dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4096),
      threshold double precision NOT NULL CHECK (threshold BETWEEN -1 AND 1),
      margin double precision NOT NULL CHECK (margin BETWEEN 0 AND 2),
      calibrated boolean NOT NULL,
      is_current boolean NOT NULL DEFAULT false,
      UNIQUE (name, dimensions)
    )`.execute(db)
  await sql`
    CREATE UNIQUE INDEX embedding_models_one_current ON public.embedding_models (is_current)
      WHERE is_current`.execute(db)
  await sql`
    GRANT SELECT, INSERT, UPDATE (threshold, margin, calibrated, is_current)
      ON public.embedding_models TO stepwarden_app`.execute(db)

  // Several models share the column. One vector of a wrong length would make every comparison with it an error,
  // so its length must be the model's.
  await sql`
    CREATE TABLE public.version_embeddings (
      tenant_id text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      version_id text COLLATE "C" NOT NULL,
      text_hash text COLLATE "C" NOT NULL,
      embedding public.vector NOT NULL CHECK (public.vector_dims(embedding) BETWEEN 1 AND 4096),
      dimensions integer NOT NULL GENERATED ALWAYS AS (public.vector_dims(embedding)) STORED,
      PRIMARY KEY (tenant_id, model, version_id),
      FOREIGN KEY (tenant_id, version_id) REFERENCES public.procedure_versions (tenant_id, id) ON DELETE CASCADE,
      FOREIGN KEY (model, dimensions) REFERENCES public.embedding_models (name, dimensions)
    )`.execute(db)
  await sql`
    CREATE INDEX version_embeddings_version ON public.version_embeddings (tenant_id, version_id)`.execute(
    db,
  )
  await sql`
    ALTER TABLE public.version_embeddings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`.execute(
    db,
  )
  await sql`
    CREATE POLICY tenant_rows ON public.version_embeddings
      USING (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))
      WITH CHECK (tenant_id = (SELECT current_setting('stepwarden.tenant', true)))`.execute(db)
  await sql`
    GRANT SELECT, INSERT, DELETE, UPDATE (text_hash, embedding)
      ON public.version_embeddings TO stepwarden_app`.execute(db)
}
