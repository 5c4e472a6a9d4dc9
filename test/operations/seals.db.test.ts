import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { readCheckpointFile } from '../../src/cli/evidence-file.ts'
import { newCheckpointKey } from '../../src/config/new-checkpoint-key.ts'
import { listTenantsToSeal } from '../../src/db/queries/seals.ts'
import { hashOf } from '../../src/domain/canonical.ts'
import { readCheckpointKey, readPublicKeys } from '../../src/domain/checkpoint.ts'
import { type EvidenceLine, evidenceLine, rowTables } from '../../src/domain/evidence.ts'
import { EvidenceVerifier } from '../../src/domain/verify-evidence.ts'
import { lookAfterAudit, servicePrincipal } from '../../src/operations/audit-chore.ts'
import { operations } from '../../src/operations/registry.ts'
import { sealRuns } from '../../src/operations/seal-runs.ts'
import { openTestApp } from '../support/app.ts'
import { approveAndActivate, auditedTools, createAudited, runAudited } from '../support/audited.ts'
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

beforeAll(async () => {
  await db.requireApprovals(1)
  await createAudited(app)
})

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

describe('the checkpoint file', () => {
  it('keeps what is written after a line that was cut off', async () => {
    const checkpointFile = join(mkdtempSync(join(tmpdir(), 'stepwarden-')), 'checkpoints.jsonl')
    const keeping = { ...app, audit: { ...app.audit, checkpointFile } }
    appendFileSync(checkpointFile, '{"v":1,"tenant":"def')
    await runAudited(app, 'RESOLVES')
    await seal()

    const { checkpoint } = await operations.makeCheckpoint.invoke(keeping, auditor, {})

    const { checkpoints, badLines } = await readCheckpointFile(checkpointFile)
    expect(checkpoints.at(-1)).toEqual(checkpoint)
    const lines = readFileSync(checkpointFile, 'utf8').split('\n')
    expect(badLines).toEqual([lines.length - 2])
  })
})

