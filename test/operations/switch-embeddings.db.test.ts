import { describe, expect, it } from 'vitest'
import { createContext } from '../../src/context.ts'
import { ModelFailed } from '../../src/openai/failure.ts'
import { operations } from '../../src/operations/registry.ts'
import { type Embedder, unmeasured } from '../../src/search/embedder.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { newModel, oldModel, wordDefinition } from '../support/switch.ts'

/** What the hosted model does before it answers; tests change it. */
let onEmbed: (texts: readonly string[]) => Promise<void> = async () => {}
const hostedEmbedder: Embedder = {
  ...newModel,
  async embed(texts) {
    await onEmbed(texts)
    return newModel.embed(texts)
  },
}
const { app, db } = await openTestApp({ tools: [], embedder: oldModel, hostedEmbedder })
const admin = callerOf()
await db.addTenant('acme')
const acme = callerOf('bob', undefined, 'acme')

async function draft(key: string, word: string, caller = admin) {
  const definition = wordDefinition(key, word)
  await operations.createProcedure.invoke(app, caller, { definition })
}

function activate(key: string, caller = admin) {
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  return operations.activateVersion.invoke(app, caller, version)
}

async function serve(key: string, word: string, caller = admin) {
  await draft(key, word, caller)
  await activate(key, caller)
}

function search(issue: string, caller = admin) {
  return operations.searchProcedures.invoke(app, caller, { issue })
}

function begin(model: string) {
  return operations.switchEmbeddings.invoke(app, admin, { model })
}

function carryOn() {
  return operations.continueEmbeddingSwitch.invoke(app, admin, {})
}

function status() {
  return operations.getEmbeddings.invoke(app, admin, {})
}

async function auditActions() {
  const rows = await app.database
    .forTenant('default')
    .kysely.selectFrom('audit_events')
    .select(['action', 'entity_id', 'details'])
    .where('entity_kind', '=', 'embedding_model')
    .orderBy('seq')
    .execute()
  return rows.map(({ action, entity_id }) => `${action} ${entity_id}`)
}

await serve('REFUND', 'refund')
await serve('PARCEL', 'parcel', acme)

