import type { TestDatabase } from './database.ts'

/** Fills a tenant with experiences of one agent, with vectors that the server makes: the same in every run. */
export async function addManyExperiences(
  db: TestDatabase,
  tenantId: string,
  { model, dimensions, count }: { model: string; dimensions: number; count: number },
): Promise<void> {
  await db.asOwner(tenantId, async (client) => {
    await client.query(
      `INSERT INTO embedding_models (name, dimensions, threshold, margin, calibrated) VALUES ($1, $2, 0.1, 0, true)
       ON CONFLICT DO NOTHING`,
      [model, dimensions],
    )
    await client.query('SELECT setseed(0.5)')
    await client.query(
      `INSERT INTO experiences (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash,
         approach_hash, outcome, outcome_type, score, scored_by, recorded_by, created_at, embedded_with)
       SELECT $1, i, 'bot', i, i, '[{}]', i, i, 'Done', 'success', 0.5 + random() / 2, 'given', '{}', now(), $3
       FROM (SELECT 'exp_' || lpad(n::text, 9, '0') AS i FROM generate_series(1, $2::integer) n) made`,
      [tenantId, count, model],
    )
    await client.query(
      `INSERT INTO experience_embeddings (tenant_id, model, experience_id, text_hash, embedding)
       SELECT $1, $2, 'exp_' || lpad(n::text, 9, '0'), 'h', (
         SELECT array_agg(random() - 0.5)::real[]::vector FROM generate_series(1, $3::integer) WHERE n > 0)
       FROM generate_series(1, $4::integer) n`,
      [tenantId, model, dimensions, count],
    )
  })
}
