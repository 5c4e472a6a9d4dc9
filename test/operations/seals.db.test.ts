import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import { listTenantsToSeal } from '../../src/db/queries/seals.ts'
import { readCheckpointKey, readPublicKeys } from '../../src/domain/checkpoint.ts'
import { type EvidenceLine, evidenceLine } from '../../src/domain/evidence.ts'
import { EvidenceVerifier } from '../../src/domain/verify-evidence.ts'
import { lookAfterAudit, servicePrincipal } from '../../src/operations/audit-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { sealRuns } from '../../src/operations/seal-runs.ts'
import { openTestApp } from '../support/app.ts'
import { auditedTools, createAudited, runAudited } from '../support/audited.ts'
import { callerOf } from '../support/caller.ts'
import { asSuperuser } from '../support/tamper.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const pair = newCheckpointKey()
let now = Date.now()
const { app, db } = await openTestApp({
  tools: auditedTools,
  checkpointKey: readCheckpointKey(pair.privateKey),
  clock: { now: () => now },
})
const auditor = callerOf('aud', ['auditor'])
const { kysely } = db.database.forTenant('default')
const verify = () => operations.verifyAudit.invoke(app, auditor, {})
const seal = () => operations.sealExecutions.invoke(app, auditor, {})
const byChore = (tenantId = 'default') =>
  sealRuns(app, tenantId, {
    principal: servicePrincipal(tenantId),
    origin: 'schedule',
    everything: false,
  })

/** The lines of an export, as they come out of a file. */
async function evidenceLines(): Promise<readonly EvidenceLine[]> {
  const lines: EvidenceLine[] = []
  let cursor: string | undefined
  do {
    const page = await operations.exportAudit.invoke(app, auditor, { what: 'evidence', cursor })
    const text = page.rows.map((row) => JSON.stringify(row))
    lines.push(...text.map((line) => evidenceLine.parse(JSON.parse(line))))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return lines
}

function judge(lines: readonly EvidenceLine[], keys = readPublicKeys(pair.publicKey)) {
  const verifier = new EvidenceVerifier(keys)
  for (const line of lines) verifier.take(line)
  return verifier.finish()
}

beforeAll(() => createAudited(app))

describe('sealing', () => {
  it('takes what has ended and is answered, once, and tells it in the chain', async () => {
    const ids = [await runAudited(app, 'RESOLVES'), await runAudited(app, 'ESCALATES')]
    expect(await listTenantsToSeal(db.database)).toContain('default')

    expect(await byChore()).toBe(2)
    expect(await byChore()).toBe(0)

    const event = await kysely
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'executions.sealed')
      .executeTakeFirstOrThrow()
    expect(event).toMatchObject({ actor_id: 'stepwarden', actor_kind: 'service', entity_id: '1' })
    const [first, last] = ids.sort()
    expect(JSON.parse(event.details)).toMatchObject({ count: 2, first, last })
    expect((await verify()).counts).toMatchObject({ seals: 1, records: 2, unsealed: 0 })
  })

  it('leaves a run that goes on, puts it aside when time has passed it, and comes back to it', async () => {
    const { execution } = await operations.startExecution.invoke(app, callerOf(), {
      procedureKey: 'ESCALATES',
      input: { account: 'A-1', pin: 'PIN-QX77' },
    })
    expect(execution.status).toBe('waiting')
    expect(await byChore()).toBe(0)
    now += 120_000
    expect(await byChore()).toBe(0)
    const aside = () => kysely.selectFrom('seal_waiting').select('execution_id').execute()
    expect(await aside()).toEqual([{ execution_id: execution.id }])
    expect(await listTenantsToSeal(db.database)).not.toContain('default')

    await operations.answerStep.invoke(app, callerOf(), {
      executionId: execution.id,
      step: 'ask',
      answer: 'Monday',
    })

    expect(await listTenantsToSeal(db.database)).toContain('default')
    expect(await byChore()).toBe(1)
    expect(await aside()).toEqual([])
  })

  it('covers a reply that comes later by the next seal', async () => {
    const id = await runAudited(app, 'RESOLVES')
    const reply = await asSuperuser(db, async (client) => {
      const { rows } = await client.query(
        'DELETE FROM replies WHERE execution_id = $1 RETURNING *',
        [id],
      )
      return rows[0]
    })
    // A process that died right after the run has left no reply: nobody waits for it for ever.
    expect(await byChore()).toBe(0)
    now += 6 * 60_000
    expect(await byChore()).toBe(1)
    await operations.getExecution.invoke(app, callerOf(), { executionId: id })

    expect(await byChore()).toBe(1)
    expect(await byChore()).toBe(0)

    const records = await kysely
      .selectFrom('sealed_records')
      .select(['kind', 'has_reply'])
      .where('execution_id', '=', id)
      .orderBy('seal_number')
      .execute()
    expect(records).toEqual([
      { kind: 'run', has_reply: false },
      { kind: 'reply', has_reply: true },
    ])
    expect(reply).toBeDefined()
    expect((await verify()).problems).toEqual([])
  })

  it('by two at once seals nothing twice', async () => {
    const started = await Promise.all(Array.from({ length: 5 }, () => runAudited(app, 'RESOLVES')))

    const counts = await Promise.all([byChore(), byChore(), byChore()])
    const left = await seal()

    const sealed = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0) + left.records
    expect(sealed).toBe(started.length)
    expect((await verify()).problems).toEqual([])
  })

  it('is one tenant’s own', async () => {
    await db.addTenant('other')
    const caller = callerOf('ann', undefined, 'other')
    await createAudited(app, caller)
    await runAudited(app, 'RESOLVES', caller)

    expect(await byChore('other')).toBe(1)

    const verdict = await operations.verifyAudit.invoke(
      app,
      callerOf('aud', ['auditor'], 'other'),
      {},
    )
    expect(verdict).toMatchObject({ ok: true, counts: { seals: 1, records: 1 } })
  })
})

