import { describe, expect, it } from 'vitest'
import { createContext } from '../../src/context.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { fakeEmbedder } from '../support/fake-embedder.ts'

const embedder = fakeEmbedder({ refund: 3, late: 4, parcel: 5, login: 5, card: 1 })
const { app, db } = await openTestApp({ tools: [], embedder })
const admin = callerOf()

function definition(key: string, name: string, more: Record<string, unknown> = {}) {
  return {
    key,
    name,
    description: 'About it',
    issuePatterns: [],
    steps: [{ key: 'note', action: 'Note', compute: { n: '1' } }],
    ...more,
  }
}

async function serve(
  key: string,
  name: string,
  more: Record<string, unknown> = {},
  caller = admin,
) {
  await operations.createProcedure.invoke(app, caller, { definition: definition(key, name, more) })
  await operations.activateVersion.invoke(app, caller, {
    procedureKey: key,
    versionNumber: 1,
    seenActive: null,
  })
}

function search(issue: string, more: Record<string, unknown> = {}, caller = admin) {
  return operations.searchProcedures.invoke(app, caller, { issue, ...more })
}

function keysOf(selection: Awaited<ReturnType<typeof search>>) {
  return selection.candidates.map(({ procedureKey }) => procedureKey)
}

await serve('REFUND', 'refund')
await serve('LATE_REFUND', 'refund late', { category: 'payments' })
await serve('PARCEL', 'parcel', { category: 'shipping', issuePatterns: ['Where is my box', 'abc'] })
await serve('INSIDE', 'login', { internal: true })

describe('search', () => {
  it('selects the best when it is similar enough and far enough ahead', async () => {
    const selection = await search('my parcel')

    expect(selection).toMatchObject({
      decision: 'selected',
      procedureKey: 'PARCEL',
      versionNumber: 1,
      lead: 1,
    })
    expect(selection.similarity).toBeCloseTo(1)
  })

  it('says ambiguous when the second is too near, also when one candidate was asked for', async () => {
    // 1 like REFUND, and 3 / √10 = .95 like CARD_REFUND.
    await serve('CARD_REFUND', 'refund card')

    const selection = await search('refund', { topK: 1 })

    expect(selection).toMatchObject({ decision: 'ambiguous', procedureKey: null })
    expect(selection.candidates).toHaveLength(1)
    expect(selection.lead).toBeLessThan(0.1)
  })

  it('finds nothing below the threshold, which a request may only raise', async () => {
    expect(await search('hello there')).toMatchObject({ decision: 'no_match', procedureKey: null })
    expect(await search('refund late', { minSimilarity: 0 })).toMatchObject({ minSimilarity: 0.5 })
    expect(await search('my parcel is late', { minSimilarity: 0.9 })).toMatchObject({
      decision: 'no_match',
    })
  })

  it('looks only in the category that is named', async () => {
    expect(keysOf(await search('refund late', { category: 'shipping' }))).toEqual(['PARCEL'])
  })

  it('never finds what is internal', async () => {
    expect(keysOf(await search('login', { topK: 20 }))).not.toContain('INSIDE')
  })

  it('makes a procedure a candidate whose pattern stands in issue or context, and selects nothing by it', async () => {
    const selection = await search('hello there', {
      topK: 1,
      context: { note: ['WHERE IS MY BOX?'] },
    })

    expect(selection).toMatchObject({
      decision: 'ambiguous',
      procedureKey: null,
      candidates: [{ procedureKey: 'PARCEL', literal: true, similarity: 0 }],
    })
    // Three characters stand in too many texts.
    expect(await search('abc abc')).toMatchObject({ decision: 'no_match' })
  })

  it('sees drafts and deprecated versions not at all', async () => {
    for (let number = 2; number <= 6; number += 1) {
      await operations.createVersion.invoke(app, admin, { procedureKey: 'PARCEL' })
      await operations.activateVersion.invoke(app, admin, {
        procedureKey: 'PARCEL',
        versionNumber: number,
        seenActive: number - 1,
      })
    }
    await operations.createVersion.invoke(app, admin, { procedureKey: 'PARCEL' })

    const selection = await search('parcel', { topK: 20 })

    expect(selection).toMatchObject({ decision: 'selected', versionNumber: 6 })
    expect(keysOf(selection).filter((key) => key === 'PARCEL')).toHaveLength(1)
  })

  it('does not depend on other tenants', async () => {
    const before = await search('refund late', { topK: 20 })
    await db.addTenant('acme')
    const acme = callerOf('bob', undefined, 'acme')
    await serve('REFUND', 'refund late', {}, acme)
    await serve('OTHER', 'refund late', {}, acme)

    expect(await search('refund late', { topK: 20 })).toEqual(before)
    expect(keysOf(await search('refund late', { topK: 20 }, acme)).sort()).toEqual([
      'OTHER',
      'REFUND',
    ])
  })

  it('leaves the choice to the agent, who may name the procedure', async () => {
    const ambiguous = await operations.resolveTicket.invoke(app, admin, {
      ticket: { text: 'refund' },
    })
    const named = await operations.resolveTicket.invoke(app, admin, {
      ticket: { text: 'refund' },
      procedureKey: 'REFUND',
    })

    expect(ambiguous).toMatchObject({
      selection: { decision: 'ambiguous' },
      execution: null,
      triageId: null,
    })
    expect(named.execution).toMatchObject({ procedureKey: 'REFUND', outcome: 'resolved' })
  })

  it('refuses a process whose model is not the one of the vectors', async () => {
    const config = { tenantId: 'default', logLevel: 'silent' } as const
    await using other = await createContext(db.database, config, {
      tools: [],
      embedder: fakeEmbedder({ other: 1 }, { model: 'other-v1' }),
    })

    await expect(
      operations.searchProcedures.invoke(other, admin, { issue: 'refund' }),
    ).rejects.toMatchObject({ code: 'EMBEDDING_MODEL_DIFFERS' })
  })
})
