import { beforeAll, describe, expect, it } from 'vitest'
import { createContext } from '../../src/context.ts'
import { findExecution } from '../../src/db/queries/executions.ts'
import { insertExecution } from '../../src/db/queries/insert-execution.ts'
import { claimExecution, handBackExecution } from '../../src/db/queries/work.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { newId } from '../../src/domain/ids.ts'
import { carryOnAll } from '../../src/operations/carry-out.ts'
import { operations } from '../../src/operations/registry.ts'
import { ngramEmbedder } from '../../src/search/ngram-embedder.ts'
import { openTestApp, seedProcedures } from '../support/app.ts'
import { callerOf, principalOf } from '../support/caller.ts'
import { crashAt, duplicateTicket, expectWhole } from '../support/crash.ts'
import { openTestDatabase } from '../support/database.ts'

describe('kill -9 of a worker on a server', () => {
  // On a server a dead worker is seen by its session, so another process takes over at once.
  it.each([2, 9, 10, 12, 15])(
    'at boundary %i loses nothing and does nothing twice',
    async (stopAt) => {
      const db = await openTestDatabase()
      const url = 'url' in db.config ? db.config.url : ''
      {
        await using app = await createContext(
          db.database,
          { tenantId: 'default', logLevel: 'silent' },
          { embedder: ngramEmbedder },
        )
        await seedProcedures(app)
      }

      await crashAt(url, stopAt)

      await expectWhole({ url }, true)
    },
    60_000,
  )
})

describe('a living worker', () => {
  it('keeps its runs', async () => {
    const { app, db } = await openTestApp()
    await seedProcedures(app)
    const seen: unknown[] = []
    const config = { tenantId: 'default', logLevel: 'silent' } as const
    await using other = await createContext(db.database, config, { embedder: ngramEmbedder })
    await using busy = await createContext(db.database, config, {
      embedder: ngramEmbedder,
      onBoundary(boundary, detail) {
        if (boundary === 'after_commit' && detail === 'start') seen.push(carryOnAll(other))
      },
    })

    const run = await operations.resolveTicket.invoke(busy, callerOf(), {
      ticket: { text: duplicateTicket },
    })

    expect(run.execution).toMatchObject({ outcome: 'resolved', takeOverCount: 0 })
    expect(await Promise.all(seen)).toEqual([[]])
  })
})

describe('a stale fence', () => {
  let test: Awaited<ReturnType<typeof openTestApp>>

  beforeAll(async () => {
    test = await openTestApp()
    await seedProcedures(test.app)
  })

  it('writes nothing: no row, no end, no escalation', async () => {
    const { app, db } = test
    const tenant = db.database.forTenant('default')
    const version = await tenant.kysely
      .selectFrom('procedure_versions')
      .selectAll()
      .where('procedure_key', '=', 'REFUND_DELAY_PLAYBOOK')
      .executeTakeFirstOrThrow()
    const executionId = newId('execution', Date.now())
    const isNew = await insertExecution(tenant, {
      start: {
        executionId,
        tenantId: 'default',
        requester: principalOf('ann', ['agent']),
        startedAt: Date.now(),
        input: {},
        ticket: null,
      },
      version: {
        id: version.id as never,
        procedureId: version.procedure_id as never,
        procedureKey: version.procedure_key,
        versionNumber: version.version_number,
        definitionHash: version.definition_hash,
        toolContracts: {},
      },
      durability: 'effect',
      workerId: app.worker.id,
      context: null,
      ticketId: null,
      onBehalfOf: null,
      idempotencyKey: null,
      requestHash: null,
    })
    expect(isNew).toBe(true)
    const stale = { tenantId: 'default', executionId, fence: 1 }
    await handBackExecution(tenant, stale, 0)
    const claims = await Promise.all(
      [1, 2].map(() => claimExecution(tenant, executionId, app.worker.id)),
    )
    const row = {
      ordinal: 1,
      stepKey: 'identify_transaction',
      iteration: '',
      kind: 'compute',
      status: 'completed',
      attempt: 1,
      tool: null,
      input: null,
      output: {},
      error: null,
      attempts: null,
      startedAt: Date.now(),
      endedAt: Date.now(),
    } as const

    const attempts = await Promise.allSettled([
      app.journal.commit(stale, { added: [row], changed: [] }),
      app.journal.commit(stale, {
        added: [row],
        changed: [],
        end: {
          status: 'escalated',
          outcome: null,
          reason: { code: 'internal_error', message: 'stale' },
          result: null,
          conditions: [],
          endedAt: Date.now(),
        },
      }),
    ])

    // Of two that claim at once one has it, and the old claim is worth nothing.
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1)
    for (const attempt of attempts) {
      expect(attempt.status === 'rejected' && isServiceError(attempt.reason, 'LEASE_LOST')).toBe(
        true,
      )
    }
    const rows = await tenant.kysely.selectFrom('step_executions').selectAll().execute()
    const escalations = await tenant.kysely.selectFrom('escalations').selectAll().execute()
    expect([rows, escalations]).toEqual([[], []])
    expect((await findExecution(tenant.kysely, executionId))?.status).toBe('running')
  })
})