describe('a worker', () => {
  it('seals for all tenants and signs the ends of their chains', async () => {
    const other = callerOf('ann', undefined, 'other')
    const mine = await runAudited(app, 'RESOLVES')
    const theirs = await runAudited(app, 'RESOLVES', other)
    const stopping = new AbortController()

    const working = lookAfterAudit(app, stopping.signal, { sealEveryMs: 5, checkpointEveryMs: 5 })

    await vi.waitFor(async () => {
      expect(await sealedOf('default', mine)).toBe(1)
      expect(await sealedOf('other', theirs)).toBe(1)
      expect(await checkpointsOf('other')).toBeGreaterThan(0)
    }, 20_000)
    stopping.abort()
    await working
    expect((await verify()).provedUpTo).not.toBeNull()
  })
})

async function sealedOf(tenantId: string, id: string): Promise<number> {
  const rows = await db.database
    .forTenant(tenantId)
    .kysely.selectFrom('sealed_records')
    .select('execution_id')
    .where('execution_id', '=', id)
    .execute()
  return rows.length
}

async function checkpointsOf(tenantId: string): Promise<number> {
  const rows = await db.database
    .forTenant(tenantId)
    .kysely.selectFrom('checkpoints')
    .select('seq')
    .execute()
  return rows.length
}

