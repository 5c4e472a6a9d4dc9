import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import { auditHash } from '../../src/domain/audit.ts'
import { readCheckpointKey } from '../../src/domain/checkpoint.ts'
import { actFields, runFields } from '../../src/domain/record-fields.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { approveAndActivate, auditedTools, createAudited, runAudited } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'
import { asSuperuser, dropChecks, listColumns, otherValue, tamper } from '../support/tamper.ts'

// Everything is verified once for every column.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const { app, db } = await openTestApp({
  tools: auditedTools,
  checkpointKey: readCheckpointKey(newCheckpointKey().privateKey),
})
const auditor = callerOf('aud', ['auditor'])
const verify = (input: Record<string, unknown> = {}) =>
  operations.verifyAudit.invoke(app, auditor, input)
const runs = new Map<string, string>()

beforeAll(async () => {
  await db.requireApprovals(1)
  await createAudited(app)
  await operations.createVersion.invoke(app, callerOf('ann'), { procedureKey: 'RESOLVES' })
  await approveAndActivate(app, callerOf(), 'RESOLVES', 2, 1)
  await administer()
  runs.set('resolved', await runAudited(app, 'RESOLVES'))
  runs.set('escalated', await runAudited(app, 'ESCALATES'))
  await operations.sealExecutions.invoke(app, auditor, {})
  await operations.stopTool.invoke(app, callerOf(), { tool: 'look', reason: 'It is down.' })
  await operations.makeCheckpoint.invoke(app, auditor, {})
  await dropChecks(db)
})

/** Acts whose rows have no hash, and are compared with the events of these acts. */
async function administer(): Promise<void> {
  const admin = callerOf('adam', ['admin'])
  const invoke = (name: keyof typeof operations, input: unknown) =>
    operations[name].invoke(app, admin, input)
  for (const principalId of ['kim', 'lou']) {
    await invoke('createPrincipal', { principalId, roles: ['author'], groups: ['north'] })
    await invoke('createKey', { principalId, expiresInDays: 30 })
  }
  await invoke('changePrincipal', { principalId: 'kim', roles: ['approver'], disabled: true })
  await invoke('setRetention', { days: 400 })
  await invoke('setCalendar', { calendar: { weekdays: [1, 2], holidays: ['2026-12-25'] } })
  await invoke('stopTool', { tool: 'fail', reason: 'It is broken.' })
  await invoke('allowTool', { tool: 'fail' })
  await invoke('stopProcedure', { procedureKey: 'ESCALATES', reason: 'It is wrong.' })
  await invoke('allowProcedure', { procedureKey: 'ESCALATES' })
}

/** Each table with the columns that its proof covers. */
const structural = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).flatMap(([column, kind]) => (kind === 'operational' ? [] : [column]))
const covered: readonly (readonly [table: string, columns: readonly string[] | undefined])[] = [
  ...Object.entries(runFields).map(([table, fields]) => [table, structural(fields)] as const),
  ['procedure_versions', [...structural(actFields.procedure_versions), 'status']],
  ['activations', structural(actFields.activations)],
  ['reviews', structural(actFields.reviews)],
  ['scenarios', undefined],
  ['tool_contracts', undefined],
  ['audit_events', undefined],
  ['audit_heads', undefined],
  ['seals', undefined],
  ['sealed_records', undefined],
  ['record_salts', undefined],
  // Without its tenant or its key a checkpoint is none of this log any more, as if it had been deleted.
  ['checkpoints', ['seq', 'hash', 'at', 'signature']],
  ['procedures', ['id', 'key']],
  ['principals', ['id', 'kind', 'name', 'roles', 'groups', 'disabled_at']],
  ['api_keys', ['id', 'principal_id', 'name', 'expires_at', 'revoked_at']],
  ['kill_switches', ['kind', 'name', 'reason', 'engaged_by', 'lifted_by']],
  ['tenants', ['id', 'retention_days', 'calendar']],
  ['governance', ['required_approvals']],
]
const tables = covered.map(([table]) => table).filter((table) => table !== 'checkpoints')

