import { beforeAll, describe, expect, it } from 'vitest'
import { countUnattended } from '../../src/db/queries/health.ts'
import { claimExecutions, releaseExecutions } from '../../src/db/queries/work.ts'
import { databaseRoles } from '../../src/db/roles.ts'
import type { Id } from '../../src/domain/ids.ts'
import { openTestDatabase } from '../support/database.ts'
import {
  exampleAt,
  exampleScenario,
  executionRow,
  insertProcedure,
  stepRow,
} from '../support/rows.ts'

const db = await openTestDatabase()

/** Not per tenant, by design. */
const sharedTables = ['embedding_models', 'workers', 'migrations', 'governance']

async function tenantTables(): Promise<readonly string[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
    )
    return rows.map((row) => row.relname).filter((name) => !sharedTables.includes(name))
  })
}

/** The columns that a statement may write. */
async function columnsOf(table: string): Promise<readonly string[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ attname: string }>(
      `SELECT attname FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a'
       ORDER BY attnum`,
      [table],
    )
    return rows.map(({ attname }) => attname)
  })
}

async function countRows(tenant: string): Promise<Readonly<Record<string, number>>> {
  const tables = await tenantTables()
  return db.asOwner(tenant, async (client) => {
    const counts: Record<string, number> = {}
    for (const table of tables) {
      const { rows } = await client.query(`SELECT count(*)::integer AS n FROM ${table}`)
      counts[table] = rows[0].n
    }
    return counts
  })
}

beforeAll(async () => {
  await db.addTenant('a')
  await db.addTenant('b')
  for (const tenant of ['a', 'b']) await fill(tenant)
})

