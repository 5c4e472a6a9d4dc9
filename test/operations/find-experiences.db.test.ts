import { expect, it, vi } from 'vitest'
import { experienceIndexName } from '../../src/db/queries/experience-indexes.ts'
import { scanExperiences } from '../../src/db/queries/experience-search.ts'
import { rankExperiences } from '../../src/learning/experience-rank.ts'
import { findByIndex } from '../../src/operations/find-experiences.ts'
import { toUnitLength } from '../../src/search/embedder.ts'
import { openTestDatabase } from '../support/database.ts'

vi.setConfig({ testTimeout: 60_000 })

const db = await openTestDatabase()
const model = 'made'
const dimensions = 8

/** The same numbers in every run. */
let seed = 7
function chance(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}
const direction = () =>
  toUnitLength(Float32Array.from({ length: dimensions }, () => chance() - 0.5))

it('an index decides as the scan does, or says that it does not', async () => {
  const { kysely } = db.database.forTenant('default')
  await kysely
    .insertInto('embedding_models')
    .values({ name: model, dimensions, threshold: 0, margin: 0, calibrated: false })
    .execute()
  const ids = Array.from({ length: 600 }, (_, index) => `exp_${String(index).padStart(4, '0')}`)
  await kysely
    .insertInto('experiences')
    .values(
      ids.map((id, index) => ({
        ...{ tenant_id: 'default', id, agent_id: index % 3 === 0 ? 'odd' : 'bot' },
        ...{ situation: id, situation_hash: id, action_sequence: '[{}]', action_hash: id },
        ...{ approach_hash: id, outcome: 'Done', outcome_type: 'success' as const },
        ...{ score: Math.round(chance() * 100) / 100, scored_by: 'given' as const },
        ...{ recorded_by: '{}', created_at: new Date() },
      })),
    )
    .execute()
  await kysely
    .insertInto('experience_embeddings')
    .values(
      ids.map((id) => ({
        ...{ tenant_id: 'default', model, experience_id: id, text_hash: id },
        embedding: `[${[...direction()].join(',')}]`,
      })),
    )
    .execute()
  await db.asOwner('default', (client) =>
    client.query(
      `CREATE INDEX ${experienceIndexName(model)} ON experience_embeddings
       USING hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops) WHERE model = '${model}'`,
    ),
  )

  let decided = 0
  for (let round = 0; round < 20; round += 1) {
    const search = {
      model,
      vector: direction(),
      outcomeType: 'success' as const,
      ...(round % 2 === 0 && { agentIds: ['bot'] }),
    }
    const asked = { minSimilarity: 0.3, topK: 3 }
    const exact = rankExperiences(
      await scanExperiences(db.database.forTenant('default'), search, asked),
      asked,
    )
    const found = await findByIndex(db.database.forTenant('default'), search, asked)
    if (found === undefined) continue
    decided += 1
    expect(found.map(({ id }) => id)).toEqual(exact.map(({ id }) => id))
  }
  expect(decided).toBeGreaterThan(10)
})
