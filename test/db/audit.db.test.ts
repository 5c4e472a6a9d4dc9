import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AuditEvent, auditHash, verifyChain } from '../../src/domain/audit.ts'
import { canonicalJson } from '../../src/domain/canonical.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase()

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const optionalText = fc.option(text, { nil: null })
const anyEvent = fc.record({
  at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  actorId: text,
  actorKind: fc.constantFrom('human' as const, 'ai' as const, 'service' as const),
  action: text,
  entityKind: text,
  entityId: optionalText,
  beforeHash: optionalText,
  afterHash: optionalText,
  details: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))),
  origin: optionalText,
  ungoverned: fc.boolean(),
})
type AnyEvent = typeof anyEvent extends fc.Arbitrary<infer T> ? T : never

let made = 0

async function insert(tenantId: string, event: AnyEvent): Promise<void> {
  made += 1
  await db.database
    .forTenant(tenantId)
    .kysely.insertInto('audit_events')
    .values({
      tenant_id: tenantId,
      id: `aud_${made}`,
      at: new Date(event.at),
      actor_id: event.actorId,
      actor_kind: event.actorKind,
      actor: canonicalJson({ id: event.actorId, kind: event.actorKind }),
      action: event.action,
      entity_kind: event.entityKind,
      entity_id: event.entityId,
      before_hash: event.beforeHash,
      after_hash: event.afterHash,
      details: canonicalJson(event.details),
      origin: event.origin,
      ungoverned: event.ungoverned,
    })
    .execute()
}

async function readChain(tenantId: string): Promise<readonly AuditEvent[]> {
  const rows = await db.database
    .forTenant(tenantId)
    .kysely.selectFrom('audit_events')
    .selectAll()
    .orderBy('seq')
    .execute()
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    seq: row.seq,
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
    origin: row.origin,
    ungoverned: row.ungoverned,
    hashVersion: row.hash_version,
    prevHash: row.prev_hash,
    hash: row.hash,
  }))
}

async function readHead(tenantId: string) {
  return db.database
    .forTenant(tenantId)
    .kysely.selectFrom('audit_heads')
    .select(['seq', 'hash'])
    .executeTakeFirstOrThrow()
}

describe('the audit log', () => {
  it('hashes every event as auditHash does, and chains them up to the head', async () => {
    await db.addTenant('hashing')

    await fc.assert(
      fc.asyncProperty(anyEvent, async (event) => {
        await insert('hashing', event)
        const last = (await readChain('hashing')).at(-1)

        expect(last?.hash).toBe(last && auditHash(last))
      }),
      { numRuns: 60 },
    )

    const chain = await readChain('hashing')
    const head = await readHead('hashing')
    expect(verifyChain(chain, head)).toEqual({ ok: true, head })
    expect(chain.length).toBeGreaterThanOrEqual(60)
  })

  it('gives several events of one statement their places one after the other', async () => {
    await db.addTenant('many')
    await db.asApp('many', (client) =>
      client.query(
        `INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, details, ungoverned)
         SELECT 'many', 'aud_' || n, now(), 'ana', 'human', '{"id":"ana","kind":"human"}', 'test', 'test', '{}', false
         FROM generate_series(1, 5) n`,
      ),
    )

    const chain = await readChain('many')

    expect(chain.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5])
    expect(verifyChain(chain, await readHead('many')).ok).toBe(true)
  })

  it('leaves no gap where a transaction was rolled back', async () => {
    await db.addTenant('gapless')
    const [event] = fc.sample(anyEvent, 1)
    if (event === undefined) throw new Error('one event was asked for')
    await insert('gapless', event)
    await db.asApp('gapless', async (client) => {
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, details, ungoverned)
         VALUES ('gapless', 'aud_x', now(), 'ana', 'human', '{"id":"ana","kind":"human"}', 'test', 'test', '{}', false)`,
      )
      await client.query('ROLLBACK')
    })
    await insert('gapless', event)

    const chain = await readChain('gapless')

    expect(chain.map((each) => each.seq)).toEqual([1, 2])
    expect(verifyChain(chain, await readHead('gapless')).ok).toBe(true)
  })

  it('stays one chain when many write at once', async () => {
    await db.addTenant('crowded')

    await Promise.all(fc.sample(anyEvent, 40).map((event) => insert('crowded', event)))

    const chain = await readChain('crowded')
    expect(chain).toHaveLength(40)
    expect(verifyChain(chain, await readHead('crowded')).ok).toBe(true)
  })
})
