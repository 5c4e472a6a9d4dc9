import { expect, test } from 'vitest'
import { actorText, detailsText, entityText } from '../../src/cli/event-screen.ts'

const event = {
  seq: 12,
  id: 'evt_0123456789abcdefghjkm',
  at: '2026-05-03T10:11:12.000Z',
  actorId: 'bob',
  actorKind: 'human',
  actor: { id: 'bob', kind: 'human' },
  action: 'version.reviewed',
  entityKind: 'version',
  entityId: 'ver_0123456789abcdefghjkm',
  beforeHash: null,
  afterHash: 'ab',
  details: {},
  origin: 'cli',
  ungoverned: false,
  hashVersion: 1,
  prevHash: null,
  hash: 'cd',
}

test('an event names what it is about as people know it, and what was said and by whom', () => {
  const details = {
    procedureKey: 'REFUND',
    versionNumber: 2,
    reviewId: 'rev_x',
    verdict: 'decline',
  }
  const actor = { id: 'root', unauthenticated: true }

  expect(entityText({ ...event, details })).toBe('REFUND v2')
  expect(entityText(event)).toBe('ver_0123456789abcdefghjkm')
  expect(detailsText({ ...event, details })).toBe('verdict: decline')
  expect(detailsText({ ...event, details: { before: 1, requiredApprovals: 0 } })).toBe(
    'before: 1, requiredApprovals: 0',
  )
  expect(detailsText({ ...event, details: { records: { a: 'b' }, digests: {} } })).toBe('')
  expect(actorText(event)).toBe('bob')
  expect(actorText({ ...event, actor })).toBe('bob (unauthenticated)')
  expect(actorText({ ...event, actorKind: 'ai', actor })).toBe('bob (ai, unauthenticated)')
})
