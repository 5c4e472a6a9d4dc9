import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { operations } from '../../src/operations/registry.ts'
import { callerOf } from '../support/caller.ts'
import { openTestDatabase, type RawClient } from '../support/database.ts'
import {
  createMarked,
  escalateMarked,
  openMarked,
  runMarked,
  triageMarked,
} from '../support/marked.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const db = await openTestDatabase()
const app = await openMarked(db, Date.now)
afterAll(() => app[Symbol.asyncDispose]())
const admin = callerOf('adam', ['admin'])
const auditor = callerOf('aud', ['auditor'])
const mark = 'Mark1'
let run = ''
let escalated = ''
let triage = ''
let erased = ''

beforeAll(async () => {
  await createMarked(app)
  run = await runMarked(app, mark)
  escalated = String((await escalateMarked(app, mark))[0])
  triage = await triageMarked(app, mark)
  erased = await runMarked(app, 'Gone1')
  await operations.sealExecutions.invoke(app, auditor, {})
  await operations.eraseCustomer.invoke(app, admin, { customerId: 'C-Gone1', reason: 'asked for' })
})

/** The very statements of the erasure, each for one run. */
const statements: readonly (readonly [table: string, statement: () => string])[] = [
  [
    'executions',
    () => `UPDATE executions SET input = '{}', ticket = NULL, context = NULL, customer_id = NULL, ticket_id = NULL,
      on_behalf_of = NULL, idempotency_key = NULL, request_hash = NULL, reason = erased_reason(reason),
      result = NULL, conditions = NULL, selection = NULL WHERE id = '${run}'`,
  ],
  [
    'step_executions',
    () => `UPDATE step_executions SET input = NULL, output = NULL, error = NULL, attempts = NULL, exchange = NULL
      WHERE execution_id = '${run}'`,
  ],
  [
    'replies',
    () =>
      `UPDATE replies SET text = '', facts = '[]', verification = '{}' WHERE execution_id = '${run}'`,
  ],
  [
    'sensitive_values',
    () => `UPDATE sensitive_values SET salt = '', value = '' WHERE execution_id = '${run}'`,
  ],
  [
    'escalations',
    () => `UPDATE escalations SET reason = erased_reason(reason), ticket = NULL, late_outcomes = NULL,
      resolution = resolution - 'text' WHERE execution_id = '${escalated}'`,
  ],
  [
    'coverage_gaps',
    () => `UPDATE coverage_gaps SET ticket = '{}', customer_id = NULL, idempotency_key = NULL, request_hash = NULL
      WHERE escalation_id = '${triage}'`,
  ],
  ['record_salts', () => `DELETE FROM record_salts WHERE execution_id = '${run}'`],
]

/** Runs statements in a transaction that is rolled back, and answers the code of the error that they met. */
async function codeOf(as: typeof db.asOwner, ...texts: readonly string[]): Promise<string> {
  return as('default', async (client: RawClient) => {
    await client.query('BEGIN')
    try {
      let changed: number | null = 0
      for (const text of texts) ({ rowCount: changed } = await client.query(text))
      await client.query('SET CONSTRAINTS ALL IMMEDIATE')
      return `nothing: ${changed} rows`
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error)
    } finally {
      await client.query('ROLLBACK')
    }
  })
}

/** A row of the erasure, as only the owner can write it. */
const recordOf = (id: string, eventId = newId('audit', Date.now())) =>
  `INSERT INTO erased_records (tenant_id, execution_id, digests, erased_at, erasure_id, event_id)
   SELECT 'default', '${id}', '{}', now(), (SELECT max(id) FROM erasures), '${eventId}'`

