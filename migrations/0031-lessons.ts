import { type Kysely, sql } from 'kysely'

export const minCodeVersion = '0.1.0'

/**
 * What agents have learned, as lines of a task tag: docs/decisions/0024-learning.md. Nothing refers to these tables, and
 * nothing that runs, searches or activates reads them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepSets(db)
  await keepLessons(db)
  await keepShowings(db)
  await tellOfSets(db)
}

async function keepSets(db: Kysely<unknown>): Promise<void> {
  // Whoever changes lines of a tag locks its row first, and counts the revision up last.
  await sql`
    CREATE TABLE public.lesson_sets (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      task_tag text COLLATE "C" NOT NULL CHECK (char_length(task_tag) BETWEEN 1 AND 200),
      revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
      entry_count integer NOT NULL DEFAULT 0 CHECK (entry_count BETWEEN 0 AND 200),
      updated_at timestamptz(3),
      PRIMARY KEY (tenant_id, task_tag)
    )`.execute(db)
  await ofTenants(db, 'public.lesson_sets')
  await sql`
    GRANT SELECT, INSERT (tenant_id, task_tag), UPDATE (revision, updated_at)
      ON public.lesson_sets TO stepwarden_app`.execute(db)
}

async function keepLessons(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.lessons (
      tenant_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      task_tag text COLLATE "C" NOT NULL,
      -- Breaks ties between lines of one moment.
      seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
      kind text NOT NULL CHECK (kind IN ('helpful', 'harmful')),
      content text COLLATE "C" NOT NULL CHECK (char_length(content) BETWEEN 1 AND 500 AND content !~ '[\\n\\r]'),
      uses integer NOT NULL DEFAULT 0 CHECK (uses >= 0),
      last_score double precision CHECK (last_score BETWEEN 0 AND 1),
      credit double precision NOT NULL DEFAULT 0 CHECK (credit BETWEEN 0 AND credited_runs),
      credited_runs integer NOT NULL DEFAULT 0 CHECK (credited_runs >= 0),
      is_by_hand boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL,
      model text COLLATE "C",
      embedding public.vector CHECK (public.vector_dims(embedding) BETWEEN 1 AND 4096),
      dimensions integer GENERATED ALWAYS AS (public.vector_dims(embedding)) STORED,
      PRIMARY KEY (tenant_id, id),
      UNIQUE (tenant_id, task_tag, kind, content),
      FOREIGN KEY (tenant_id, task_tag) REFERENCES public.lesson_sets (tenant_id, task_tag),
      FOREIGN KEY (model, dimensions) REFERENCES public.embedding_models (name, dimensions),
      CHECK ((model IS NULL) = (embedding IS NULL))
    )`.execute(db)
  await ofTenants(db, 'public.lessons')
  await sql`
    GRANT SELECT, DELETE,
      INSERT (tenant_id, id, task_tag, kind, content, uses, last_score, credit, credited_runs, is_by_hand, created_at, model,
        embedding),
      UPDATE (kind, content, uses, last_score, credit, credited_runs, is_by_hand, model, embedding)
      ON public.lessons TO stepwarden_app`.execute(db)
}

/** Which lines a run was shown: only those can earn credit by it, and once. */
async function keepShowings(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE public.lesson_showings (
      tenant_id text COLLATE "C" NOT NULL REFERENCES public.tenants (id),
      id text COLLATE "C" NOT NULL,
      task_tag text COLLATE "C" NOT NULL,
      principal_id text COLLATE "C" NOT NULL,
      lesson_ids text[] COLLATE "C" NOT NULL CHECK (cardinality(lesson_ids) BETWEEN 1 AND 200),
      shown_at timestamptz(3) NOT NULL,
      PRIMARY KEY (tenant_id, id)
    )`.execute(db)
  await ofTenants(db, 'public.lesson_showings')
  await sql`GRANT SELECT, INSERT, DELETE ON public.lesson_showings TO stepwarden_app`.execute(db)
}

/** A tag that has really changed: its lines are counted here, so that nobody can say another number. */
async function tellOfSets(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION public.count_lessons() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      SELECT count(*) INTO NEW.entry_count FROM public.lessons l
        WHERE l.tenant_id = NEW.tenant_id AND l.task_tag = NEW.task_tag;
      RETURN NEW;
    END
    $$`.execute(db)
  await sql`
    CREATE FUNCTION public.tell_lessons() RETURNS trigger LANGUAGE plpgsql
      SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
      PERFORM public.tell_webhooks(NEW.tenant_id, 'lessons.updated', 'lessons:' || NEW.task_tag, NEW.updated_at,
        jsonb_build_object('taskTag', NEW.task_tag, 'entryCount', NEW.entry_count, 'revision', NEW.revision));
      RETURN NULL;
    END
    $$`.execute(db)
  await sql`
    CREATE TRIGGER lesson_sets_counted BEFORE UPDATE OF revision ON public.lesson_sets
      FOR EACH ROW EXECUTE FUNCTION public.count_lessons()`.execute(db)
  await sql`
    CREATE TRIGGER lesson_sets_told AFTER UPDATE OF revision ON public.lesson_sets
      FOR EACH ROW WHEN (NEW.revision > OLD.revision) EXECUTE FUNCTION public.tell_lessons()`.execute(
    db,
  )
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
