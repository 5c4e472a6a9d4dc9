import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { countPastRuns } from '../../src/db/queries/past-runs.ts'
import { listRunRows } from '../../src/db/queries/run-rows.ts'
import { customerDigest } from '../../src/domain/erasure.ts'
import { newId } from '../../src/domain/ids.ts'
import { digestsOf, tableRows } from '../../src/domain/record.ts'
import { runFields } from '../../src/domain/record-fields.ts'
import { EvidenceVerifier } from '../../src/domain/verify-evidence.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase } from '../support/database.ts'
import {
  createMarked,
  escalateMarked,
  findText,
  markedStart,
  openMarked,
  runMarked,
  triageMarked,
} from '../support/marked.ts'
import { tamper } from '../support/tamper.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const db = await openTestDatabase()
const app = await openMarked(db, Date.now)
afterAll(() => app[Symbol.asyncDispose]())
const { kysely } = db.database.forTenant('default')
const admin = callerOf('adam', ['admin'])
const auditor = callerOf('aud', ['auditor'])
const erase = (customerId: string, input: Record<string, unknown> = {}) =>
  operations.eraseCustomer.invoke(app, admin, { customerId, reason: 'asked for', ...input })
const verify = (input = {}) => operations.verifyAudit.invoke(app, auditor, input)

beforeAll(() => createMarked(app))