describe('what the erasure does, done by hand', () => {
  it.each(statements)('is refused in %s, whoever does it', async (_table, statement) => {
    expect(await codeOf(db.asOwner, statement())).toBe('23001')
    expect(await codeOf(db.asApp, statement())).toBe('42501')
  })

  it.each(statements)(
    'is let through in %s beside the row of the erasure alone',
    async (_table, statement) => {
      const of = statement().includes(escalated) ? escalated : run
      const ticket = `INSERT INTO erased_tickets SELECT 'default', '${triage}', max(id), now() FROM erasures`

      const last = await db.asOwner('default', async (client) => {
        await client.query('BEGIN')
        try {
          await client.query(recordOf(of))
          await client.query(ticket)
          return (await client.query(statement())).rowCount
        } finally {
          await client.query('ROLLBACK')
        }
      })

      expect(last).toBeGreaterThan(0)
    },
  )

  it('is refused beside it when anything else of the row changes, or a value is left', async () => {
    const changes = [
      `UPDATE executions SET input = '{"left": 1}' WHERE id = '${run}'`,
      `UPDATE executions SET ticket = NULL WHERE id = '${run}'`,
      `${statements[0]?.[1]().replace('SET', 'SET version_number = 9,')}`,
      `${statements[0]?.[1]().replace('SET', "SET outcome = 'declined',")}`,
      `${statements[1]?.[1]().replace('SET', "SET step_key = 'other',")}`,
      `${statements[1]?.[1]().replace('output = NULL', `output = '"x"'`)}`,
      `${statements[2]?.[1]().replace("text = ''", "text = 'Other.'")}`,
      `${statements[2]?.[1]().replace('SET', "SET source = 'model',")}`,
      `${statements[3]?.[1]().replace('SET', "SET digest = 'other',")}`,
      `${statements[3]?.[1]().replace("value = ''", "value = '1'")}`,
    ]
    for (const change of changes) {
      expect(await codeOf(db.asOwner, recordOf(run), change), change).toBe('23001')
    }
  })

  it('is refused beside the row of an erasure that was before', async () => {
    const again = statements[0]?.[1]().replace(run, erased) ?? ''

    expect(await codeOf(db.asOwner, again)).toBe('23001')
    expect(await codeOf(db.asApp, recordOf(run))).toBe('42501')
  })

  it('cannot be committed without the event that tells of it', async () => {
    expect(await codeOf(db.asOwner, recordOf(run))).toBe('23503')
  })

  it('is never taken back, nor forgotten', async () => {
    for (const statement of [
      `UPDATE executions SET customer_id = 'C-1' WHERE id = '${erased}'`,
      `UPDATE step_executions SET output = '1' WHERE execution_id = '${erased}'`,
      `DELETE FROM erased_records`,
      `UPDATE erased_records SET digests = '{}'`,
      `DELETE FROM erased_tickets`,
      `DELETE FROM erasures`,
      `UPDATE erasures SET run_count = 0`,
      `UPDATE erasures SET reason = 'other'`,
    ]) {
      expect(await codeOf(db.asOwner, statement), statement).toBe('23001')
    }
  })
})

describe('a run that was erased', () => {
  it('gets no reply any more, and nothing is attached to its escalation', async () => {
    const reply = (id: string) =>
      `INSERT INTO replies VALUES ('default', '${id}', 'Late.', 'built_in', '[]', '{}', now())`
    const [late] = await escalateMarked(app, 'Gone2')
    await operations.eraseCustomer.invoke(app, admin, {
      customerId: 'C-Gone2',
      reason: 'asked for',
    })

    expect(await codeOf(db.asApp, reply(run))).toBe('23505')
    const attach = (id: string) =>
      `UPDATE escalations SET late_outcomes = '["late"]' WHERE execution_id = '${id}'`
    expect(await codeOf(db.asApp, attach(String(late)))).toBe('23001')
    expect(await codeOf(db.asApp, attach(escalated))).toBe('nothing: 1 rows')
  })
})

describe('the function that erases', () => {
  const begin = (customer: string) =>
    `INSERT INTO erasures (tenant_id, id, kind, reason, customer_digest, customer_salt, started_by, started_at)
     VALUES ('default', 'era_test', 'customer', 'test', encode(sha256(convert_to(repeat('a', 64) || ':${customer}', 'UTF8')), 'hex'),
       repeat('a', 64), '{}', now())`
  const retain = `INSERT INTO erasures (tenant_id, id, kind, reason, started_by, started_at)
     VALUES ('default', 'era_test', 'retention', 'test', '{}', now())`
  const call = (id: string, erasure = 'era_test') =>
    `SELECT erase_runs('${erasure}', '${newId('audit', Date.now())}', now(), '{"id": "ann", "kind": "human"}', 'cli',
       '{"${id}": {}}', '{}', '{}')`

  it('erases what its erasure is about, as the application', async () => {
    expect(await codeOf(db.asApp, begin(`C-${mark}`), call(run))).toBe('nothing: 1 rows')
  })

  it('refuses another customer, a run that is not sealed or unknown, one that is young, and an erasure that is over', async () => {
    const fresh = await runMarked(app, mark)

    expect(await codeOf(db.asApp, begin('C-Other'), call(run))).toBe('23001')
    expect(await codeOf(db.asApp, begin(`C-${mark}`), call(fresh))).toBe('23001')
    expect(await codeOf(db.asApp, begin(`C-${mark}`), call('exec_unknown'))).toBe('23001')
    expect(await codeOf(db.asApp, retain, call(run))).toBe('23001')
    expect(await codeOf(db.asApp, `UPDATE tenants SET retention_days = 1`, retain, call(run))).toBe(
      '23001',
    )
    expect(await codeOf(db.asApp, call(run))).toBe('23001')
    const over = `SELECT erase_runs(max(id), 'aud_x', now(), '{}', 'cli', '{"${run}": {}}', '{}', '{}') FROM erasures`
    expect(await codeOf(db.asApp, over)).toBe('23001')
  })
})
