import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AuditEvent, auditHash, verifyChain } from '../../src/domain/audit.ts'
import { sha256 } from '../../src/domain/canonical.ts'

const first = {
  tenantId: 'default',
  seq: 1,
  id: 'aud_00000000000000000000a',
  at: Date.UTC(2026, 10, 29, 12),
  actorId: 'ana',
  actorKind: 'human',
  actor: '{"id":"ana","kind":"human"}',
  action: 'version.activate',
  entityKind: 'version',
  entityId: 'ver_00000000000000000000a',
  beforeHash: null,
  afterHash: 'ab',
  details: '{"note":"Überfällig, 5 €"}',
  origin: 'cli',
  ungoverned: false,
  hashVersion: 1,
  prevHash: null,
}

function chainOf(length: number): readonly AuditEvent[] {
  const events: AuditEvent[] = []
  for (let seq = 1; seq <= length; seq += 1) {
    const event = { ...first, seq, id: `aud_${seq}`, prevHash: events.at(-1)?.hash ?? null }
    events.push({ ...event, hash: auditHash(event) })
  }
  return events
}

describe('auditHash', () => {
  it('stays what it was when it was computed by hand', () => {
    expect(auditHash(first)).toBe(
      '26119ecf10e80aa0c7eb21dbe9d3139bd194ee433056b2d8e23c600233fe8722',
    )
  })

  it('is what the bytes written in the documentation hash to', () => {
    const page = readFileSync('docs/decisions/0002-rows.md', 'utf8')
    const [, bytes = '', hash] = /printf '%s' '(.*)' \| sha256sum\n# (\w+)/.exec(page) ?? []

    expect(sha256(bytes)).toBe(hash)
    expect(auditHash(first)).toBe(hash)
  })

  it('changes with every column, and tells null from empty and from its own mark', () => {
    const others = {
      ...Object.fromEntries(Object.entries(first).map(([key, value]) => [key, `${value}!`])),
      seq: 2,
      at: first.at + 1,
      ungoverned: true,
      hashVersion: 2,
    }
    const hashes = Object.entries(others).map(([key, value]) =>
      auditHash({ ...first, [key]: value }),
    )
    const marks = ['', '~', '0:,'].map((prevHash) => auditHash({ ...first, prevHash }))

    expect(new Set([auditHash(first), ...hashes, ...marks]).size).toBe(
      1 + Object.keys(first).length + 3,
    )
  })

  it('does not confuse text that moves from one column to the next', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary', minLength: 1 }),
        (a, b) => {
          const together = auditHash({ ...first, action: a + b, entityKind: '' })

          expect(auditHash({ ...first, action: a, entityKind: b })).not.toBe(together)
        },
      ),
    )
  })
})

describe('verifyChain', () => {
  it('accepts an untouched chain and answers its head', () => {
    const events = chainOf(3)

    expect(verifyChain(events, events[2])).toEqual({
      ok: true,
      head: { seq: 3, hash: events[2]?.hash },
    })
    expect(verifyChain([], { seq: 0, hash: null })).toEqual({
      ok: true,
      head: { seq: 0, hash: null },
    })
  })

  it('names the first event that was changed', () => {
    const events = chainOf(4).map((event) =>
      event.seq === 2 ? { ...event, details: '{"note":"nothing to see"}' } : event,
    )

    expect(verifyChain(events)).toMatchObject({ ok: false, seq: 2, id: 'aud_2' })
  })

  it('names the event after one that was rehashed, removed or moved', () => {
    const [one, two, three, four] = chainOf(4)
    if (!one || !two || !three || !four) throw new Error('four events were made')
    const changed = { ...two, action: 'version.delete' }
    const rehashed = { ...changed, hash: auditHash(changed) }

    expect(verifyChain([one, rehashed, three, four])).toMatchObject({ ok: false, seq: 3 })
    expect(verifyChain([one, three, four])).toMatchObject({ ok: false, seq: 3 })
    expect(verifyChain([one, three, two, four])).toMatchObject({ ok: false, seq: 3 })
    expect(verifyChain([two, three, four])).toMatchObject({ ok: false, seq: 2 })
  })

  it('names the place where a tail was cut off, given the head', () => {
    const events = chainOf(4)

    expect(verifyChain(events.slice(0, 2), events[3])).toMatchObject({
      ok: false,
      seq: 3,
      id: undefined,
    })
  })

  it('refuses a hash version that it does not know', () => {
    const event = { ...first, hashVersion: 2 }

    expect(verifyChain([{ ...event, hash: auditHash(event) }])).toMatchObject({ ok: false, seq: 1 })
  })
})
