import { beforeAll, expect, it } from 'vitest'
import { definitionHash } from '../../src/domain/definition.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import type { RawClient } from '../support/database.ts'

/** What statements by hand can do about an approval, with the password of either role. */
const { app, db } = await openTestApp({ tools: [] })
const ann = callerOf('ann')
const bob = callerOf('bob')

const definition = {
  key: 'GUARDED',
  name: 'Guarded',
  description: 'For tests.',
  internal: true,
  steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
  completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
}
const scenarios = [{ name: 'It is known', expect: { end: 'resolved' } }]
let versionId = ''
let digest = ''

beforeAll(async () => {
  await db.requireApprovals(1)
  const made = await operations.createProcedure.invoke(app, ann, { definition, scenarios })
  versionId = made.versionId
  const named = { procedureKey: 'GUARDED', versionNumber: 1 }
  digest = (await operations.getApproval.invoke(app, bob, named)).digest
  await operations.reviewVersion.invoke(app, bob, { ...named, digest, verdict: 'approve' })
})

const activation = `UPDATE procedure_versions SET status = 'active', approval_digest = $2 WHERE id = $1`

/** Tries what comes before an activation, and the activation, and takes all of it back. */
async function attempt(role: 'application' | 'owner', ...statements: string[]): Promise<string> {
  const as = role === 'owner' ? db.asOwner : db.asApp
  return as('default', async (client) => {
    await client.query('BEGIN')
    try {
      for (const statement of statements) await run(client, statement)
      return 'allowed'
    } catch (error) {
      return String(Object(error).constraint ?? Object(error).message)
    } finally {
      await client.query('ROLLBACK')
    }
  })
}

function run(client: RawClient, statement: string): Promise<unknown> {
  const count = statement.includes('$2') ? 2 : statement.includes('$1') ? 1 : 0
  return client.query(statement, [versionId, digest].slice(0, count))
}

const changed = definitionHash({ ...definition, name: 'Changed' } as never)
const approvedBy = (reviewer: string, verdict = 'approve') => `
  INSERT INTO reviews (tenant_id, id, procedure_id, version_id, digest, parts, verdict, acknowledged, reviewer_id, reviewer, at)
  SELECT tenant_id, 'rev_new', procedure_id, id, $2, '{}', '${verdict}', '[]', '${JSON.parse(reviewer).id}', '${reviewer}', now()
  FROM procedure_versions WHERE id = $1`