describe('erasing a customer', () => {
  const mark = 'Zyx7Wvu'
  const runs: string[] = []
  let triage = ''

  beforeAll(async () => {
    runs.push(await runMarked(app, mark))
    runs.push(...(await escalateMarked(app, mark)))
    triage = await triageMarked(app, mark)
    await runMarked(app, 'Other9')
  })

  it('begins with the mark in every table that can hold it', async () => {
    const tables = new Set((await findText(db, mark)).map((place) => place.split('.')[0]))

    expect([...tables]).toEqual([
      'coverage_gaps',
      'desk_messages',
      'escalations',
      'executions',
      'limit_counters',
      'replies',
      'sensitive_values',
      'step_executions',
    ])
    expect(runs).toHaveLength(3)
  })

  it('says before what it would erase, and erases nothing', async () => {
    expect(await erase(`C-${mark}`, { dryRun: true })).toEqual({
      erasureId: null,
      runs: 3,
      tickets: 1,
      experiences: 0,
      unfinished: { runs: [], escalations: [] },
      takenAway: 0,
      lessons: [],
      receipt: null,
    })
    expect(await findText(db, mark)).not.toEqual([])
  })

  it('leaves no trace of the mark in any column of any table', async () => {
    await operations.exportAudit.invoke(app, auditor, {
      what: 'executions',
      filters: { customerId: `C-${mark}`, ticketId: `T-${mark}` },
    })
    await operations.getExecution.invoke(app, auditor, { executionId: runs[0] })

    const done = await erase(`C-${mark}`)

    expect(done).toMatchObject({ runs: 3, tickets: 1 })
    expect(await findText(db, mark)).toEqual([])
    // What belongs to others is there.
    expect(await findText(db, 'Other9')).not.toEqual([])
    const last = await kysely
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'customer.erased')
      .executeTakeFirstOrThrow()
    const customer = customerDigest(String(done.receipt), `C-${mark}`)
    expect(JSON.parse(last.details)).toEqual({
      ...{ reason: 'asked for', customer, runs: 3, tickets: 1 },
      experiences: 0,
    })
    expect(last.actor_id).toBe('adam')
  })

  it('leaves a log that verifies, with the runs as erased, and replays of the others', async () => {
    const verdict = await verify({ replay: true })

    expect(verdict.problems).toEqual([])
    expect(verdict).toMatchObject({ ok: true, counts: { erased: 3 } })
    await operations.sealExecutions.invoke(app, auditor, {})
    expect(await verify()).toMatchObject({ ok: true, counts: { erased: 3, unsealed: 0 } })
  })

  it('leaves of every personal column nothing but its emptiest value', async () => {
    const rows = await listRunRows(kysely, runs, true)
    const left = new Set<string>()
    for (const { execution, steps, reply, escalation, sensitive } of rows.values()) {
      const tables = { executions: [execution], step_executions: steps, replies: [reply] }
      for (const [table, each] of Object.entries({
        ...tables,
        escalations: [escalation],
        sensitive_values: sensitive,
      })) {
        const fields: Readonly<Record<string, string>> = runFields[table as keyof typeof runFields]
        for (const row of each) {
          for (const [column, value] of Object.entries(row ?? {})) {
            if (fields[column] === 'personal') left.add(JSON.stringify(value))
          }
        }
      }
    }
    expect([...left].sort()).toEqual(['""', '[]', 'null', '{"code":"tool_failed"}', '{}'].sort())
  })

  it('shows the runs as erased everywhere', async () => {
    for (const executionId of runs) {
      const run = await operations.getExecution.invoke(app, auditor, { executionId })
      expect(run.execution.erasedAt).not.toBeNull()
      expect(run.reply).toBeNull()
      const replay = await operations.replayExecution.invoke(app, auditor, { executionId })
      expect(replay).toMatchObject({ agrees: false, decisions: 0, divergence: null })
      expect(replay.erasedAt).not.toBeNull()
    }
    const { items } = await operations.listExecutions.invoke(app, auditor, {})
    expect(
      items
        .filter(({ erasedAt }) => erasedAt !== null)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...runs].sort())
    const shown = await operations.getEscalation.invoke(app, auditor, { escalationId: triage })
    expect(shown.escalation).toMatchObject({
      ticket: null,
      reason: { code: 'no_procedure', message: 'Erased.' },
      resolution: { text: 'Erased.', by: 'ann' },
    })
    expect(shown.escalation.erasedAt).not.toBeNull()
    const { rows } = await operations.exportAudit.invoke(app, auditor, { what: 'executions' })
    expect(rows.filter(({ erasedAt }) => erasedAt !== null)).toHaveLength(3)
  })

  const erasedId = () => `'${[...runs].sort()[0]}'`
  it.each([
    [
      'has a value back',
      'executions',
      () => `SET customer_id = 'C-2' WHERE id = ${erasedId()}`,
      'executions.customer_id',
    ],
    [
      'has other digests',
      'erased_records',
      () =>
        `SET digests = (SELECT jsonb_object_agg(d.key, repeat('0', 64)) FROM jsonb_each(digests) d)
         WHERE execution_id = ${erasedId()}`,
      'not the run that was sealed',
    ],
    [
      'names another event',
      'erased_records',
      () =>
        `SET event_id = (SELECT id FROM audit_events WHERE seq = 1) WHERE execution_id = ${erasedId()}`,
      'event 1 does not tell of it',
    ],
    [
      'names no event',
      'erased_records',
      () => `SET event_id = 'aud_none' WHERE execution_id = ${erasedId()}`,
      'no event tells of it',
    ],
  ])('fails its verification when it %s', async (_how, table, change, expected) => {
    const undo = await tamper(db, table, (client) => client.query(`UPDATE ${table} ${change()}`))
    try {
      const { problems } = await verify()
      expect(problems.map(({ problem }) => problem).join()).toContain(expected)
    } finally {
      await undo()
    }
    expect((await verify()).ok).toBe(true)
  })

  it('is told apart from a run whose values somebody took by hand', async () => {
    const other = await runMarked(app, 'Forged2')
    await operations.sealExecutions.invoke(app, auditor, {})
    const undo = await tamper(db, 'record_salts', (client) =>
      client.query('DELETE FROM record_salts WHERE execution_id = $1', [other]),
    )
    const rows = await listRunRows(kysely, [other], false)
    const digests = Object.assign(
      {},
      ...[...rows.values()].map((run) => digestsOf(tableRows(run), 'f'.repeat(64))),
    )
    const forged = await tamper(db, 'erased_records', (client) =>
      client.query(
        `INSERT INTO erased_records SELECT tenant_id, $1, $2, erased_at, erasure_id, event_id FROM erased_records LIMIT 1`,
        [other, JSON.stringify(digests)],
      ),
    )

    const { problems } = await verify()

    expect(problems.map(({ problem }) => problem).join()).toContain(
      'these are not the ones that are',
    )
    await forged()
    await undo()
    expect((await verify()).ok).toBe(true)
  })

  it('is proved by its bundle, elsewhere', async () => {
    const { lines } = await operations.bundleExecution.invoke(app, auditor, {
      executionId: runs[1],
    })
    const judge = (given: typeof lines) => {
      const verifier = new EvidenceVerifier()
      for (const line of given) verifier.take(line)
      return verifier.finish()
    }

    expect(judge(lines)).toMatchObject({ ok: true, counts: { erased: 1 } })
    expect(JSON.stringify(lines)).not.toContain(mark)
    const without = lines.filter(
      (line) => line.kind !== 'event' || line.event.action !== 'executions.erased',
    )
    expect(judge(without).ok).toBe(false)
  })

  it('leaves the runs out of backtests', async () => {
    const ofAll = {
      procedureKey: 'ESCALATES',
      fromId: null,
      beforeId: newId('execution', Date.now() + 60_000),
      statuses: ['completed', 'escalated', 'cancelled'],
      outcome: null,
      versionNumber: null,
    } as const

    expect(await countPastRuns(kysely, ofAll, 100)).toBe(0)
    expect(
      await countPastRuns(kysely, { ...ofAll, procedureKey: 'RESOLVES' }, 100),
    ).toBeGreaterThan(0)
  })

  it('finds nothing of a customer that is erased or never was, and writes nothing down', async () => {
    const erasures = () => kysely.selectFrom('erasures').select('id').execute()
    const before = await erasures()
    const nothing = { erasureId: null, runs: 0, tickets: 0, receipt: null }

    expect(await erase(`C-${mark}`)).toMatchObject(nothing)
    expect(await erase('C-Nobody')).toMatchObject(nothing)
    expect(await erasures()).toEqual(before)
    expect((await verify()).ok).toBe(true)
  })

  it('is refused with a reason that names the customer', async () => {
    await expect(erase('C-1', { reason: 'because of C-1' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
  })

  it('is for admins', async () => {
    for (const role of ['agent', 'author', 'approver', 'auditor'] as const) {
      const caller = callerOf('x', [role])
      const input = { customerId: 'C-1', reason: 'asked for' }
      await expect(operations.eraseCustomer.invoke(app, caller, input)).rejects.toMatchObject({
        code: 'ROLE_MISSING',
      })
    }
  })
})

describe('what is in the way', () => {
  it('is named, and nothing is erased', async () => {
    const mark = 'Going5'
    const done = await runMarked(app, mark)
    const { execution } = await operations.startExecution.invoke(app, callerOf(), {
      ...markedStart(mark),
      procedureKey: 'ESCALATES',
    })

    const refused = erase(`C-${mark}`)

    await expect(refused).rejects.toMatchObject({
      code: 'ERASURE_BLOCKED',
      details: { runs: [execution.id], escalations: [] },
    })
    const run = await operations.getExecution.invoke(app, auditor, { executionId: done })
    expect(run.execution.erasedAt).toBeNull()

    const ref = { executionId: execution.id }
    await operations.cancelExecution.invoke(app, callerOf(), ref)
    expect(await erase(`C-${mark}`)).toMatchObject({ runs: 2 })
    expect(await findText(db, mark)).toEqual([])
  })

  it('is an escalation that nobody has resolved, too', async () => {
    const mark = 'Open3'
    const { triageId } = await operations.resolveTicket.invoke(app, callerOf(), {
      ...markedStart(mark),
      ticket: { text: `Zebra quantum xylophone ${mark}` },
    })

    await expect(erase(`C-${mark}`)).rejects.toMatchObject({
      details: { runs: [], escalations: [triageId] },
    })
  })
})