describe('evidence', () => {
  it('says offline what is said online', async () => {
    await operations.makeCheckpoint.invoke(app, auditor, {})
    const lines = await evidenceLines()

    const offline = judge(lines)

    expect(offline.problems).toEqual([])
    const online = await verify()
    expect(offline.counts).toEqual({ ...online.counts, events: offline.counts.events })
    expect(offline.counts.records).toBeGreaterThan(5)
  })

  it('has no value that is kept apart', async () => {
    const text = JSON.stringify(await evidenceLines())

    const found = ['TICKET-1', 'PIN-QX77', 'TOKEN-1'].filter((one) => text.includes(one))
    expect(found).toEqual(['TICKET-1'])
  })

  it('shows a change of any value in it', async () => {
    const lines = await evidenceLines()
    const unseen: string[] = []
    const tried = new Set<string>()
    for (const [index, line] of lines.entries()) {
      for (const [place, changed] of changesOf(line)) {
        // Each place once: what it means does not depend on the line.
        if (tried.has(place)) continue
        tried.add(place)
        // What was read when is no part of the proof.
        if (/^(header\.madeAt|row\.asOf|end\.unsealed)$/.test(place)) continue
        const parsed = evidenceLine.safeParse(changed)
        if (!parsed.success) continue
        // A key that nobody has cannot be judged, which is said.
        if (judge([...lines.slice(0, index), parsed.data, ...lines.slice(index + 1)]).ok) {
          unseen.push(place)
        }
      }
    }

    expect([...new Set(unseen)]).toEqual([
      'checkpoint.checkpoint.tenant',
      'checkpoint.checkpoint.keyId',
    ])
  })

  it('shows a line that is gone, and one that stands elsewhere', async () => {
    const lines = await evidenceLines()
    for (const [index, line] of lines.entries()) {
      if (line.kind === 'checkpoint') continue
      const without = lines.filter((_, at) => at !== index)

      expect(judge(without).ok, line.kind).toBe(false)
    }
  })
})

describe('a bundle', () => {
  it('proves one run by itself', async () => {
    const id = await runAudited(app, 'ESCALATES')
    await expect(
      operations.bundleExecution.invoke(app, auditor, { executionId: id }),
    ).rejects.toMatchObject({ code: 'EXECUTION_NOT_SEALED' })
    await seal()
    await operations.makeCheckpoint.invoke(app, auditor, {})

    const { lines } = await operations.bundleExecution.invoke(app, auditor, { executionId: id })

    const verdict = judge(lines)
    expect(verdict).toMatchObject({ ok: true, problems: [], limits: [] })
    expect(verdict.counts).toMatchObject({ seals: 1, records: 1, notCovered: 0 })
    expect(judge(lines, []).limits.join()).toContain('public key was not given')
  })

  it('shows a change of any value in it', async () => {
    const id = await runAudited(app, 'RESOLVES')
    await seal()
    await operations.makeCheckpoint.invoke(app, auditor, {})
    const { lines } = await operations.bundleExecution.invoke(app, auditor, { executionId: id })
    const unseen: string[] = []
    const tried = new Set<string>()
    for (const [index, line] of lines.entries()) {
      if (line.kind === 'header' || line.kind === 'end' || line.kind === 'checkpoint') continue
      for (const [place, changed] of changesOf(line)) {
        const parsed = evidenceLine.safeParse(changed)
        if (!parsed.success || place === 'row.asOf' || tried.has(place)) continue
        tried.add(place)
        const verdict = judge([...lines.slice(0, index), parsed.data, ...lines.slice(index + 1)])
        if (verdict.ok && verdict.limits.length === 0) unseen.push(place)
      }
    }

    expect([...new Set(unseen)]).toEqual([])
  })
})

/** Copies of a line, each with one text or number in it changed, and where. */
function changesOf(line: EvidenceLine): readonly (readonly [place: string, changed: unknown])[] {
  const changes: (readonly [string, unknown])[] = []
  const walk = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) walk(member, [...path, key])
      return
    }
    if (value === null || (path.length === 1 && path[0] === 'kind')) return
    const other =
      typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : `${value}x`
    const copy: unknown = structuredClone(line)
    let parent = Object(copy)
    for (const key of path.slice(0, -1)) parent = Object(parent[key])
    parent[path.at(-1) ?? ''] = other
    changes.push([
      `${line.kind}.${path.filter((key) => Number.isNaN(Number(key))).join('.')}`,
      copy,
    ])
  }
  walk(line, [])
  return changes
}