describe('a switch of the embedding model', () => {
  it('begins with the offline model, and knows the other one', async () => {
    const { models, versionCount, advice } = await status()

    expect(versionCount).toBe(2)
    expect(advice).toEqual([])
    expect(models.find(({ isCurrent }) => isCurrent)).toMatchObject({
      model: 'old-v1',
      isOffline: true,
      vectorCount: 2,
    })
    expect(models.find(({ model }) => model === 'new-v1')).toMatchObject({
      isAvailable: true,
      vectorCount: 0,
    })
    await expect(begin('no-such-model')).rejects.toMatchObject({
      code: 'EMBEDDING_MODEL_UNKNOWN',
      message: expect.stringContaining('new-v1'),
    })
  })

  it('goes on for all tenants where it stopped, while search answers by the old model', async () => {
    await begin('new-v1')
    onEmbed = async () => {
      throw new ModelFailed('unavailable', 'The model server answers 500.')
    }

    await expect(carryOn()).rejects.toMatchObject({
      code: 'EMBEDDER_UNAVAILABLE',
      retryable: true,
      message:
        "The embedding model new-v1 gives no vectors: the model server answers 500. Try again later. The switch is begun, and 'stepwarden embeddings switch new-v1' carries it on.",
    })
    expect(await search('refund')).toMatchObject({ procedureKey: 'REFUND', model: 'old-v1' })
    expect((await status()).advice).toEqual([
      expect.stringMatching(/switch to new-v1 is under way; 2 of 2.*embeddings switch new-v1/),
    ])
  })

  it('stores vectors of both models with what is saved, and activation refuses without them', async () => {
    await draft('LOGIN', 'login')
    await expect(activate('LOGIN')).rejects.toMatchObject({
      code: 'VERSION_NOT_EMBEDDED',
      details: { models: ['new-v1'] },
    })

    onEmbed = async () => {}
    await operations.editDraft.invoke(app, admin, {
      procedureKey: 'LOGIN',
      versionNumber: 1,
      revision: 1,
      definition: wordDefinition('LOGIN', 'login'),
    })
    await activate('LOGIN')
    expect(await search('login')).toMatchObject({ procedureKey: 'LOGIN', model: 'old-v1' })
  })

  it('overwrites nothing that was edited while it was embedding', async () => {
    await draft('CHANGING', 'login')
    const { kysely } = app.database.forTenant('default')
    const { id } = await kysely
      .selectFrom('procedure_versions')
      .select('id')
      .where('procedure_key', '=', 'CHANGING')
      .executeTakeFirstOrThrow()
    await kysely.deleteFrom('version_embeddings').where('version_id', '=', id).execute()
    let isEdited = false
    onEmbed = async (texts) => {
      // The edit embeds as well, and other tenants come first.
      if (isEdited || !texts.some((text) => text.startsWith('login'))) return
      isEdited = true
      await operations.editDraft.invoke(app, admin, {
        procedureKey: 'CHANGING',
        versionNumber: 1,
        revision: 1,
        definition: wordDefinition('CHANGING', 'invoice'),
      })
    }

    await carryOn()
    onEmbed = async () => {}

    const rows = await kysely
      .selectFrom('version_embeddings')
      .select(['embedding', 'model'])
      .where('version_id', '=', id)
      .execute()
    // The fourth word is the invoice, which only the new model knows.
    expect(rows.find(({ model }) => model === 'new-v1')?.embedding).toBe('[0,0,0,1,0]')
  })

  it('moves the pointer when no version of any tenant lacks a vector', async () => {
    for (let isDone = false; !isDone; ) isDone = (await carryOn()).isDone

    expect(await search('refund')).toMatchObject({ procedureKey: 'REFUND', model: 'new-v1' })
    expect(await search('parcel', acme)).toMatchObject({ procedureKey: 'PARCEL', model: 'new-v1' })
    expect((await status()).advice).toEqual([])
    expect(await carryOn()).toMatchObject({ model: null, isDone: true })
    expect(await auditActions()).toEqual([
      'embeddings.switch_began new-v1',
      'embeddings.switched new-v1',
    ])
  })

  it('falls back on the offline model when the new one fails, and says so', async () => {
    onEmbed = async () => {
      throw new ModelFailed('key_rejected', 'The model server answers 401.')
    }
    expect(await search('refund')).toMatchObject({
      procedureKey: 'REFUND',
      model: 'old-v1',
      fellBack: true,
      minSimilarity: 0.5,
    })
    onEmbed = async () => {}
  })

  it('refuses to fall back on a model that lacks vectors, rather than find the wrong one', async () => {
    const other = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      { tools: [], embedder: { ...oldModel, model: 'third-v1' } },
    )
    await using _other = other

    await expect(
      operations.searchProcedures.invoke(other, admin, { issue: 'refund' }),
    ).rejects.toMatchObject({
      code: 'EMBEDDING_MODEL_DIFFERS',
      details: { current: 'new-v1', offline: 'third-v1' },
    })
    const { advice } = await operations.getEmbeddings.invoke(other, admin, {})
    expect(advice).toEqual([
      expect.stringContaining('which this process cannot ask'),
      expect.stringContaining('cannot fall back on third-v1: 4 of 4 versions'),
    ])
  })

  it('can be ended by switching back, and is begun once', async () => {
    await begin('old-v1')
    expect(await begin('old-v1')).toEqual({ model: 'old-v1', instead: null })
    expect(await begin('new-v1')).toEqual({ model: 'new-v1', instead: 'old-v1' })
    await carryOn()

    expect((await status()).models.find(({ isCurrent }) => isCurrent)?.model).toBe('new-v1')
    expect(await auditActions()).toHaveLength(5)
  })

  it('makes what is lacking of the offline model as well, also by a switch to the model in use', async () => {
    const { kysely } = app.database.forTenant('default')
    await kysely.deleteFrom('version_embeddings').where('model', '=', 'old-v1').execute()
    expect((await status()).advice).toEqual([
      expect.stringMatching(/cannot fall back on old-v1: 3 of 4.*embeddings switch new-v1/),
    ])

    await begin('new-v1')
    for (let isDone = false; !isDone; ) isDone = (await carryOn()).isDone

    expect((await status()).advice).toEqual([])
  })

  it('that ends while a search waits for its vector makes the search begin again', async () => {
    let isMoved = false
    onEmbed = async () => {
      if (isMoved) return
      isMoved = true
      await begin('old-v1')
      for (let isDone = false; !isDone; ) isDone = (await carryOn()).isDone
      // From now on nothing needs a vector of the model that the search has asked.
      await serve('BOX', 'refund parcel')
    }

    // This one has not seen the model fail, and does not let it rest.
    await using other = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      { tools: [], embedder: oldModel, hostedEmbedder },
    )

    const issue = 'refund parcel'
    const selection = await operations.searchProcedures.invoke(other, admin, { issue })

    expect(selection).toMatchObject({ procedureKey: 'BOX', model: 'old-v1', fellBack: false })
    expect(isMoved).toBe(true)
    onEmbed = async () => {}
    await begin('new-v1')
    for (let isDone = false; !isDone; ) isDone = (await carryOn()).isDone
  })

  it('is for admins', async () => {
    const agent = callerOf('ann', ['agent'])
    for (const name of ['switchEmbeddings', 'calibrateEmbeddings'] as const) {
      await expect(operations[name].invoke(app, agent, { model: 'new-v1' })).rejects.toMatchObject({
        code: 'ROLE_MISSING',
      })
    }
  })
})

