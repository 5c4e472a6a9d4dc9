import { beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { auditedTools, createAudited, runAudited } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: auditedTools })
const auditor = callerOf('aud', ['auditor'])
const ids: string[] = []

beforeAll(async () => {
  await createAudited(app)
  for (const key of ['RESOLVES', 'ESCALATES', 'RESOLVES'] as const) {
    ids.push(await runAudited(app, key, callerOf(key === 'RESOLVES' ? 'ann' : 'bea')))
  }
})

type Row = Readonly<Record<string, unknown>>

async function rowsOf(what: string, filters: Row = {}): Promise<readonly Row[]> {
  const { rows } = await operations.exportAudit.invoke(app, auditor, { what, filters })
  return rows
}
const idsOf = async (filters: Row) => (await rowsOf('executions', filters)).map(({ id }) => id)

describe('an export', () => {
  it('has every run, oldest first, without sensitive values', async () => {
    const rows = await rowsOf('executions')

    expect(rows.map(({ id }) => id)).toEqual(ids)
    expect(rows[1]).toMatchObject({
      procedureKey: 'ESCALATES',
      status: 'escalated',
      reasonCode: 'tool_failed',
      input: { account: 'A-1', pin: '(sensitive)' },
      customerId: 'C-1',
    })
  })

  it.each<[Row, readonly number[]]>([
    [{ procedureKey: 'RESOLVES' }, [0, 2]],
    [{ procedureKey: 'RESOLVES', versionNumber: 2 }, []],
    [{ status: 'escalated' }, [1]],
    [{ reasonCode: 'tool_failed' }, [1]],
    [{ tool: 'fail' }, [1]],
    [{ principal: 'bea' }, [1]],
    [{ customerId: 'C-1' }, [0, 1, 2]],
    [{ customerId: 'C-2' }, []],
    [{ ticketId: 'TICKET-1', status: 'completed' }, [0, 2]],
    [{ from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }, [0, 1, 2]],
    [{ to: '2020-01-01T00:00:00Z' }, []],
    [{ from: '2999-01-01T00:00:00Z' }, []],
  ])('takes the runs of %j alone', async (filters, expected) => {
    expect(await idsOf(filters)).toEqual(expected.map((index) => ids[index]))
  })

  it('has the steps of these runs, and of a tool only its own', async () => {
    const steps = await rowsOf('steps', { procedureKey: 'ESCALATES' })

    expect(steps.map(({ stepKey }) => stepKey)).toEqual(['look', 'ask', 'fail'])
    const calls = await rowsOf('steps', { tool: 'look' })
    expect(calls.map(({ executionId }) => executionId)).toEqual(ids)
    expect(calls[0]).toMatchObject({ output: { state: 'open', token: '(sensitive)' } })
  })

  it('has the events, and is one itself', async () => {
    const events = await rowsOf('events', { principal: 'aud' })

    expect(events.at(-1)).toMatchObject({
      action: 'audit.exported',
      actorId: 'aud',
      details: { what: 'events', filters: { principal: 'aud' } },
    })
  })

  it('is told of once, and also when it begins in the middle with a cursor of its own making', async () => {
    const told = async () =>
      (await rowsOf('events', { principal: 'eve' })).map(({ details }) => details)
    const eve = callerOf('eve', ['auditor'])
    const page = (what: string, cursor: string) =>
      operations.exportAudit.invoke(app, eve, { what, cursor })

    await page('steps', ':0')
    await page('steps', ':0')
    await page('executions', '')
    await page('events', '0')

    const filters = {}
    expect(await told()).toEqual([
      { what: 'steps', filters },
      { what: 'executions', filters },
      { what: 'events', filters },
    ])
  })

  it('refuses filters that mean nothing for it, and cursors that are none', async () => {
    const exportWith = (input: Row) => operations.exportAudit.invoke(app, auditor, input)

    await expect(
      exportWith({ what: 'events', filters: { tool: 'look', status: 'escalated' } }),
    ).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      details: { problems: [{ path: 'filters.status' }, { path: 'filters.tool' }] },
    })
    for (const [what, cursor] of [
      ['events', 'x'],
      ['steps', 'x:y'],
      ['evidence', '{}'],
    ]) {
      await expect(exportWith({ what, cursor })).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    }
  })

  it('is for auditors', async () => {
    for (const name of ['exportAudit', 'verifyAudit', 'bundleExecution'] as const) {
      await expect(
        operations[name].invoke(app, callerOf('adm', ['admin', 'agent']), {}),
      ).rejects.toMatchObject({ code: 'ROLE_MISSING' })
    }
  })
})

describe('the audit log', () => {
  it('is listed newest first, page by page, by what is asked for', async () => {
    const first = await operations.listAuditEvents.invoke(app, auditor, {
      limit: 2,
      action: 'version.activated',
    })
    const [newest] = first.items
    expect(first).toMatchObject({ items: [{ ungoverned: true }, {}], nextCursor: null })
    expect(newest?.details).toMatchObject({ procedureKey: 'ESCALATES' })

    const page = await operations.listAuditEvents.invoke(app, auditor, { limit: 1 })
    const next = await operations.listAuditEvents.invoke(app, auditor, {
      limit: 1,
      cursor: page.nextCursor,
    })
    expect(next.items[0]?.seq).toBe((page.items[0]?.seq ?? 0) - 1)
    const ofProcedure = await operations.listAuditEvents.invoke(app, callerOf('adm', ['admin']), {
      procedureKey: 'RESOLVES',
    })
    expect(ofProcedure.items.map(({ action }) => action)).toEqual([
      'version.activated',
      'version.reviewed',
      'version.created',
    ])
  })
})
