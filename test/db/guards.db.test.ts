import { beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/domain/canonical.ts'
import { openTestDatabase, type RawClient } from '../support/database.ts'
import { exampleAt, executionRow, insertProcedure, stepRow, versionRow } from '../support/rows.ts'

const db = await openTestDatabase()
const { kysely } = db.database.forTenant('default')

/** What a hand-written statement is refused with: no privilege, a guard, a policy, or a constraint. */
const refusal = /^(42501|23001|23503|23505|23514|428C9)$/

const roles = ['application', 'owner'] as const
type Role = (typeof roles)[number]

/** Runs a statement in a transaction that is rolled back, and answers the code of the error that it met. */
async function codeOf(role: Role, statement: string, tenantId = 'default'): Promise<string> {
  const as = role === 'owner' ? db.asOwner : db.asApp
  return as(tenantId, async (client: RawClient) => {
    await client.query('BEGIN')
    try {
      const { rowCount } = await client.query(statement)
      return `nothing: ${rowCount} rows`
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    } finally {
      await client.query('ROLLBACK')
    }
  })
}

async function columnsOf(table: string): Promise<readonly string[]> {
  return db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    )
    return rows.map((row) => row.column_name)
  })
}

/** An update that gives a column another value of its type, whatever that is. */
async function changeOf(table: string, column: string, where: string): Promise<string> {
  const type = await db.asOwner('default', async (client) => {
    const { rows } = await client.query<{ udt_name: string }>(
      `SELECT udt_name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1 AND column_name = $2`,
      [table, column],
    )
    return rows[0]?.udt_name ?? ''
  })
  const other: Record<string, string> = {
    text: `'other'`,
    int4: '77',
    int8: '77',
    bool: `NOT ${column}`,
    jsonb: `'{"steps": ["other"]}'`,
    timestamptz: `'2030-01-01Z'`,
    numeric: '77',
    _text: `ARRAY['other']`,
  }
  return `UPDATE ${table} SET ${column} = ${other[type]} WHERE ${where}`
}

beforeAll(async () => {
  await db.addTenant('other')
  await insertProcedure(db.database, 'default', 'mine')
  await insertProcedure(db.database, 'other', 'theirs')
  const mine = { tenant_id: 'default', procedure_id: 'mine_proc', version_id: 'mine_active' }
  await kysely
    .insertInto('executions')
    .values([
      executionRow({ ...mine, id: 'exec_running', version_number: 2 }),
      executionRow({
        ...mine,
        id: 'exec_done',
        version_number: 2,
        status: 'completed',
        outcome: 'resolved',
        ended_at: exampleAt,
      }),
    ])
    .execute()
  await kysely
    .insertInto('step_executions')
    .values([
      stepRow({ tenant_id: 'default', execution_id: 'exec_done', ordinal: 1 }),
      stepRow({
        tenant_id: 'default',
        execution_id: 'exec_done',
        ordinal: 2,
        status: 'completed',
        ended_at: exampleAt,
      }),
    ])
    .execute()
  await kysely
    .insertInto('escalations')
    .values({
      tenant_id: 'default',
      id: 'esc_resolved',
      reason: '{"code":"no_procedure"}',
      queue: 'support',
      priority: 'normal',
      status: 'resolved',
      resolution: '{}',
      opened_at: exampleAt,
      resolved_at: exampleAt,
    })
    .execute()
  await kysely
    .insertInto('replies')
    .values({
      tenant_id: 'default',
      execution_id: 'exec_done',
      text: 'Done.',
      source: 'built_in',
      facts: '[]',
      verification: '{}',
      created_at: exampleAt,
    })
    .execute()
  await db.asApp('default', (client) => client.query(insertAuditEvent('aud_1')))
  await insertProcedure(db.database, 'default', 'stopped')
  const engaged = { tenant_id: 'default', engaged_by: '{}', engaged_at: exampleAt, reason: 'Why.' }
  const lifted = { lifted_by: '{}', lifted_at: exampleAt }
  await kysely
    .insertInto('kill_switches')
    .values([
      { ...engaged, id: 'swi_procedure', kind: 'procedure', name: 'STOPPED_PROC' },
      { ...engaged, id: 'swi_tool', kind: 'tool', name: 'pay' },
      { ...engaged, ...lifted, id: 'swi_lifted', kind: 'tool', name: 'look' },
    ])
    .execute()
  await kysely
    .insertInto('activation_schedules')
    .values(
      (['open', 'activated'] as const).map((status) => ({
        tenant_id: 'default',
        id: `sch_${status}`,
        procedure_id: 'mine_proc',
        version_id: 'mine_draft',
        revision: 1,
        acknowledged: '[]',
        due_at: exampleAt,
        scheduled_by: '{}',
        scheduled_at: exampleAt,
        status,
        ended_at: status === 'open' ? null : exampleAt,
      })),
    )
    .execute()
})

