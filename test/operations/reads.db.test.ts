import { beforeAll, describe, expect, it, vi } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { auditedTools, createAudited, runAudited } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'
import { asSuperuser } from '../support/tamper.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let now = Date.now()
const { app, db } = await openTestApp({ tools: auditedTools, clock: { now: () => now } })
const { kysely } = db.database.forTenant('default')
let run = ''

/** Who has read what, in the order of the log. */
async function reads(): Promise<readonly string[]> {
  const rows = await kysely
    .selectFrom('audit_events')
    .select(['action', 'actor_id', 'entity_id', 'origin'])
    .where('action', 'in', [
      'execution.read',
      'escalation.read',
      'executions.listed',
      'escalations.listed',
      'waiting_steps.listed',
    ])
    .orderBy('seq')
    .execute()
  return rows.map((row) => `${row.actor_id} ${row.action} ${row.entity_id} ${row.origin}`)
}

beforeAll(async () => {
  await createAudited(app)
  run = await runAudited(app, 'ESCALATES')
})

describe('a read of personal data', () => {
  const ann = callerOf('ann', ['agent'])
  const bob = callerOf('bob', ['approver'])
  const show = (caller = ann) => operations.getExecution.invoke(app, caller, { executionId: run })

  it('is not the answer to whoever has started the run', async () => {
    expect(await reads()).toEqual([])
  })

  it('is written once for who watches, and for each who looks', async () => {
    for (let times = 0; times < 3; times += 1) await show()
    await show(bob)

    expect(await reads()).toEqual([
      `ann execution.read ${run} library`,
      `bob execution.read ${run} library`,
    ])
    now += 9 * 60_000
    await show()
    expect(await reads()).toHaveLength(2)
    now += 2 * 60_000
    await show()
    expect(await reads()).toHaveLength(3)
  })

  it('is no act on the run', async () => {
    expect((await show()).acts.map(({ action }) => action)).not.toContain('execution.read')
  })

  it('is that of an escalation and of each list as well', async () => {
    const before = (await reads()).length
    const { items } = await operations.listEscalations.invoke(app, bob, {})
    await operations.getEscalation.invoke(app, bob, { escalationId: items[0]?.id })
    await operations.listExecutions.invoke(app, bob, {})
    await operations.listExecutions.invoke(app, bob, {})
    await operations.listWaitingSteps.invoke(app, bob, {})

    expect((await reads()).slice(before)).toEqual([
      'bob escalations.listed default library',
      `bob escalation.read ${items[0]?.id} library`,
      'bob executions.listed default library',
      'bob waiting_steps.listed default library',
    ])
  })

  it('is answered also when it cannot be written down', async () => {
    now += 3_600_000
    const grant = (word: string) =>
      asSuperuser(db, (client) =>
        client.query(
          `${word} INSERT ON audit_events ${word === 'GRANT' ? 'TO' : 'FROM'} stepwarden_app`,
        ),
      )
    await grant('REVOKE')
    try {
      expect((await show()).execution.id).toBe(run)
    } finally {
      await grant('GRANT')
    }
  })

  it('tells nothing of whose data was exported but that it was that of one customer', async () => {
    const auditor = callerOf('aud', ['auditor'])
    await operations.exportAudit.invoke(app, auditor, {
      what: 'executions',
      filters: { customerId: 'C-1', ticketId: 'TICKET-1', procedureKey: 'ESCALATES' },
    })

    const event = await kysely
      .selectFrom('audit_events')
      .select('details')
      .where('action', '=', 'audit.exported')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(event.details)).toEqual({
      what: 'executions',
      filters: { customerId: true, ticketId: true, procedureKey: 'ESCALATES' },
    })
  })
})
