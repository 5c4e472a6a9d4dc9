import { createPublicKey } from 'node:crypto'
import { exportJWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTokenReader, isToken, type TokenReader } from '../../src/access/tokens.ts'
import type { OidcConfig } from '../../src/config/access.ts'
import { createLogger } from '../../src/logger.ts'
import { newSigningKey, openTestIssuer } from '../support/issuer.ts'

const issuer = await openTestIssuer()
const [first] = issuer.keys
if (first === undefined) throw new Error('the issuer has no key')
const second = await newSigningKey('second', 'RS256')
const at = Date.parse('2026-11-30T12:00:00Z')
let now = 0
let reader: TokenReader

const config: OidcConfig = {
  issuer: issuer.url,
  audience: 'stepwarden',
  rolesClaim: 'roles',
  tenantId: 'default',
}
const log = createLogger('silent')
const open = (more: Partial<OidcConfig> = {}) =>
  createTokenReader({ ...config, ...more }, { log, now: () => now })

beforeEach(() => {
  now = 0
  issuer.keys = [first]
  issuer.mood = 'well'
  issuer.description = {}
  reader = open()
})

afterEach(() => reader[Symbol.dispose]())

/** What a token is refused for, or whom it is about. */
async function outcome(token: string): Promise<string> {
  const read = await reader.read(token, at)
  return 'refused' in read ? read.refused : read.issued.id
}

const ann = expect.stringMatching(/^oidc:[0-9a-f]{16}:ann$/)

describe('a token', () => {
  it('says who comes, with what roles, and when that was said', async () => {
    reader = open({ groupsClaim: 'team', tenantClaim: 'org.slug' })
    const claims = { name: 'Ann', roles: ['agent'], team: ['desk'], org: { slug: 'acme' } }

    expect(await reader.read(await issuer.token(at, claims), at)).toEqual({
      issued: {
        ...{ id: ann, kind: 'human', name: 'Ann', roles: ['agent'], groups: ['desk'] },
        ...{ tenantId: 'acme', issuedAt: new Date(at) },
      },
    })
  })

  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('may be signed by %s', async (alg) => {
    issuer.keys = [await newSigningKey('one', alg)]

    expect(await outcome(await issuer.token(at))).toEqual(ann)
  })

  it.each([
    ['no issuer', { iss: undefined }, 'another issuer'],
    ['another issuer', { iss: 'https://evil.example' }, 'another issuer'],
    ['its issuer with a slash more', { iss: `${issuer.url}/` }, 'another issuer'],
    ['no audience', { aud: undefined }, '"aud" claim'],
    ['another audience', { aud: 'other' }, '"aud" claim'],
    ['a longer audience', { aud: ['stepwarden2', 'other'] }, '"aud" claim'],
    ['no subject', { sub: undefined }, 'missing required "sub"'],
    ['an empty subject', { sub: '' }, 'its subject'],
    ['half a character for a subject', { sub: '\ud800' }, 'its subject'],
    ['no end', { exp: undefined }, 'missing required "exp"'],
    ['its end behind it', { exp: at / 1000 - 60 }, '"exp" claim'],
    ['its beginning before it', { nbf: at / 1000 + 61 }, '"nbf" claim'],
    ['no time of issue', { iat: undefined }, 'missing required "iat"'],
    ['a time of issue to come', { iat: at / 1000 + 61 }, 'in the future'],
    ['a time of issue before there was one', { iat: -1 }, 'in the future'],
    ['a subject that is a number', { sub: 7 }, 'its subject'],
    ['an end that is a text', { exp: '2999' }, '"exp" claim must'],
    ['a time of issue that is a text', { iat: 'now' }, '"iat" claim must'],
    ['a key that it is bound to', { cnf: { jkt: 'x' } }, 'bound to a key'],
  ])('with %s is refused', async (_what, claims, reason) => {
    expect(await outcome(await issuer.token(at, claims))).toMatch(reason)
  })

  it.each([
    ['that ended a minute ago', { exp: at / 1000 - 59 }],
    ['that begins in a minute', { nbf: at / 1000 + 60 }],
    ['issued in a minute', { iat: at / 1000 + 60 }],
    ['of several audiences', { aud: ['other', 'stepwarden'] }],
  ])('%s is good', async (_what, claims) => {
    expect(await outcome(await issuer.token(at, claims))).toEqual(ann)
  })

  it('names its tenant where tenants are named, and is of no other by default', async () => {
    reader = open({ tenantClaim: 'org' })

    for (const org of [undefined, '', 'Acme', 'a b', ['acme'], 'x'.repeat(64), "a'--"]) {
      expect(await outcome(await issuer.token(at, { org }))).toBe('it names no tenant')
    }
    expect(await outcome(await issuer.token(at, { org: 'acme' }))).toEqual(ann)
  })
})