async function fill(tenant: string): Promise<void> {
  await insertProcedure(db.database, tenant, tenant)
  const { kysely } = db.database.forTenant(tenant)
  const own = { tenant_id: tenant }
  const version = { procedure_id: `${tenant}_proc`, version_id: `${tenant}_active` }
  await kysely
    .insertInto('executions')
    .values(executionRow({ ...own, ...version, id: `exec_${tenant}`, version_number: 2 }))
    .execute()
  await kysely
    .insertInto('step_executions')
    .values(stepRow({ ...own, execution_id: `exec_${tenant}`, ordinal: 1 }))
    .execute()
  await kysely
    .insertInto('sensitive_values')
    .values({
      ...own,
      execution_id: `exec_${tenant}`,
      ordinal: 1,
      part: 'input',
      pointer: '/pin',
      is_whole: true,
      digest: 'd',
      salt: 's',
      value: '"1234"',
    })
    .execute()
  await kysely
    .insertInto('principals')
    .values({
      ...own,
      id: 'ann',
      kind: 'human',
      name: 'Ann',
      roles: ['admin'],
      groups: [],
      created_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('api_keys')
    .values({
      ...own,
      id: 'key',
      principal_id: 'ann',
      name: 'laptop',
      key_hash: 'b'.repeat(64),
      created_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('reviews')
    .values({
      ...own,
      id: 'rev',
      procedure_id: `${tenant}_proc`,
      version_id: `${tenant}_draft`,
      digest: 'c'.repeat(64),
      parts: '{}',
      verdict: 'comment',
      comment: 'Fine.',
      acknowledged: '[]',
      reviewer_id: 'ann',
      reviewer: '{"id":"ann","kind":"human"}',
      at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('tool_contracts')
    .values({ ...own, hash: 'a'.repeat(64), name: 'look', contract: '{}' })
    .execute()
  await kysely
    .insertInto('embedding_models')
    .values({ name: 'fake', dimensions: 2, threshold: 0.5, margin: 0.1, calibrated: true })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await kysely
    .insertInto('version_embeddings')
    .values({
      ...own,
      model: 'fake',
      version_id: `${tenant}_active`,
      text_hash: 'x',
      embedding: '[1,0]',
    })
    .execute()
  await kysely
    .insertInto('scenarios')
    .values({ ...own, version_id: `${tenant}_draft`, position: 1, scenario: exampleScenario })
    .execute()
  await kysely
    .insertInto('literal_patterns')
    .values({
      ...own,
      version_id: `${tenant}_active`,
      position: 1,
      tail: ' example',
      pattern: 'an example',
    })
    .execute()
  await kysely
    .insertInto('version_calls')
    .values({ ...own, called_key: 'CALLED', version_id: `${tenant}_active` })
    .execute()
  await kysely
    .insertInto('backtests')
    .values({
      ...own,
      id: 'bkt',
      procedure_id: `${tenant}_proc`,
      procedure_key: `${tenant}_proc`.toUpperCase(),
      version_id: `${tenant}_draft`,
      version_number: 3,
      definition_hash: 'a'.repeat(64),
      tool_contracts: '{}',
      approval_digest: 'a'.repeat(64),
      filter: '{}',
      run_count: 1,
      started_by: '{"id":"ana","kind":"human"}',
      started_at: exampleAt,
      next_before: 'exec_z',
      tally: '{}',
    })
    .execute()
  await kysely
    .insertInto('backtest_runs')
    .values({
      ...own,
      backtest_id: 'bkt',
      execution_id: `exec_${tenant}`,
      version_number: 2,
      kind: 'unknown',
      verdict: '{}',
    })
    .execute()
  await kysely
    .insertInto('kill_switches')
    .values({
      ...own,
      id: 'swi',
      kind: 'procedure',
      name: 'OTHER',
      reason: 'An example.',
      engaged_by: '{}',
      engaged_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('execution_holds')
    .values({ ...own, execution_id: 'exec_gone', switch_id: 'swi' })
    .execute()
  await kysely
    .insertInto('activation_schedules')
    .values({
      ...own,
      id: 'sch',
      procedure_id: `${tenant}_proc`,
      version_id: `${tenant}_draft`,
      revision: 1,
      acknowledged: '[]',
      due_at: exampleAt,
      scheduled_by: '{}',
      scheduled_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('example_vectors')
    .values({
      ...own,
      model: 'fake',
      version_id: `${tenant}_active`,
      kind: 'match',
      position: 1,
      text_hash: 'x',
      embedding: '[1,0]',
    })
    .execute()
  const kept = { ...own, created_at: exampleAt }
  await kysely
    .insertInto('escalations')
    .values({
      ...own,
      id: 'esc',
      reason: '{"code":"no_procedure"}',
      queue: 'support',
      priority: 'normal',
      ticket: '{}',
      opened_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('coverage_gaps')
    .values({
      ...kept,
      id: 'gap',
      ticket: '{}',
      candidates: '[]',
      model: 'fake',
      escalation_id: 'esc',
    })
    .execute()
  await kysely
    .insertInto('replies')
    .values({
      ...kept,
      execution_id: `exec_${tenant}`,
      text: 'Done.',
      source: 'built_in',
      facts: '[]',
      verification: '{}',
    })
    .execute()
  await kysely
    .insertInto('desk_refunds')
    .values({
      ...kept,
      id: 'rfd',
      transaction_id: 'T',
      amount: '29.00',
      currency: 'USD',
      state: 'submitted',
      idempotency_key: 'k',
    })
    .execute()
  await kysely
    .insertInto('desk_messages')
    .values({ ...kept, id: 'msg', idempotency_key: 'k', message: 'Hello' })
    .execute()
  await kysely
    .insertInto('limit_counters')
    .values({
      ...own,
      tool: 'refund',
      measure: 'calls',
      scope: 'tenant',
      subject: '',
      period: 'day',
      starts_at: exampleAt,
      used: '1',
      at_most: '2',
    })
    .execute()
  await kysely
    .insertInto('seals')
    .values({
      ...own,
      number: 1,
      record_version: 1,
      record_count: 1,
      root: 'r',
      first_id: `exec_${tenant}`,
      last_id: `exec_${tenant}`,
    })
    .execute()
  await kysely
    .insertInto('sealed_records')
    .values({
      ...own,
      execution_id: `exec_${tenant}`,
      kind: 'run',
      seal_number: 1,
      position: 0,
      leaf_hash: 'l',
      has_reply: true,
    })
    .execute()
  await kysely
    .insertInto('record_salts')
    .values({ ...own, execution_id: `exec_${tenant}`, salt: 'a'.repeat(64) })
    .execute()
  await kysely.insertInto('seal_cursors').values(own).execute()
  await kysely
    .insertInto('seal_waiting')
    .values({ ...own, execution_id: `exec_${tenant}` })
    .execute()
  await kysely
    .insertInto('checkpoints')
    .values({ ...own, seq: 1, key_id: 'k', hash: 'h', at: exampleAt, signature: 's' })
    .execute()
  await kysely
    .insertInto('erasures')
    .values({
      ...own,
      id: 'era',
      kind: 'retention',
      reason: 'old',
      started_by: '{}',
      started_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('webhooks')
    .values({ ...kept, id: 'whk', url: 'https://hooks.example.com/', description: '' })
    .execute()
  await kysely
    .insertInto('lesson_sets')
    .values({ ...own, task_tag: 'support' })
    .execute()
  await kysely
    .insertInto('lessons')
    .values({
      ...kept,
      id: 'les',
      task_tag: 'support',
      kind: 'helpful',
      content: 'Worked well: asked',
    })
    .execute()
  await kysely
    .insertInto('outside_executions')
    .values({
      ...own,
      id: 'out',
      version_id: `${tenant}_active`,
      success: true,
      duration_ms: 1_500,
      note: 'By the desk.',
      recorded_by: '{"id":"ann"}',
      recorded_at: exampleAt,
      idempotency_key: null,
      request_hash: null,
    })
    .execute()
  await kysely
    .insertInto('lesson_showings')
    .values({
      ...own,
      id: 'shw',
      task_tag: 'support',
      principal_id: 'ann',
      lesson_ids: ['les'],
      shown_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('webhook_secrets')
    .values({ ...own, webhook_id: 'whk', number: 1, secret: 'whsec_' })
    .execute()
  await kysely
    .insertInto('webhook_deliveries')
    .values({
      ...own,
      id: 'dlv',
      webhook_id: 'whk',
      type: 'webhook.ping',
      subject: 'dlv',
      at: exampleAt,
      data: '{}',
      due_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('audit_events')
    .values({
      ...own,
      id: 'aud',
      at: exampleAt,
      actor_id: 'ana',
      actor_kind: 'human',
      actor: '{"id":"ana","kind":"human"}',
      action: 'tenant.fill',
      entity_kind: 'tenant',
      details: '{}',
      ungoverned: false,
    })
    .execute()
  await kysely
    .insertInto('experiences')
    .values({
      ...kept,
      id: 'exp',
      agent_id: 'bot',
      situation: 'A refund',
      situation_hash: 'h',
      action_sequence: '[{}]',
      action_hash: 'h',
      approach_hash: 'h',
      outcome: 'Done',
      outcome_type: 'success',
      scored_by: 'given',
      recorded_by: '{}',
    })
    .execute()
  await kysely
    .insertInto('experience_embeddings')
    .values({ ...own, model: 'fake', experience_id: 'exp', text_hash: 'h', embedding: '[1,0]' })
    .execute()
  await kysely
    .insertInto('experience_recalls')
    .values({
      ...own,
      model: 'fake',
      recall: 1,
      sample_count: 1,
      row_count: 1,
      measured_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('experience_holds')
    .values({ ...own, experience_id: 'exp', holder_id: 'prp' })
    .execute()
  await kysely.insertInto('experience_cursors').values(own).execute()
  await kysely
    .insertInto('proposals')
    .values({
      ...kept,
      id: 'prp',
      kind: 'demonstration',
      procedure_key: 'NEW',
      definition: '{"key":"NEW"}',
      evidence: '{"source":"experiences","madeWith":"rules"}',
      evidence_hash: 'a'.repeat(64),
      created_by: '{}',
    })
    .execute()
  await kysely
    .insertInto('proposal_sources')
    .values({ ...own, proposal_id: 'prp', source_id: 'exp' })
    .execute()
  // Only erasure writes these.
  await db.asOwner(tenant, async (client) => {
    await client.query(`INSERT INTO erased_records VALUES ($1, $2, '{}', now(), 'era', 'aud')`, [
      tenant,
      `exec_${tenant}`,
    ])
    await client.query(`INSERT INTO erased_tickets VALUES ($1, 'esc', 'era', now())`, [tenant])
  })
  // That has taken the vectors of the ticket.
  await kysely
    .insertInto('ticket_embeddings')
    .values({ ...own, model: 'fake', escalation_id: 'esc', text_hash: 'h', embedding: '[1,0]' })
    .execute()
}

describe.each(['application', 'owner'] as const)(
  'a connection of one tenant, as the %s',
  (role) => {
    const as = role === 'owner' ? db.asOwner : db.asApp

    it('reads only its own rows, of every table', async () => {
      for (const table of await tenantTables()) {
        const key = table === 'tenants' ? 'id' : 'tenant_id'
        const rows = await as('a', async (client) => {
          const result = await client.query(`SELECT ${key} AS tenant FROM ${table}`)
          return result.rows
        })

        expect(rows.length, table).toBeGreaterThan(0)
        expect(new Set(rows.map((row) => row.tenant)), table).toEqual(new Set(['a']))
      }
    })

    it('finds nothing to change or delete in another tenant', async () => {
      await as('a', async (client) => {
        const touch = [
          `UPDATE procedure_versions SET summary = 'Other.' WHERE tenant_id = 'b'`,
          `DELETE FROM procedure_versions WHERE id = 'b_draft'`,
          `UPDATE executions SET status = 'cancelled', ended_at = now() WHERE id = 'exec_b'`,
          `UPDATE version_embeddings SET embedding = '[0,1]' WHERE version_id = 'b_active'`,
          `DELETE FROM version_embeddings WHERE version_id = 'b_active'`,
          `DELETE FROM scenarios WHERE version_id = 'b_draft'`,
          `UPDATE tenants SET name = 'Other' WHERE id = 'b'`,
        ]
        for (const statement of touch) {
          const { rowCount } = await client.query(statement)

          expect(rowCount, statement).toBe(0)
        }
      })
    })

    it('cannot write a row of another tenant', async () => {
      const inserts = [
        `INSERT INTO procedures (tenant_id, id, key, created_at) VALUES ('b', 'new', 'NEW', now())`,
        `INSERT INTO step_executions (tenant_id, execution_id, ordinal, step_key, kind, status, started_at, revision)
       VALUES ('b', 'exec_b', 2, 'look', 'tool', 'running', now(), 1)`,
        `INSERT INTO scenarios VALUES ('b', 'b_draft', 2, '{"name": "new", "expect": {}}')`,
        `INSERT INTO desk_messages VALUES ('b', 'new', 'new', 'Hello', now())`,
        `INSERT INTO tenants VALUES ('c', 'C', now())`,
      ]
      for (const statement of inserts) {
        const insert = as('a', (client) => client.query(statement))

        await expect(insert, statement).rejects.toMatchObject({ code: '42501' })
      }
    })

    it('cannot move a row of its own to another tenant', async () => {
      const move = as('a', (client) => client.query(`UPDATE procedures SET tenant_id = 'b'`))

      await expect(move).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|23001)$/) })
    })

    it('adds to, changes, moves and deletes nothing of another tenant, in any table', async () => {
      const before = await countRows('b')
      for (const table of await tenantTables()) {
        const key = table === 'tenants' ? 'id' : 'tenant_id'
        const others = (await columnsOf(table)).filter((column) => column !== key)
        const list = others.join(', ')
        await as('a', async (client) => {
          for (const statement of [
            `INSERT INTO ${table} (${key}, ${list}) SELECT 'b', ${list} FROM ${table}`,
            `UPDATE ${table} SET ${key} = 'b'`,
          ]) {
            // By a policy, a missing right or a guard; not because of what happens to be there.
            const refused = { code: expect.stringMatching(/^(42501|23001)$/) }
            await expect(client.query(statement), statement).rejects.toMatchObject(refused)
          }
          for (const statement of [
            `UPDATE ${table} SET ${others[0]} = ${others[0]} WHERE ${key} = 'b'`,
            `DELETE FROM ${table} WHERE ${key} = 'b'`,
          ]) {
            // A guard may refuse the statement, whatever rows it finds.
            const found = await client.query(statement).then(
              ({ rowCount }) => rowCount,
              () => 0,
            )
            expect(found, statement).toBe(0)
          }
        })
      }
      expect(await countRows('b')).toEqual(before)
    })

    it('sees nothing at all without a tenant', async () => {
      for (const table of await tenantTables()) {
        const { rowCount } = await as('', (client) => client.query(`SELECT FROM ${table}`))

        expect(rowCount, table).toBe(0)
      }
    })
  },
)

describe('every table', () => {
  it('that has tenants is under forced row-level security and leads each key with the tenant', async () => {
    const tables = await tenantTables()
    await db.asOwner('default', async (client) => {
      for (const table of tables) {
        const { rows } = await client.query(
          `SELECT relrowsecurity AND relforcerowsecurity AS forced FROM pg_class WHERE oid = $1::regclass`,
          [table],
        )
        const { rows: keys } = await client.query<{ first: string; name: string }>(
          `SELECT i.indexrelid::regclass::text AS name, a.attname AS first
           FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
           WHERE i.indrelid = $1::regclass AND i.indisunique`,
          [table],
        )

        expect(rows[0]?.forced, table).toBe(true)
        for (const key of keys) {
          expect(key.first, key.name).toBe(table === 'tenants' ? 'id' : 'tenant_id')
        }
      }
    })
  })

  it('and function belongs to the owner, but for those that cross tenants', async () => {
    await db.asOwner('default', async (client) => {
      const { rows } = await client.query<{ name: string; owner: string }>(
        `SELECT relname AS name, pg_get_userbyid(relowner) AS owner FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
         UNION ALL
         SELECT p.proname, pg_get_userbyid(p.proowner) FROM pg_proc p
         WHERE p.pronamespace = 'public'::regnamespace
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
         ORDER BY 1`,
      )
      const others = rows.filter((row) => row.owner !== databaseRoles.owner)

      const crossing = [
        'changed_executions',
        'claim_executions',
        'claim_webhook_deliveries',
        'count_unattended',
        'count_vectors',
        'deployment_figures',
        'due_schedules',
        'executions_of',
        'hold_executions',
        'living_workers',
        'prune_webhook_deliveries',
        'release_executions',
        'tenant_ids',
        'tenants_beyond_scan',
        'tenants_to_checkpoint',
        'tenants_to_learn',
        'tenants_to_seal',
        'tenants_with_retention',
        'unsettled_switches',
        'versions_without_vector',
      ]
      expect(others).toEqual(crossing.map((name) => ({ name, owner: databaseRoles.system })))
    })
  })
})

describe('executions that nobody has', () => {
  const claim = async (own: Id<'worker'>, max: number) =>
    (await claimExecutions(db.database, own, max)).map(
      ({ tenantId, executionId }) => `${tenantId} ${executionId}`,
    )
  const own = 'work_own' as Id<'worker'>

  beforeAll(async () => {
    const { query } = db.database.system
    const insert =
      'INSERT INTO workers (id, lease_until, started_at, lock_key) VALUES ($1, $2, $2, $3)'
    // As registerWorker does, but on a connection of the pool, which the embedded database has as well.
    for (const key of [1, 2]) await query('hold', 'SELECT pg_advisory_lock($1)', [key])
    await query('worker', insert, ['work_alive', new Date('2999-01-01Z'), 1])
    await query('worker', insert, ['work_expired', new Date('2020-01-01Z'), 2])
    await query('worker', insert, ['work_died', new Date('2999-01-01Z'), 3])
    await db.addTenant('busy')
    await insertProcedure(db.database, 'busy', 'busy')
    const version = { tenant_id: 'busy', procedure_id: 'busy_proc', version_id: 'busy_active' }
    const row = { ...version, version_number: 2 }
    await db.database
      .forTenant('busy')
      .kysely.insertInto('executions')
      .values([
        executionRow({ ...row, id: 'exec_1_gone', worker_id: 'work_gone' }),
        executionRow({ ...row, id: 'exec_2_alive', worker_id: 'work_alive' }),
        executionRow({ ...row, id: 'exec_3_expired', worker_id: 'work_expired' }),
        executionRow({ ...row, id: 'exec_4_own', worker_id: 'work_own' }),
        executionRow({ ...row, id: 'exec_5_pending', status: 'pending', started_at: null }),
        executionRow({ ...row, id: 'exec_6_waiting', status: 'waiting' }),
        executionRow({ ...row, id: 'exec_8_died', worker_id: 'work_died' }),
        executionRow({
          ...row,
          id: 'exec_7_ended',
          worker_id: 'work_gone',
          status: 'cancelled',
          ended_at: exampleAt,
        }),
      ])
      .execute()
  })

  it('are counted, released from workers that are gone, and claimed tenant by tenant', async () => {
    expect(await countUnattended(db.database, own)).toBe(6)
    expect(await releaseExecutions(db.database, own)).toEqual({ released: 3, suspects: false })
    expect(await releaseExecutions(db.database, own)).toEqual({ released: 0, suspects: false })

    expect(await claim(own, 3)).toEqual(['a exec_a', 'b exec_b', 'busy exec_1_gone'])
    expect(await claim(own, 100)).toEqual([
      'busy exec_3_expired',
      'busy exec_5_pending',
      'busy exec_8_died',
    ])
    expect(await claim(own, 100)).toEqual([])
    expect(await countUnattended(db.database, own)).toBe(0)
  })

  it('are those of a timer once it is due, and not before', async () => {
    const { kysely } = db.database.forTenant('busy')
    const wakeAt = (at: Date) =>
      kysely
        .updateTable('executions')
        .set({ wake_at: at })
        .where('id', '=', 'exec_6_waiting')
        .execute()
    await wakeAt(new Date('2999-01-01Z'))
    expect(await claim(own, 100)).toEqual([])

    await wakeAt(new Date('2020-01-01Z'))

    expect(await claim(own, 100)).toEqual(['busy exec_6_waiting'])
    const woken = await kysely
      .selectFrom('executions')
      .select(['status', 'wake_at', 'take_over_count', 'worker_id'])
      .where('id', '=', 'exec_6_waiting')
      .executeTakeFirst()
    expect(woken).toEqual({
      status: 'running',
      wake_at: null,
      take_over_count: 0,
      worker_id: 'work_own',
    })
  })

  it('may be asked for by nobody but the application', async () => {
    const { rows } = await db.asOwner('', (client) =>
      client.query(
        `SELECT f::text AS name, has_function_privilege('stepwarden_app', f, 'execute') AS app,
           has_function_privilege('public', f, 'execute') AS public
         FROM unnest(ARRAY['claim_executions(text, integer, boolean)', 'count_unattended(text, integer)', 'living_workers()',
           'release_executions(text)']::regprocedure[]) AS names (f)`,
      ),
    )

    expect(rows.map(({ app, public: everybody }) => [app, everybody])).toEqual([
      [true, false],
      [true, false],
      [false, false],
      [true, false],
    ])
  })

  it('is the only way across: its owner reads no other column and no other table', async () => {
    const statements = ['SELECT input FROM executions', 'SELECT * FROM procedure_versions']
    for (const statement of statements) {
      const read = db.asOwner('', async (client) => {
        await client.query(`SET ROLE ${databaseRoles.system}`)
        return client.query(statement)
      })

      await expect(read).rejects.toMatchObject({ code: '42501' })
    }
  })
})