function insertAuditEvent(id: string, columns = '', values = ''): string {
  return `INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, details,
      ungoverned${columns})
    VALUES ('default', '${id}', '2026-11-29Z', 'ana', 'human', '{"id":"ana","kind":"human"}', 'version.activate',
      'version', '{}', false${values})`
}

function insertExecution(version: Parameters<typeof executionRow>[0]): string {
  const entries = Object.entries(executionRow(version))
  const values = entries.map(([, value]) =>
    value instanceof Date ? `'${value.toISOString()}'` : `'${value}'`,
  )
  return `INSERT INTO executions (${entries.map(([key]) => key).join(', ')}) VALUES (${values.join(', ')})`
}

function insertVersion(version: Parameters<typeof versionRow>[0]): string {
  const entries = Object.entries(versionRow(version))
  const values = entries.map(([, value]) => {
    if (value instanceof Date) return `'${value.toISOString()}'`
    return Array.isArray(value) ? `ARRAY['${value.join("','")}']` : `'${value}'`
  })
  return `INSERT INTO procedure_versions (${entries.map(([key]) => key).join(', ')}) VALUES (${values.join(', ')})`
}

const mine = {
  tenant_id: 'default',
  id: 'new',
  procedure_id: 'mine_proc',
  version_id: 'mine_active',
  version_number: 2,
}

