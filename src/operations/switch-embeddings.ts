import { z } from 'zod'
import { lockEmbeddingModels, updateSwitch } from '../db/queries/embedding-models.ts'
import { ServiceError } from '../domain/errors.ts'
import { defineAdministration } from './define.ts'
import { getEmbedder } from './embedding-models.ts'

/**
 * Begins a switch: from now on versions are also saved with a vector of the new model, and `continueEmbeddingSwitch`
 * makes those of the versions that are there. Search goes on with the model in use until all are made.
 *
 * Beginning the same switch again changes nothing; another model takes the place of one that is under way; the model in
 * use ends it, and has vectors made that it lacks. A model that was never measured would select nothing, so it is only
 * switched to by those who say so.
 */
export const switchEmbeddings = defineAdministration({
  name: 'switchEmbeddings',
  summary: 'Move search to another embedding model, or make vectors that are lacking',
  input: z.strictObject({
    model: z.string().min(1),
    unmeasured: z
      .boolean()
      .default(false)
      .describe('Switch to a model that was never measured as well, and so selects nothing'),
  }),
  output: z.object({ model: z.string(), instead: z.string().nullable() }),
  errors: ['EMBEDDING_MODEL_UNKNOWN', 'EMBEDDING_MODEL_UNMEASURED'],
  roles: ['admin'],
  concernsAllTenants: true,
  async change({ app }, transaction, { model, unmeasured }) {
    getEmbedder(app, model)
    const models = await lockEmbeddingModels(transaction, 'update')
    const current = models.find(({ isCurrent }) => isCurrent)?.name ?? null
    const target = models.find(({ switchingSince }) => switchingSince !== null)?.name ?? null
    const output = { model, instead: target === model ? null : target }
    if (target === model) return { output, audit: [] }
    const isMeasured = models.find(({ name }) => name === model)?.calibrated ?? false
    if (!isMeasured && !unmeasured && model !== current) {
      throw new ServiceError('EMBEDDING_MODEL_UNMEASURED', { model })
    }
    await updateSwitch(transaction, model, new Date(app.clock.now()))
    return {
      output,
      audit: [
        {
          action: 'embeddings.switch_began',
          entityKind: 'embedding_model',
          entityId: model,
          details: { from: current, instead: output.instead },
        },
      ],
    }
  },
})
