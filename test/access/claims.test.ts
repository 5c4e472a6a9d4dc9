import { describe, expect, it } from 'vitest'
import { findClaim, groupsOf, kindOf, nameOf, rolesOf } from '../../src/access/claims.ts'
import { issuedId } from '../../src/domain/issued-id.ts'

describe('a claim', () => {
  it.each([
    ['roles', { roles: 1 }, 1],
    ['realm_access.roles', { realm_access: { roles: 2 } }, 2],
    ['https://acme.example/roles', { 'https://acme.example/roles': 3 }, 3],
    ['https://acme.example/app.roles', { 'https://acme.example/app': { roles: 4 } }, 4],
    ['resource_access.my.client.roles', { resource_access: { 'my.client': { roles: 5 } } }, 5],
    ['a.b', { 'a.b': 6, a: { b: 7 } }, 6],
    ['a.b.c', { a: { 'b.c': 8 }, 'a.b': {} }, 8],
    ['a.b', { a: ['b'] }, undefined],
    ['a.length', { a: 'text' }, undefined],
    ['constructor', {}, undefined],
    ['__proto__.roles', {}, undefined],
    ['a', { b: 1 }, undefined],
  ])('%s of %j is %s', (name, claims, value) => {
    expect(findClaim(claims, name)).toBe(value)
  })
})

describe('the roles of a token', () => {
  const roleMap = new Map<string, readonly ('agent' | 'author' | 'approver')[]>([
    ['owners', ['author', 'approver']],
    ['desk', ['agent']],
  ])

  it.each([
    [{ roles: ['agent', 'root', 'admin', 'agent'] }, undefined, ['admin', 'agent']],
    [{ roles: 'agent' }, undefined, ['agent']],
    [{ roles: 'agent admin' }, undefined, []],
    [{ roles: { admin: true } }, undefined, []],
    [{ roles: [['admin'], 1, null] }, undefined, []],
    [{}, undefined, []],
    [{ roles: ['owners', 'desk', 'toString'] }, roleMap, ['agent', 'approver', 'author']],
    [{ roles: ['admin', 'author'] }, roleMap, []],
  ])('that says %j', (claims, map, roles) => {
    expect(rolesOf(claims, { rolesClaim: 'roles', ...(map && { roleMap: map }) })).toEqual(roles)
  })

  it('are the words of a scope', () => {
    expect(rolesOf({ scope: 'openid agent' }, { rolesClaim: 'scope' })).toEqual(['agent'])
  })
})

it('groups are those that a playbook can name, or none when they are too many', () => {
  const of = (groups: unknown) => groupsOf({ groups }, { groupsClaim: 'groups' })

  expect(of(['refund-desk', 'Two Words', '/desk', 'a', 'a'])).toEqual(['a', 'refund-desk'])
  expect(of(Array.from({ length: 101 }, (_, i) => `g${i}`))).toEqual([])
  expect(groupsOf({ groups: ['a'] }, {})).toEqual([])
})

it('the name is the first that can be shown and stored', () => {
  expect(nameOf({ name: 'Zoë Ångström', email: 'z@x' })).toBe('Zoë Ångström')
  expect(nameOf({ name: ' ', preferred_username: 'a\u0000b', email: 'z@x' })).toBe('z@x')
  expect(nameOf({ name: '\ud800', email: 'x'.repeat(201) })).toBeUndefined()
  expect(nameOf({ name: 7 })).toBeUndefined()
})

describe('whom a token is about', () => {
  it.each([
    [{ sub: 'ann' }, 'human'],
    [{ sub: 'ann', azp: 'console', client_id: 'console' }, 'human'],
    [{ sub: 'ann', oid: 'o-1', scp: 'read' }, 'human'],
    [{ sub: 'job', client_id: 'job' }, 'service'],
    [{ sub: '117', azp: '117' }, 'service'],
    [{ sub: 'job@clients', azp: 'job', gty: 'client-credentials' }, 'service'],
    [{ sub: 'job@clients', azp: 'job' }, 'service'],
    [{ sub: 'o-1', oid: 'o-1', appid: 'job' }, 'service'],
    [{ sub: 'x', idtyp: 'app' }, 'service'],
    [{ sub: 'x', preferred_username: 'service-account-job' }, 'service'],
  ])('%j is %s', (claims, kind) => {
    expect(kindOf(claims)).toBe(kind)
  })
})

describe('the id of somebody whom an issuer lets in', () => {
  const issuer = 'https://login.example'

  it('is made of issuer and subject, and is an id of a principal', () => {
    expect(issuedId(issuer, 'auth0|12')).toMatch(/^oidc:[0-9a-f]{16}:auth0\|12$/)
    for (const subject of ['a b', 'zoë', 'x'.repeat(500), '#', 'ann']) {
      expect(issuedId(issuer, subject)).toMatch(/^[!-~]{1,128}$/)
    }
  })

  it('is never that of another subject or issuer', () => {
    const odd = issuedId(issuer, 'a b')
    const subjects = ['a b', odd.split(':')[2] ?? '', 'a%20b', 'A b', 'a', 'x'.repeat(106)]
    subjects.push('x'.repeat(107), 'x'.repeat(108))
    const ids = subjects.flatMap((subject) =>
      [issuer, `${issuer}/`].map((from) => issuedId(from, subject)),
    )
    expect(new Set(ids).size).toBe(subjects.length * 2)
  })
})