const attacks: Readonly<Record<string, string>> = {
  'activates a second version': `UPDATE procedure_versions SET status = 'active' WHERE id = 'mine_draft'`,
  'inserts a version that is active already': insertVersion({
    ...{ tenant_id: 'default', id: 'new', procedure_id: 'mine_proc' },
    version_number: 4,
    status: 'active',
  }),
  'changes a draft as it activates it': `
    UPDATE procedure_versions SET status = CASE id WHEN 'mine_active' THEN 'deprecated' ELSE 'active' END,
      summary = CASE id WHEN 'mine_active' THEN summary ELSE 'Other.' END
    WHERE id IN ('mine_active', 'mine_draft')`,
  'makes an active version a draft again': `UPDATE procedure_versions SET status = 'draft' WHERE id = 'mine_active'`,
  'revives a deprecated version': `UPDATE procedure_versions SET status = 'active' WHERE id = 'mine_deprecated'`,
  'deprecates a draft': `UPDATE procedure_versions SET status = 'deprecated' WHERE id = 'mine_draft'`,
  'deletes an active version': `DELETE FROM procedure_versions WHERE id = 'mine_active'`,
  'deletes a deprecated version': `DELETE FROM procedure_versions WHERE id = 'mine_deprecated'`,
  'truncates versions': `TRUNCATE procedure_versions CASCADE`,
  'forgets who wrote a draft': `UPDATE procedure_versions SET author_ids = ARRAY['bob'] WHERE id = 'mine_draft'`,
  'gives a version the key of another procedure': `
    UPDATE procedure_versions SET definition = jsonb_set(definition, '{key}', '"OTHER"') WHERE id = 'mine_draft'`,
  'reuses version numbers': `UPDATE procedures SET latest_version_number = 1 WHERE id = 'mine_proc'`,
  'renames a procedure': `UPDATE procedures SET key = 'OTHER' WHERE id = 'mine_proc'`,
  'deletes a procedure': `DELETE FROM procedures WHERE id = 'mine_proc'`,
  'reopens a past activation': `
    UPDATE activations SET active_until = NULL, deactivated_by = NULL WHERE id = 'mine_deprecated_act'`,
  'moves a past activation': `
    UPDATE activations SET active_until = active_until + interval '1 hour' WHERE id = 'mine_deprecated_act'`,
  'opens a second activation': `
    INSERT INTO activations (tenant_id, id, procedure_id, version_id, active_from, activated_by)
    VALUES ('default', 'new', 'mine_proc', 'mine_active', '2027-01-01Z', '{}')`,
  'records an activation that was never open': `
    INSERT INTO activations (tenant_id, id, procedure_id, version_id, active_from, active_until, activated_by, deactivated_by)
    VALUES ('default', 'new', 'mine_proc', 'mine_active', '2027-01-01Z', '2027-02-01Z', '{}', '{}')`,
  'records an activation of a draft': `
    INSERT INTO activations (tenant_id, id, procedure_id, version_id, active_from, activated_by)
    VALUES ('default', 'new', 'mine_proc', 'mine_draft', '2027-01-01Z', '{}')`,
  'forgets activations': `DELETE FROM activations WHERE id = 'mine_deprecated_act'`,
  'starts an execution of a draft': insertExecution({
    ...mine,
    version_id: 'mine_draft',
    version_number: 3,
  }),
  'starts an execution of a deprecated version': insertExecution({
    ...mine,
    version_id: 'mine_deprecated',
    version_number: 1,
  }),
  'starts an execution with another definition hash': insertExecution({
    ...mine,
    definition_hash: sha256('another'),
  }),
  'starts an execution with another version number': insertExecution({
    ...mine,
    version_number: 1,
  }),
  'starts an execution under another procedure': insertExecution({ ...mine, procedure_id: 'none' }),
  "starts an execution of another tenant's version": insertExecution({
    ...mine,
    procedure_id: 'theirs_proc',
    version_id: 'theirs_active',
  }),
  'starts an execution of a procedure that is stopped': insertExecution({
    ...mine,
    procedure_id: 'stopped_proc',
    version_id: 'stopped_active',
  }),
  'starts an execution that uses a stopped tool': insertExecution({
    ...mine,
    tool_contracts: '{"pay": "hash"}',
  }),
  'changes why a procedure is stopped': `UPDATE kill_switches SET reason = 'Other.' WHERE id = 'swi_procedure'`,
  'engages a switch again': `UPDATE kill_switches SET lifted_by = NULL, lifted_at = NULL WHERE id = 'swi_lifted'`,
  'forgets that something was stopped': `DELETE FROM kill_switches WHERE id = 'swi_lifted'`,
  'moves a scheduled activation': `UPDATE activation_schedules SET due_at = '2030-01-01Z' WHERE id = 'sch_open'`,
  'reopens a schedule': `
    UPDATE activation_schedules SET status = 'open', ended_at = NULL WHERE id = 'sch_activated'`,
  'deletes an execution': `DELETE FROM executions WHERE id = 'exec_running'`,
  'truncates executions': `TRUNCATE executions CASCADE`,
  'makes a running execution pending': `UPDATE executions SET status = 'pending' WHERE id = 'exec_running'`,
  'takes a fence back': `UPDATE executions SET fence = -1 WHERE id = 'exec_running'`,
  'takes a revision back': `UPDATE executions SET revision = -1 WHERE id = 'exec_running'`,
  'deletes a step': `DELETE FROM step_executions WHERE ordinal = 2`,
  'truncates steps': `TRUNCATE step_executions`,
  'changes what a running step will send': `UPDATE step_executions SET input = '{"amount": 1}' WHERE ordinal = 1`,
  'changes why an escalation was opened': `UPDATE escalations SET reason = '{"code": "other"}'`,
  'reopens a resolved escalation': `
    UPDATE escalations SET status = 'open', resolution = NULL, resolved_at = NULL`,
  'deletes an escalation': `DELETE FROM escalations`,
  'rewrites a reply': `UPDATE replies SET text = 'Other.'`,
  'deletes a reply': `DELETE FROM replies`,
  'changes an audit event': `UPDATE audit_events SET action = 'version.delete'`,
  'deletes an audit event': `DELETE FROM audit_events`,
  'truncates the audit log': `TRUNCATE audit_events CASCADE`,
  'replaces an audit event by an upsert': `${insertAuditEvent('aud_1')}
    ON CONFLICT (tenant_id, id) DO UPDATE SET action = 'version.delete'`,
  'forges the hash of an audit event': insertAuditEvent('new', ', hash', `, '${sha256('forged')}'`),
  'forges the link of an audit event': insertAuditEvent('new', ', prev_hash', `, NULL, 1`).replace(
    'prev_hash)',
    'prev_hash, seq)',
  ),
  'forks the audit chain': insertAuditEvent('new', ', seq', ', 1'),
  'moves the head of an audit chain': `UPDATE audit_heads SET seq = 5`,
  'deletes the head of an audit chain': `DELETE FROM audit_heads`,
  'changes the root of a seal': `UPDATE seals SET root = 'other'`,
  'deletes a seal': `DELETE FROM seals`,
  'moves a record to another place': `UPDATE sealed_records SET position = 5`,
  'deletes a sealed record': `DELETE FROM sealed_records`,
  'replaces a salt': `UPDATE record_salts SET salt = repeat('0', 64)`,
  'truncates the salts': `TRUNCATE record_salts`,
  'changes what is left of an erased run': `UPDATE erased_records SET digests = '{}'`,
  'forges a checkpoint that is there': `UPDATE checkpoints SET hash = 'other'`,
  'deletes a checkpoint': `DELETE FROM checkpoints`,
  'makes an audit event of a stranger': insertAuditEvent('new').replace("'ana'", "'bob'"),
  'renames a tenant': `UPDATE tenants SET id = 'new' WHERE id = 'default'`,
  'deletes a tenant': `DELETE FROM tenants WHERE id = 'default'`,
}