describe('a model that was never measured', () => {
  it('is switched to only by those who say so, and then the way back is named', async () => {
    await using fresh = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      {
        tools: [],
        embedder: oldModel,
        hostedEmbedder: { ...newModel, model: 'unmeasured-v1', thresholds: unmeasured },
      },
    )
    const begins = (more: Record<string, unknown> = {}) =>
      operations.switchEmbeddings.invoke(fresh, admin, { model: 'unmeasured-v1', ...more })
    const adviceNow = async () => (await operations.getEmbeddings.invoke(fresh, admin, {})).advice

    await expect(begins()).rejects.toMatchObject({
      code: 'EMBEDDING_MODEL_UNMEASURED',
      message: expect.stringContaining("'stepwarden embeddings calibrate unmeasured-v1'"),
    })
    await begins({ unmeasured: true })
    expect(await adviceNow()).toEqual([
      expect.stringMatching(/under way.*or 'stepwarden embeddings switch new-v1' to give it up/),
      expect.stringContaining('cannot ask'),
    ])
    // What was begun goes on without being asked again.
    await begins()
    for (let isDone = false; !isDone; ) {
      isDone = (await operations.continueEmbeddingSwitch.invoke(fresh, admin, {})).isDone
    }

    expect(await adviceNow()).toEqual([
      expect.stringMatching(
        /never measured.*embeddings calibrate.*'stepwarden embeddings switch old-v1' to go back/,
      ),
    ])
    expect(
      await operations.searchProcedures.invoke(fresh, admin, { issue: 'refund' }),
    ).toMatchObject({ decision: 'ambiguous', calibrated: false })
    // The model in use may be switched to, to have made what it lacks.
    await begins()
    await operations.continueEmbeddingSwitch.invoke(fresh, admin, {})
    await begin('new-v1')
    for (let isDone = false; !isDone; ) isDone = (await carryOn()).isDone
  })
})

describe('a version that is saved while a switch begins', () => {
  it('is refused, to be saved again', async () => {
    let isBegun = false
    onEmbed = async () => {
      if (isBegun) return
      isBegun = true
      await begin('ngram-512-v1')
    }

    await expect(draft('LATE', 'late')).rejects.toMatchObject({
      code: 'EMBEDDING_MODEL_CHANGED',
      retryable: true,
    })
    onEmbed = async () => {}
    await draft('LATE', 'late')
    await begin('new-v1')
  })
})

describe('calibration', () => {
  it('says how many examples are needed', async () => {
    await expect(
      operations.calibrateEmbeddings.invoke(app, admin, { model: 'new-v1' }),
    ).rejects.toMatchObject({
      code: 'EXAMPLES_TOO_FEW',
      details: { match: 0, noMatch: 0, neededMatch: 20, neededNoMatch: 10, leftOut: 0 },
    })
  })

  it('measures a model on the examples, and search goes by that from then on', async () => {
    const words = ['refund', 'parcel', 'login'] as const
    const more = (word: string) => ({
      examples: {
        match: Array.from({ length: 8 }, (_, index) => `${word} ${index}`),
        noMatch: Array.from(
          { length: 4 },
          (_, index) => `about ${word.length} ${word[0]} ${index}`,
        ).concat('login 1', 'what they all have', 'login 2'),
      },
    })
    const carol = callerOf('carol', undefined, 'calibrated')
    await db.addTenant('calibrated')
    for (const word of words) {
      const key = word.toUpperCase()
      const definition = wordDefinition(key, word, more(word))
      await operations.createProcedure.invoke(app, carol, { definition })
      const request = { procedureKey: key }
      const { version } = await operations.getProcedure.invoke(app, carol, request)
      // What is both a match and none of LOGIN goes there.
      const acknowledge = version.findings.flatMap(({ id }) => id ?? [])
      await operations.activateVersion.invoke(app, carol, {
        ...request,
        versionNumber: 1,
        seenActive: null,
        acknowledge,
      })
    }
    const result = await operations.calibrateEmbeddings.invoke(app, carol, { model: 'new-v1' })

    expect(result).toMatchObject({
      isStored: true,
      matchCount: 24,
      noMatchCount: 13,
      // Of the three texts that all have, two are matches of LOGIN; each stands there three times.
      leftOut: { matchedElsewhere: 2, repeated: 6, beyondLimit: 0 },
      precision: 1,
    })
    await using fresh = await createContext(
      db.database,
      { tenantId: 'default', logLevel: 'silent' },
      { tools: [], embedder: oldModel, hostedEmbedder: newModel },
    )
    const { minSimilarity, margin, model } = await operations.searchProcedures.invoke(
      fresh,
      carol,
      { issue: 'refund' },
    )
    expect(model).toBe('new-v1')
    expect([minSimilarity, margin]).toEqual([result.minSimilarity, result.margin])
    const { models } = await status()
    expect(models.find(({ model }) => model === 'new-v1')).toMatchObject({ minSimilarity, margin })
  })
})