describe('what a bundle does not have', () => {
  const kinds = ['row', 'seal', 'record'] as const
  let bundle: readonly EvidenceLine[] = []

  beforeAll(async () => {
    const caller = callerOf('ann')
    await operations.createVersion.invoke(app, caller, { procedureKey: 'RESOLVES' })
    await approveAndActivate(app, caller, 'RESOLVES', 2, 1)
    const id = await runAudited(app, 'RESOLVES')
    await seal()
    await operations.makeCheckpoint.invoke(app, auditor, {})
    const { lines } = await operations.bundleExecution.invoke(app, auditor, { executionId: id })
    bundle = lines
    expect(judge(bundle)).toMatchObject({ ok: true, limits: [] })
    const tables = bundle.flatMap((line) => (line.kind === 'row' ? [line.table] : []))
    expect([...new Set(tables)]).toEqual(rowTables.slice(0, 4))
  })

  const problemsOf = (lines: readonly EvidenceLine[]) =>
    judge(lines)
      .problems.map(({ problem }) => problem)
      .join('\n')

  it('shows, whichever line it is', () => {
    const version = bundle.findLast(
      (line) => line.kind === 'row' && line.table === 'procedure_versions',
    )
    const versionId = version?.kind === 'row' ? version.row.id : undefined
    for (const [index, line] of bundle.entries()) {
      if (line.kind === 'checkpoint') continue
      // An event of something else may stand at the edge of a stretch, where nothing needs it.
      if (line.kind === 'event' && line.event.entityId !== versionId) continue

      const verdict = judge(bundle.filter((_, at) => at !== index))

      expect(verdict.ok && verdict.limits.length === 0, line.kind).toBe(false)
      if (line.kind !== 'event') expect(verdict.ok, line.kind).toBe(false)
    }
  })

  it('shows, of each kind and table, and of all at once', () => {
    for (const kind of kinds) {
      expect(judge(bundle.filter((line) => line.kind !== kind)).ok, kind).toBe(false)
    }
    for (const table of rowTables.slice(0, 4)) {
      const without = bundle.filter((line) => line.kind !== 'row' || line.table !== table)
      expect(judge(without).ok, table).toBe(false)
    }
    const bare = bundle.filter((line) => !kinds.some((kind) => kind === line.kind))
    expect(problemsOf(bare)).toBe('It has no record of a run.')
    expect(judge(bundle.filter(({ kind }) => kind === 'header' || kind === 'end')).ok).toBe(false)
    const approved = bundle.filter(
      (line) =>
        line.kind !== 'row' || (line.table !== 'procedure_versions' && line.table !== 'reviews'),
    )
    expect(problemsOf(approved)).toContain('It is not there, and the run is of it.')
  })

  it('cannot stand there twice, forged and true', () => {
    for (const [index, line] of bundle.entries()) {
      if (line.kind === 'checkpoint') continue
      const twice = [...bundle.slice(0, index), line, ...bundle.slice(index)]

      expect(judge(twice).ok, line.kind).toBe(false)
    }
  })

  it('cannot be of another event than the rest', () => {
    const forged = bundle.map((line): EvidenceLine => {
      if (line.kind !== 'row' || line.table !== 'procedure_versions') return line
      const forgery = { ...Object(line.row.definition), description: 'Pays everything.' }
      const row = { ...line.row, definition: forgery, definition_hash: hashOf(forgery) }
      return { ...line, row, asOf: 0 }
    })

    const problems = problemsOf(forged)

    expect(problems).toContain('No event speaks of it')
    expect(problems).toContain('The version that it names is another one')
  })

  it('is nothing that nobody proves', () => {
    const [first, ...rest] = bundle
    const header: EvidenceLine = {
      kind: 'header',
      format: 1,
      scope: 'run',
      tenant: 'default',
      madeAt: '',
    }
    const named = bundle.map(
      (line): EvidenceLine =>
        line.kind === 'row' && line.table === 'procedure_versions'
          ? { ...line, row: { ...line.row, name: 'Pays everything', status: 'draft' } }
          : line,
    )
    const before = bundle.findIndex(({ kind }) => kind === 'seal')
    const reset = [...bundle.slice(0, before), header, ...bundle.slice(before)]

    expect(problemsOf(named)).toBe('It has name, status, which nothing proves.')
    expect(problemsOf(reset)).toBe('There is more than one.')
    expect(judge([...bundle, ...rest.slice(-1)]).ok).toBe(false)
    expect(judge([...bundle.slice(0, before), ...bundle.slice(-1)]).ok).toBe(false)
    expect(judge(first === undefined ? [] : [first, ...rest.reverse()]).ok).toBe(false)
  })
})

describe('all evidence', () => {
  it('has each row once, and no second header', async () => {
    const lines = await evidenceLines()
    const header = lines.slice(0, 1)
    const before = lines.findIndex(({ kind }) => kind === 'seal')
    for (const [index, line] of lines.entries()) {
      if (line.kind !== 'row') continue
      const twice = [...lines.slice(0, index), line, ...lines.slice(index)]
      expect(judge(twice).ok, line.table).toBe(false)
    }

    expect(judge([...lines.slice(0, before), ...header, ...lines.slice(-1)]).ok).toBe(false)
    expect(judge(lines.filter(({ kind }) => kind !== 'row')).ok).toBe(false)
    expect(judge([...lines, ...lines.slice(-1)]).ok).toBe(false)
  })

  it('of the first format is read still, and what it has no rows of is said', async () => {
    const lines = (await evidenceLines()).flatMap((line): EvidenceLine[] => {
      if (line.kind === 'header') {
        const { asOf: _, ...header } = line
        return [{ ...header, format: 1 }]
      }
      if (line.kind === 'row' && rowTables.indexOf(line.table) > 3) return []
      return [line.kind === 'row' && line.table === 'tool_contracts' ? { ...line, asOf: 0 } : line]
    })

    const verdict = judge(lines)

    expect(verdict.problems).toEqual([])
    expect(verdict.limits.join()).toContain('Evidence of format 1 has no principals')
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