describe('a forged token', () => {
  it('without a signature is refused', async () => {
    const claims = { iss: issuer.url, aud: 'stepwarden', sub: 'ann', iat: at / 1000 }
    const none = new UnsecuredJWT({ ...claims, exp: at / 1000 + 300 }).encode()

    expect(isToken(none)).toBe(false)
    expect(await outcome(none)).toMatch('none')
    expect(await outcome(`${none}AAAA`)).toMatch('none')
  })

  it('signed with the public key as a secret is refused', async () => {
    const jwk = second.publicJwk
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    issuer.keys = [second]
    for (const secret of [String(pem), String(pem).trim(), JSON.stringify(jwk), String(jwk.n)]) {
      const claims = { iss: issuer.url, aud: 'stepwarden', sub: 'ann', iat: at / 1000 }
      const token = await new SignJWT({ ...claims, exp: at / 1000 + 300 })
        .setProtectedHeader({ alg: 'HS256', kid: 'second' })
        .sign(Buffer.from(secret))

      expect(await outcome(token)).toBe('its algorithm is HS256')
    }
  })

  it('that brings its own key, or says where to get it, is refused, and nothing is fetched', async () => {
    const mine = await newSigningKey('mine')
    const jwk = await exportJWK(mine.privateKey).then(({ d: _d, ...rest }) => rest)
    const before = issuer.reads()
    for (const header of [
      { jwk },
      { jku: `${issuer.url}/keys` },
      { x5u: `${issuer.url}/keys` },
      { x5c: ['MIIB'] },
    ]) {
      const [name = ''] = Object.keys(header)
      expect(await outcome(await issuer.token(at, {}, { key: mine, header }))).toMatch(name)
      // Nor does a good signature help.
      expect(await outcome(await issuer.token(at, {}, { header }))).toMatch(name)
    }
    expect(issuer.reads()).toBe(before)
  })

  it.each([
    '../../../../dev/null',
    '/etc/passwd',
    'file:///dev/null',
    'https://evil.example/keys',
    "first' OR '1'='1",
    '__proto__',
    '',
    'x'.repeat(10_000),
  ])('whose key id is a place (%.30s) is refused, and only the issuer is asked', async (kid) => {
    const mine = { ...(await newSigningKey('mine')), kid }

    expect(await outcome(await issuer.token(at, {}, { key: mine }))).not.toEqual(ann)
    // Signed with the key of nothing, which is what an empty file would be.
    const claims = { iss: issuer.url, aud: 'stepwarden', sub: 'ann', iat: at / 1000 }
    const empty = await new SignJWT({ ...claims, exp: at / 1000 + 300 })
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.alloc(32))
    expect(await outcome(empty)).toBe('its algorithm is HS256')
    expect(await outcome(await issuer.token(at))).toEqual(ann)
  })

  it('that names a key of the issuer and is signed with another is refused', async () => {
    const mine = { ...(await newSigningKey('first')), kid: first.kid }

    expect(await outcome(await issuer.token(at, {}, { key: mine }))).toMatch('signature')
  })

  it('that was changed after it was signed is refused', async () => {
    const token = await issuer.token(at, { roles: ['agent'] })
    const [header, payload = '', signature] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const more = Buffer.from(JSON.stringify({ ...claims, roles: ['admin'] })).toString('base64url')

    expect(await outcome(`${header}.${more}.${signature}`)).toMatch('signature')
    expect(await outcome(`${header}.${payload}.AAAA`)).not.toEqual(ann)
  })

  it.each(['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'JOSE'])(
    'of type %s is refused',
    async (typ) => {
      expect(await outcome(await issuer.token(at, {}, { header: { typ } }))).toMatch(typ)
    },
  )

  it.each(['JWT', 'at+jwt', 'application/at+JWT'])('is what one of type %s is not', async (typ) => {
    expect(await outcome(await issuer.token(at, {}, { header: { typ } }))).toEqual(ann)
  })

  it.each([
    '',
    '.',
    '..',
    'a.b',
    'a.b.c.d',
    '{}.{}.{}',
    `${'a'.repeat(16_385)}.b.c`,
    'sw_default_x',
  ])('that is none (%.20s) is refused without a crash', async (text) => {
    expect(isToken(text)).toBe(false)
    expect(await outcome(text)).not.toEqual(ann)
  })

  it('of somebody else is no reason to ask the issuer', async () => {
    const before = issuer.reads()
    await outcome(await issuer.token(at, { iss: 'https://evil.example' }))

    expect(issuer.reads()).toBe(before)
  })
})

