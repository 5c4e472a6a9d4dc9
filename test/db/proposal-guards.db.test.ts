import { beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import type { RawClient } from '../support/database.ts'
import { plainEvidence, proposePlain } from '../support/proposals.ts'

const { app, db } = await openTestApp({ tools: [] })
const ann = callerOf('ann')
const human = `'{"id":"ann","kind":"human"}'`

/** What a hand-written statement is refused with: no privilege, a guard, or a constraint. */
const refusal = /^(42501|23001|23503|23505|23514|428C9)$/
const roles = ['application', 'owner'] as const

let proposalId = ''
let count = 0
beforeEach(async () => {
  count += 1
  const proposed = await proposePlain(app, `GUARDED_${count}`, {
    evidence: plainEvidence({ situation: 'Cleo has said so' }),
  })
  proposalId = proposed.proposalId
})

/** Runs statements in a transaction to its end, and answers the code of the error that it met. */
async function codeOf(role: (typeof roles)[number], ...statements: readonly string[]) {
  const as = role === 'owner' ? db.asOwner : db.asApp
  return as('default', async (client: RawClient) => {
    await client.query('BEGIN')
    try {
      for (const statement of statements) await client.query(statement)
      await client.query('COMMIT')
      return 'done'
    } catch (error) {
      await client.query('ROLLBACK')
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    }
  })
}

const accepted = (versionId: string) =>
  `UPDATE proposals SET status = 'accepted', decided_by = ${human}, decided_at = now(), version_id = '${versionId}'
   WHERE id = '${proposalId}'`
const dismissed = `status = 'dismissed', decided_by = ${human}, decided_at = now(), reason = 'no'`
/** A draft as a copy of one that is there. */
const draftOf = (id: string, proposal: string, authors = 'ann') => `
  INSERT INTO procedure_versions (tenant_id, id, procedure_id, version_number, definition, definition_hash, summary, purpose,
    tool_contracts, findings, author_ids, created_by, created_at, updated_by, updated_at, proposal_id)
  SELECT tenant_id, '${id}', procedure_id, 900 + (SELECT count(*) FROM procedure_versions)::integer, definition,
    definition_hash, summary, purpose, tool_contracts, findings, '{${authors}}', created_by, created_at, updated_by,
    updated_at, '${proposal}'
  FROM procedure_versions LIMIT 1`

describe.each(roles)('as the %s', (role) => {
  it('nothing is accepted without a draft of it', async () => {
    expect(await codeOf(role, accepted('ver_nowhere'))).toMatch(refusal)
  })

  it('no draft says that it comes from a proposal that was not accepted for it', async () => {
    const draft = await makeDraft()
    expect(await codeOf(role, draftOf('ver_other', proposalId))).toMatch(refusal)
    // Nor a second one, nor one by another than who accepted.
    expect(await codeOf(role, draftOf('ver_other', draft.proposalId))).toMatch(refusal)
    expect(
      await codeOf(role, accepted('ver_other'), draftOf('ver_other', proposalId, 'eve')),
    ).toMatch(refusal)
    // As it is done, it is done.
    expect(await codeOf(role, accepted(`ver_${role}`), draftOf(`ver_${role}`, proposalId))).toBe(
      'done',
    )
  })

  it('where a version comes from is never rewritten', async () => {
    const draft = await makeDraft()
    for (const value of ['NULL', `'${proposalId}'`]) {
      const rewritten = `UPDATE procedure_versions SET proposal_id = ${value} WHERE id = '${draft.versionId}'`
      expect(await codeOf(role, rewritten)).toMatch(refusal)
    }
  })

  it('what was decided is not decided again, nor made open', async () => {
    const draft = await makeDraft()
    for (const change of [`status = 'open', decided_by = NULL, decided_at = NULL`, dismissed]) {
      const statement = `UPDATE proposals SET ${change}, version_id = NULL WHERE id = '${draft.proposalId}'`
      expect(await codeOf(role, statement), change).toMatch(refusal)
    }
  })

  it('only a person decides', async () => {
    for (const by of ['{"id":"bot","kind":"ai"}', '{"id":"bot"}', '{}', 'null', '"ann"']) {
      const statement = `UPDATE proposals SET ${dismissed.replace(human, `'${by}'`)} WHERE id = '${proposalId}'`
      expect(await codeOf(role, statement), by).toMatch(refusal)
    }
  })

  it('what is proposed, and why, stays as it was, and is never deleted', async () => {
    const changes = [
      `kind = 'gap'`,
      `procedure_key = 'OTHER'`,
      `definition = jsonb_set(definition, '{name}', '"Other"')`,
      `definition = NULL, erased_at = now(), evidence = erased_evidence(evidence)`,
      `evidence = '{"source":"gap","madeWith":"rules"}'`,
      `evidence = evidence - 'situation'`,
      `evidence_hash = '${'b'.repeat(64)}'`,
      `created_by = '{}'`,
      `created_at = now()`,
      `erased_at = now()`,
      `reason = 'no'`,
      `${dismissed}, definition = jsonb_set(definition, '{name}', '"Other"')`,
    ]
    for (const change of changes) {
      const statement = `UPDATE proposals SET ${change} WHERE id = '${proposalId}'`
      expect(await codeOf(role, statement), change).toMatch(refusal)
    }
    expect(await codeOf(role, `DELETE FROM proposals WHERE id = '${proposalId}'`)).toMatch(refusal)
    expect(await codeOf(role, 'TRUNCATE proposals CASCADE')).toMatch(refusal)
  })

  it('nothing begins as decided or empty, and no evidence proposes twice', async () => {
    const copy = (columns: string, values: string) => `
      INSERT INTO proposals (tenant_id, id, kind, procedure_key, definition, evidence, evidence_hash, created_by,
        created_at${columns}) SELECT tenant_id, 'prp_copy', kind, procedure_key, ${values} FROM proposals
      WHERE id = '${proposalId}'`
    const hash = `'${'c'.repeat(64)}'`
    for (const [columns, values] of [
      ['', 'definition, evidence, evidence_hash, created_by, created_at'],
      ['', `NULL, evidence, ${hash}, created_by, created_at`],
      [', status', `definition, evidence, ${hash}, created_by, created_at, 'dismissed'`],
    ] as const) {
      expect(await codeOf(role, copy(columns, values)), values).toMatch(refusal)
    }
  })
})

it('an erasure that runs takes the words and nothing else', async () => {
  const start = `INSERT INTO erasures (tenant_id, id, kind, reason, started_by, started_at)
    VALUES ('default', 'era_${count}', 'retention', 'old', '{}', now())`
  const taking = (more: string) =>
    `UPDATE proposals SET definition = NULL, erased_at = now()${more} WHERE id = '${proposalId}'`
  const proper = ', evidence = erased_evidence(evidence)'
  for (const wrong of [
    '',
    `, evidence = '{"source":"gap","madeWith":"x"}'`,
    `${proper}, ${dismissed}`,
  ]) {
    expect(await codeOf('owner', start, taking(wrong)), wrong).toMatch(refusal)
  }

  expect(await codeOf('owner', start, taking(proper))).toBe('done')
  // And never back.
  const back = `UPDATE proposals SET erased_at = NULL, definition = '{}' WHERE id = '${proposalId}'`
  expect(await codeOf('owner', back)).toMatch(refusal)
  expect(await codeOf('owner', accepted('ver_y'), draftOf('ver_y', proposalId))).toMatch(refusal)
})

async function makeDraft() {
  count += 1
  const { proposalId: id } = await proposePlain(app, `DRAFTED_${count}`)
  const { versionId } = await operations.acceptProposal.invoke(app, ann, { proposalId: id })
  return { versionId, proposalId: id }
}