describe('what was changed past the service', () => {
  it('is nothing at first', async () => {
    const verdict = await verify({ replay: true })

    expect(verdict.problems).toEqual([])
    expect(verdict).toMatchObject({ ok: true, replayed: 2, counts: { records: 2, unsealed: 0 } })
    expect(verdict.counts.notCovered).toBe(0)
    expect(verdict.provedUpTo).toBe(verdict.counts.events)
  })

  it.each(covered)('shows in every column of %s', async (table, columns) => {
    const unseen: string[] = []
    for (const { column, type } of await listColumns(db, table)) {
      if (columns !== undefined && !columns.includes(column)) continue
      const undo = await tamper(db, table, (client) =>
        client.query(
          `UPDATE ${table} SET "${column}" = ${otherValue(column, type)}
           WHERE ctid = (SELECT min(ctid) FROM ${table})`,
        ),
      )
      try {
        const { ok } = await verify()
        if (ok) unseen.push(column)
      } finally {
        await undo()
      }
    }

    expect(unseen).toEqual([])
    expect((await verify()).problems).toEqual([])
  })

  it.each(tables)('shows when a row of %s is gone', async (table) => {
    const undo = await tamper(db, table, (client) =>
      client.query(`DELETE FROM ${table} WHERE ctid = (SELECT min(ctid) FROM ${table})`),
    )

    expect((await verify()).ok).toBe(false)
    await undo()
    expect((await verify()).ok).toBe(true)
  })

  it.each(tables)('shows when all rows of %s are gone', async (table) => {
    const undo = await tamper(db, table, (client) => client.query(`DELETE FROM ${table}`))

    expect((await verify()).ok).toBe(false)
    await undo()
  })

  it('shows when all versions, reviews and activations are gone at once', async () => {
    const undos = []
    for (const table of ['activations', 'reviews', 'scenarios', 'procedure_versions']) {
      undos.push(await tamper(db, table, (client) => client.query(`DELETE FROM ${table}`)))
    }

    const { problems } = await verify()

    expect(problems[0]?.problem).toMatch(/^It is gone, and event \d+ speaks of it\.$/)
    for (const undo of undos) await undo()
  })

  it('is named by table and id', async () => {
    const id = runs.get('escalated')
    const undo = await tamper(db, 'step_executions', (client) =>
      client.query(
        `UPDATE step_executions SET output = '{"answer": "x"}' WHERE execution_id = $1`,
        [id],
      ),
    )

    const { problems, problemCount } = await verify()

    expect(problems).toEqual([
      { table: 'executions', id, problem: expect.stringContaining('not the run that was sealed') },
    ])
    expect(problemCount).toBe(1)
    await undo()
  })

  it('shows as a run that nobody sealed when it was added', async () => {
    const undo = await tamper(db, 'executions', (client) =>
      client
        .query(
          `CREATE TEMP TABLE forged AS SELECT * FROM executions LIMIT 1;
         UPDATE forged SET id = 'exec_forged', idempotency_key = NULL;
         ALTER TABLE forged DROP COLUMN reason_code;`,
        )
        .then(async () => {
          const { rows } = await client.query<{ columns: string }>(
            `SELECT string_agg(quote_ident(attname), ', ') AS columns FROM pg_attribute
           WHERE attrelid = 'forged'::regclass AND attnum > 0 AND NOT attisdropped`,
          )
          const columns = rows[0]?.columns
          await client.query(`INSERT INTO executions (${columns}) SELECT ${columns} FROM forged`)
          await client.query('DROP TABLE forged')
        }),
    )

    expect((await verify()).counts.unsealed).toBe(1)
    await undo()
  })

  it.each(['reviews', 'activations', 'procedure_versions', 'procedures', 'principals', 'api_keys'])(
    'shows when a row of %s was written past the service',
    async (table) => {
      const undo = await tamper(db, table, async (client) => {
        await client.query(`CREATE TEMP TABLE forged AS SELECT * FROM ${table} LIMIT 1`)
        await client.query(`UPDATE forged SET id = 'forged'`)
        if (table === 'procedures') await client.query(`UPDATE forged SET key = 'FORGED'`)
        const { rows } = await client.query<{ columns: string }>(
          `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
           WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' AND is_identity = 'NO'`,
          [table],
        )
        const columns = rows[0]?.columns
        await client.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM forged`)
        await client.query('DROP TABLE forged')
      })

      const { problems } = await verify()

      expect(problems).toContainEqual({
        table,
        id: 'forged',
        problem: 'No event speaks of it: it was written past the service.',
      })
      await undo()
    },
  )

  it('shows when a switch was engaged or lifted past the service', async () => {
    const columns = 'tenant_id, id, kind, name, reason, engaged_by, engaged_at'
    const undo = await tamper(db, 'kill_switches', (client) =>
      client.query(
        `INSERT INTO kill_switches (${columns})
         SELECT tenant_id, 'ksw_forged', kind, 'other', reason, engaged_by, engaged_at FROM kill_switches LIMIT 1`,
      ),
    )
    const { problems } = await verify()
    await undo()
    const lifted = await tamper(db, 'kill_switches', (client) =>
      client.query(
        `UPDATE kill_switches SET (lifted_at, lifted_by) = (now(), engaged_by) WHERE lifted_at IS NULL`,
      ),
    )

    const { problems: later } = await verify()

    expect(problems.map(({ problem }) => problem)).toEqual([
      'No event engages it: it was written past the service.',
    ])
    expect(later.map(({ problem }) => problem)).toEqual([
      'No event lifts it: it was lifted past the service.',
    ])
    await lifted()
  })

  it('shows when an approval is gone', async () => {
    const reviews = await tamper(db, 'reviews', (client) => client.query('DELETE FROM reviews'))

    const { problems } = await verify()

    const texts = problems.map(({ problem }) => problem)
    expect(texts).toContain('Nobody but its authors has approved what it went live with.')
    await reviews()
  })

  it('shows when two events have changed places', async () => {
    const undo = await tamper(db, 'audit_events', (client) =>
      client.query(
        `UPDATE audit_events e SET (id, at, action, entity_id, details) = (o.id, o.at, o.action, o.entity_id, o.details)
         FROM audit_events o WHERE (e.seq, o.seq) IN ((2, 3), (3, 2))`,
      ),
    )

    const { problems } = await verify()

    expect(problems[0]).toMatchObject({ table: 'audit_events' })
    expect(problems[0]?.problem).toContain('Event 2 does not have the hash of its content')
    await undo()
  })

  it('shows when an event was back-dated', async () => {
    const undo = await tamper(db, 'audit_events', (client) =>
      client.query(`UPDATE audit_events SET at = at - interval '1 day' WHERE seq = 4`),
    )

    expect((await verify()).problems[0]?.problem).toContain('Event 4')
    await undo()
  })

  it('shows when the end was cut off, once a checkpoint has signed it', async () => {
    const undo = await cutTail()

    const { problems, limits } = await verify()

    expect(problems.map(({ problem }) => problem).join()).toContain('the end of the chain was cut')
    expect(limits.join()).toContain('signed checkpoint')
    await undo()
  })

  it('shows when the chain was rewritten as a whole, once a checkpoint has signed it', async () => {
    const undo = await rewriteChain()
    const checkpoints = await tamper(db, 'checkpoints', (client) =>
      client.query('DELETE FROM checkpoints'),
    )

    const without = await verify()
    await checkpoints()
    const withOne = await verify()

    expect(without.ok).toBe(true)
    expect(without.limits.join()).toContain('rewritten as a whole')
    expect(withOne.problems[0]?.problem).toContain('the chain was rewritten')
    await undo()
    expect((await verify()).ok).toBe(true)
  })

  it('shows by a checkpoint that was kept elsewhere when those of the table are gone', async () => {
    const { checkpoint } = await operations.makeCheckpoint.invoke(app, auditor, {})
    const undo = await rewriteChain()
    const checkpoints = await tamper(db, 'checkpoints', (client) =>
      client.query('DELETE FROM checkpoints'),
    )

    const { problems } = await verify({ checkpoints: [checkpoint] })

    expect(problems[0]?.problem).toContain('the chain was rewritten')
    await checkpoints()
    await undo()
  })

  it('shows by a replay where a decision is not what the definition demands', async () => {
    const id = runs.get('resolved')
    const undo = await tamper(db, 'executions', (client) =>
      client.query(`UPDATE executions SET outcome = 'declined' WHERE id = $1`, [id]),
    )

    const { problems } = await verify({ replay: true })

    expect(problems.map(({ problem }) => problem).join()).toContain('Its decisions are not those')
    await undo()
  })
})

/** The last event goes, and the head with it: the chain is whole again, and shorter. */
async function cutTail(): Promise<() => Promise<void>> {
  const events = await tamper(db, 'audit_events', (client) =>
    client.query('DELETE FROM audit_events WHERE seq = (SELECT max(seq) FROM audit_events)'),
  )
  const heads = await tamper(db, 'audit_heads', (client) =>
    client.query(
      `UPDATE audit_heads h SET (seq, hash) =
         (SELECT e.seq, e.hash FROM audit_events e WHERE e.tenant_id = h.tenant_id ORDER BY e.seq DESC LIMIT 1)`,
    ),
  )
  return async () => {
    await heads()
    await events()
  }
}

/** Another origin from the first event on, and every hash made again. */
async function rewriteChain(): Promise<() => Promise<void>> {
  const { rows } = await asSuperuser(db, (client) =>
    client.query('SELECT * FROM audit_events ORDER BY seq'),
  )
  let prevHash: string | null = null
  let seq = 0
  const events = await tamper(db, 'audit_events', async (client) => {
    for (const row of rows) {
      // What the rows say as well would show by them.
      const origin = 'elsewhere'
      seq = Number(row.seq)
      const hash = auditHash({
        tenantId: row.tenant_id,
        seq,
        id: row.id,
        at: row.at.getTime(),
        actorId: row.actor_id,
        actorKind: row.actor_kind,
        actor: row.actor,
        action: row.action,
        entityKind: row.entity_kind,
        entityId: row.entity_id,
        beforeHash: row.before_hash,
        afterHash: row.after_hash,
        details: row.details,
        origin,
        ungoverned: row.ungoverned,
        hashVersion: row.hash_version,
        prevHash,
      })
      await client.query(
        'UPDATE audit_events SET origin = $2, prev_hash = $3, hash = $4 WHERE seq = $1',
        [seq, origin, prevHash, hash],
      )
      prevHash = hash
    }
  })
  const heads = await tamper(db, 'audit_heads', (client) =>
    client.query('UPDATE audit_heads SET hash = $1', [prevHash]),
  )
  return async () => {
    await heads()
    await events()
  }
}