describe.each(roles)('a statement written by hand as the %s', (role) => {
  it.each(Object.entries(attacks))('never %s', async (_, statement) => {
    expect(await codeOf(role, statement)).toMatch(refusal)
  })

  it('changes nothing of a version that is no longer a draft, column by column', async () => {
    for (const id of ['mine_active', 'mine_deprecated']) {
      for (const column of await columnsOf('procedure_versions')) {
        // Says when to look at it again, and nothing of what it says itself.
        if (column === 'review_by') continue
        const statement = await changeOf('procedure_versions', column, `id = '${id}'`)

        expect(await codeOf(role, statement), `${id}.${column}`).toMatch(refusal)
      }
    }
  })

  it('changes nothing of a finished execution, column by column', async () => {
    for (const column of await columnsOf('executions')) {
      const statement = await changeOf('executions', column, `id = 'exec_done'`)

      expect(await codeOf(role, statement), column).toMatch(refusal)
    }
  })

  it('changes nothing of a finished step, column by column', async () => {
    for (const column of await columnsOf('step_executions')) {
      const statement = await changeOf('step_executions', column, 'ordinal = 2')

      expect(await codeOf(role, statement), column).toMatch(refusal)
    }
  })

  it('changes nothing of what a running execution was started with', async () => {
    const mayChange = [
      ...['status', 'outcome', 'reason', 'fence', 'worker_id', 'take_over_count', 'revision'],
      ...['cancel_requested_at', 'pause_requested_at', 'result', 'conditions', 'started_at'],
      'ended_at',
      'wake_at',
      'pauses',
    ]
    for (const column of await columnsOf('executions')) {
      if (mayChange.includes(column)) continue
      const statement = await changeOf('executions', column, `id = 'exec_running'`)

      expect(await codeOf(role, statement), column).toMatch(refusal)
    }
  })
})

describe('the guards', () => {
  it('name themselves in the error', async () => {
    const update = kysely
      .updateTable('executions')
      .set({ result: '{}' })
      .where('id', '=', 'exec_done')
      .execute()

    await expect(update).rejects.toMatchObject({ code: '23001', constraint: 'executions_finished' })
  })

  it('let a draft be edited, activated and deleted', async () => {
    const version = { tenant_id: 'default', id: 'free_draft', procedure_id: 'mine_proc' }
    await kysely
      .insertInto('procedure_versions')
      .values(versionRow({ ...version, version_number: 4 }))
      .execute()
    await kysely
      .updateTable('procedure_versions')
      .set({ summary: 'Other.', revision: 2, author_ids: ['ana', 'bob'] })
      .where('id', '=', 'free_draft')
      .execute()

    const { numDeletedRows } = await kysely
      .deleteFrom('procedure_versions')
      .where('id', '=', 'free_draft')
      .executeTakeFirstOrThrow()

    expect(numDeletedRows).toBe(1n)
  })

  it('let a running execution and its steps go on and end', async () => {
    await kysely
      .updateTable('step_executions')
      .set({ status: 'completed', output: '{}', ended_at: exampleAt, revision: 2 })
      .where('ordinal', '=', 1)
      .execute()
    const { numUpdatedRows } = await kysely
      .updateTable('executions')
      .set({ status: 'cancelled', ended_at: exampleAt, revision: 1, worker_id: null })
      .where('id', '=', 'exec_running')
      .executeTakeFirstOrThrow()

    expect(numUpdatedRows).toBe(1n)
  })
})