const refused: Readonly<Record<string, readonly [constraint: string, ...statements: string[]]>> = {
  'without naming an approval': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET status = 'active' WHERE id = $1`,
  ],
  'with an approval of something else': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET status = 'active', approval_digest = repeat('a', 64) WHERE id = $1`,
  ],
  'of another definition under the hash of the approved one': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET definition = jsonb_set(definition, '{name}', '"Changed"') WHERE id = $1`,
    activation,
  ],
  'of another definition under its own hash': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET definition = jsonb_set(definition, '{name}', '"Changed"'),
      definition_hash = '${changed}' WHERE id = $1`,
    activation,
  ],
  'with other tools': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET tool_contracts = '{"look":"a"}' WHERE id = $1`,
    activation,
  ],
  'with another scenario': [
    'procedure_versions_approved',
    `DELETE FROM scenarios WHERE version_id = $1`,
    `INSERT INTO scenarios (tenant_id, version_id, position, scenario)
      VALUES ('default', $1, 1, '{"name":"Other","expect":{"end":"resolved"}}')`,
    activation,
  ],
  'with one scenario less': [
    'procedure_versions_approved',
    `DELETE FROM scenarios WHERE version_id = $1`,
    activation,
  ],
  'by who has written the same in another draft': [
    'reviews_of_others',
    `INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, after_hash, details, origin, ungoverned)
      SELECT tenant_id, 'aud_new', now(), 'eve', 'human', '{"id":"eve"}', 'version.edited', 'version', id, definition_hash, '{}', 'library', false
      FROM procedure_versions WHERE id = $1`,
    approvedBy('{"id":"eve","kind":"human"}'),
    activation,
  ],
  'by somebody who has written it since': [
    'procedure_versions_approved',
    `UPDATE procedure_versions SET author_ids = array_append(author_ids, 'bob') WHERE id = $1`,
    activation,
  ],
  'after a no': [
    'procedure_versions_approved',
    approvedBy('{"id":"cid","kind":"human"}', 'decline'),
    activation,
  ],
  'with an approval by its author': [
    'reviews_of_others',
    approvedBy('{"id":"ann","kind":"human"}'),
  ],
  'with an approval by an AI agent': ['reviews_by_people', approvedBy('{"id":"bot","kind":"ai"}')],
  'with an approval by nobody in particular': [
    'reviews_by_people',
    approvedBy('{"id":"eve","kind":"human","unauthenticated":true}'),
  ],
  'with an approval under another name': [
    'reviews_check',
    approvedBy('{"id":"eve","kind":"human"}').replace(`'eve'`, `'other'`),
  ],
  'after the reviews were changed': [
    'reviews_only_grow',
    `UPDATE reviews SET verdict = 'approve' WHERE version_id = $1`,
  ],
  'after the reviews were taken away': [
    'reviews_only_grow',
    `DELETE FROM reviews WHERE version_id = $1`,
  ],
  'and tells another approval later': [
    'procedure_versions_digest',
    activation,
    `UPDATE procedure_versions SET approval_digest = repeat('a', 64) WHERE id = $1`,
  ],
}

it.each(Object.entries(refused))(
  'nothing is activated %s, not even by the owner',
  async (_how, [constraint, ...statements]) => {
    // What the application may not even try is refused before any guard.
    expect(await attempt('application', ...statements)).toMatch(
      new RegExp(`^${constraint}$|permission denied`),
    )
    expect(await attempt('owner', ...statements)).toBe(constraint)
  },
)

it.each(['application', 'owner'] as const)(
  'what is approved is activated by the %s',
  async (role) => {
    expect(await attempt(role, activation)).toBe('allowed')
  },
)

it('the application cannot say how many approvals are needed', async () => {
  const lower = 'UPDATE governance SET required_approvals = 0'
  expect(await attempt('application', lower)).toMatch(/permission denied/)
  expect(await attempt('owner', 'DELETE FROM governance')).toBe('governance_kept')
})

it('the owner who says so is told in the log of every tenant', async () => {
  await db.addTenant('other')
  const seen = await db.asOwner('default', async (client) => {
    await client.query('BEGIN')
    try {
      await client.query('UPDATE governance SET required_approvals = 0')
      const told: unknown[] = []
      for (const tenant of ['default', 'other']) {
        await client.query(`SELECT set_config('stepwarden.tenant', $1, true)`, [tenant])
        const { rows } = await client.query(
          `SELECT tenant_id, action, ungoverned FROM audit_events ORDER BY seq DESC LIMIT 1`,
        )
        told.push(...rows)
      }
      return told
    } finally {
      await client.query('ROLLBACK')
    }
  })

  const event = { action: 'governance.changed', ungoverned: true }
  expect(seen).toEqual([
    { tenant_id: 'default', ...event },
    { tenant_id: 'other', ...event },
  ])
})

it.each(['application', 'owner'] as const)(
  'cannot be made to see less by the %s, nor a type of its own in place of another',
  async (role) => {
    const as = role === 'owner' ? db.asOwner : db.asApp
    for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
      await as('default', async (client) => {
        await client.query(`BEGIN ISOLATION LEVEL ${level}`)
        await expect(run(client, activation)).rejects.toMatchObject({
          constraint: 'read_committed',
        })
        await client.query('ROLLBACK')
      })
    }
    await as('default', async (client) => {
      await expect(client.query('CREATE TEMP TABLE reviews (digest text)')).rejects.toMatchObject({
        code: '42501',
      })
    })
  },
)

it('names of the system mean the system in every function, but those of the hot path', async () => {
  const { rows } = await db.asOwner('default', (client) =>
    client.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proconfig IS NULL
         AND proowner IN ('stepwarden_owner'::regrole, 'stepwarden_system'::regrole) ORDER BY 1`,
    ),
  )
  expect(rows.map(({ proname }) => proname)).toEqual([
    'guard_execution_change',
    'guard_execution_identity',
    'guard_execution_start',
    'guard_reply',
    'guard_step',
    'guard_step_identity',
    'is_erasure_of_run',
    'is_erasure_of_step',
    'stopping_switch',
  ])
})