describe('the keys of the issuer', () => {
  it('are fetched once, however many come', async () => {
    const before = issuer.reads()
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token(at)))
    await Promise.all(tokens.map((token) => outcome(token)))
    now += 9 * 60_000
    await outcome(await issuer.token(at))

    expect(issuer.reads()).toBe(before + 1)
  })

  it('are fetched anew for one that is unknown, but not again and again', async () => {
    await outcome(await issuer.token(at))
    now += 10_000
    issuer.keys = [first, second]
    const before = issuer.reads()

    expect(await outcome(await issuer.token(at, {}, { key: second }))).toEqual(ann)
    for (let i = 0; i < 20; i += 1) {
      const key = { ...second, kid: `unknown-${i}` }
      expect(await outcome(await issuer.token(at, {}, { key }))).toBe('the issuer has no such key')
    }
    expect(issuer.reads()).toBe(before + 1)
    now += 10_000
    await outcome(await issuer.token(at, {}, { key: { ...second, kid: 'unknown' } }))
    expect(issuer.reads()).toBe(before + 2)
  })

  it('that it has withdrawn are known no more after ten minutes', async () => {
    const old = await issuer.token(at)
    expect(await outcome(old)).toEqual(ann)
    issuer.keys = [second]
    now += 10 * 60_000

    // The first who asks does not wait.
    expect(await outcome(old)).toEqual(ann)
    await expect.poll(() => outcome(old)).toBe('the issuer has no such key')
  })

  it.each(['failing', 'odd', 'endless', 'elsewhere'] as const)(
    'go on to be used while it is %s, and without any it cannot be said who comes',
    async (mood) => {
      const token = await issuer.token(at)
      issuer.mood = mood
      await expect(outcome(token)).rejects.toMatchObject({
        code: 'ISSUER_UNAVAILABLE',
        kind: 'unavailable',
        retryable: true,
      })
      issuer.mood = 'well'
      // It is not asked at once again.
      await expect(outcome(token)).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' })
      now += 5_000
      expect(await outcome(token)).toEqual(ann)

      issuer.mood = mood
      now += 23 * 3_600_000
      expect(await outcome(token)).toEqual(ann)
      const unknown = await issuer.token(at, {}, { key: second })
      await expect(outcome(unknown)).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' })
      expect(await outcome(token)).toEqual(ann)
      now += 3_600_000
      await expect(outcome(token)).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' })
    },
  )

  it.each([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['of the issuer but for a slash', { issuer: `${issuer.url}/` }],
    ['with keys over plain HTTP', { jwks_uri: 'http://evil.example/keys' }],
    ['with keys in a file', { jwks_uri: 'file:///etc/passwd' }],
    ['without keys', { jwks_uri: undefined }],
  ])('are not taken from a description %s', async (_what, description) => {
    issuer.description = description

    await expect(outcome(await issuer.token(at))).rejects.toMatchObject({
      code: 'ISSUER_UNAVAILABLE',
    })
  })

  it('are given up waiting for when it is silent, and when the service ends', async () => {
    issuer.mood = 'silent'
    const waiting = outcome(await issuer.token(at))
    setImmediate(() => reader[Symbol.dispose]())

    await expect(waiting).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' })
  })

  it('that are secret, or no keys, let nobody in', async () => {
    const secret = { ...second, publicJwk: { kty: 'oct', k: 'c2VjcmV0', kid: 'second' } }
    const leaked = { ...first, publicJwk: { ...(await exportJWK(first.privateKey)), kid: 'first' } }
    issuer.keys = [secret, leaked]

    expect(await outcome(await issuer.token(at))).not.toEqual(ann)
    expect(await outcome(await issuer.token(at, {}, { key: second }))).not.toEqual(ann)
  })
})
