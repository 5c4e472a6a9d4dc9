import { beforeAll, describe, expect, it } from 'vitest'
import { createTokenReader } from '../../src/access/tokens.ts'
import { issuedId } from '../../src/domain/issued-id.ts'
import type { Role } from '../../src/domain/principal.ts'
import { createLogger } from '../../src/logger.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import { carryOutSchedules } from '../../src/operations/carry-out-schedules.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { openTestIssuer } from '../support/issuer.ts'

let now = Date.parse('2026-11-30T12:00:00Z')
const issuer = await openTestIssuer()
const oidc = {
  issuer: issuer.url,
  audience: 'stepwarden',
  rolesClaim: 'roles',
  groupsClaim: 'groups',
  tenantClaim: 'org',
  tenantId: 'default',
}
const { app, db } = await openTestApp({ tools: [], clock: { now: () => now } }, { oidc })
const root = callerOf('root', ['admin', 'auditor'])
let made = 0

beforeAll(() => db.addTenant('acme'))

/** A person whom nobody here has seen. */
function person() {
  made += 1
  const sub = `person-${made}`
  const principalId = issuedId(issuer.url, sub)
  return {
    principalId,
    token: (roles: readonly Role[] = ['agent'], more: object = {}) =>
      issuer.token(now, { sub, org: 'default', roles, ...more }),
    come: async (roles?: readonly Role[], more?: object) =>
      authenticate(
        app,
        await issuer.token(now, { sub, org: 'default', roles: roles ?? ['agent'], ...more }),
      ),
  }
}

const stored = async (principalId: string, tenantId = 'default') => {
  const caller = callerOf('root', ['admin'], tenantId)
  const { items } = await operations.listPrincipals.invoke(app, caller, { limit: 100 })
  return items.find((item) => item.principalId === principalId)
}

async function eventsOf(principalId: string) {
  const { items } = await operations.listAuditEvents.invoke(app, root, { limit: 100 })
  return items.filter(({ entityId }) => entityId === principalId)
}

const refused = { code: 'KEY_REFUSED', kind: 'unauthenticated', details: {} }

describe('who comes with a token', () => {
  it('is a person of the tenant and the roles that it says, and is written down', async () => {
    const { principalId, come } = person()

    const principal = await come(['author', 'agent'], { name: 'Ann', groups: ['desk'] })

    expect(principal).toEqual({
      ...{ id: principalId, kind: 'human', roles: ['agent', 'author'], groups: ['desk'] },
      tenantId: 'default',
    })
    const issuedAt = new Date(now).toISOString()
    expect(await stored(principalId)).toEqual({
      ...{ principalId, kind: 'human', name: 'Ann', roles: ['agent', 'author'], groups: ['desk'] },
      ...{ createdAt: issuedAt, disabledAt: null, tokenIssuedAt: issuedAt },
    })
    expect(await eventsOf(principalId)).toEqual([
      expect.objectContaining({
        action: 'principal.created',
        actor: expect.objectContaining({ id: 'stepwarden', kind: 'service' }),
        details: expect.objectContaining({ roles: ['agent', 'author'] }),
      }),
    ])
  })

  it('is what the newest token says, and an older one brings nothing back', async () => {
    const { principalId, token, come } = person()
    const [older, same] = [await token(['admin']), await token(['agent'])]
    await authenticate(app, older)

    expect(await authenticate(app, same)).toMatchObject({ roles: ['admin'] })
    now += 1_000
    expect(await come(['agent'])).toMatchObject({ roles: ['agent'] })
    expect(await authenticate(app, older)).toMatchObject({ roles: ['agent'] })
    expect((await eventsOf(principalId)).map(({ action }) => action).sort()).toEqual([
      'principal.changed',
      'principal.created',
    ])
  })

  it('leaves no trace of each time, but of the hour', async () => {
    const { principalId, come } = person()
    await come()
    const since = (await stored(principalId))?.tokenIssuedAt
    now += 3_599_000
    await come()
    expect((await stored(principalId))?.tokenIssuedAt).toBe(since)
    now += 1_000
    await come()

    expect((await stored(principalId))?.tokenIssuedAt).toBe(new Date(now).toISOString())
    expect(await eventsOf(principalId)).toHaveLength(1)
  })

  it('may do nothing without a role that is one here', async () => {
    const principal = await person().come([], { roles: ['root', 'owner'] })

    const attempt = operations.listProcedures.invoke(app, { principal, origin: 'library' }, {})
    await expect(attempt).rejects.toMatchObject({ code: 'ROLE_MISSING' })
  })

  it('is refused from the moment an admin shuts them out, however new the token', async () => {
    const { principalId, token, come } = person()
    const before = await token()
    await authenticate(app, before)
    await operations.changePrincipal.invoke(app, root, { principalId, disabled: true })
    now += 4_000_000

    await expect(authenticate(app, before)).rejects.toMatchObject(refused)
    await expect(come(['admin'])).rejects.toMatchObject(refused)
    expect(await stored(principalId)).toMatchObject({ roles: ['agent'] })
    await operations.changePrincipal.invoke(app, root, { principalId, disabled: false })
    expect(await come(['admin'])).toMatchObject({ roles: ['admin'] })
  })

  it('is changed by the issuer alone, and gets no key', async () => {
    const { principalId, come } = person()
    await come()

    for (const change of [{ roles: ['admin'] }, { groups: [] }, { name: 'Root', disabled: true }]) {
      const attempt = operations.changePrincipal.invoke(app, root, { principalId, ...change })
      await expect(attempt).rejects.toMatchObject({ code: 'PRINCIPAL_OF_ISSUER' })
    }
    const key = operations.createKey.invoke(app, root, { principalId })
    await expect(key).rejects.toMatchObject({ code: 'PRINCIPAL_OF_ISSUER' })
    expect(await stored(principalId)).toMatchObject({ roles: ['agent'], disabledAt: null })
  })

  it('is nobody whom an admin has made', async () => {
    const { principalId, token } = person()
    const attempt = operations.createPrincipal.invoke(app, root, { principalId, roles: ['admin'] })
    await expect(attempt).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    // As a database may hold it from before there were tokens.
    await db.asApp('default', (client) =>
      client.query(
        `INSERT INTO principals (tenant_id, id, kind, name, roles, groups, created_at)
         VALUES ('default', $1, 'human', 'Old', '{admin}', '{}', now())`,
        [principalId],
      ),
    )

    await expect(authenticate(app, await token())).rejects.toMatchObject(refused)
    expect(await stored(principalId)).toMatchObject({ name: 'Old', tokenIssuedAt: null })
  })

  it('is one row and one event, when they come many times at once', async () => {
    const { principalId, token } = person()
    const shown = await token()

    const all = await Promise.all(Array.from({ length: 10 }, () => authenticate(app, shown)))

    expect(new Set(all.map(({ id }) => id))).toEqual(new Set([principalId]))
    expect(await eventsOf(principalId)).toHaveLength(1)
  })

  it('who was a person is no program later', async () => {
    const { token, come } = person()
    await authenticate(app, await token())
    now += 1_000

    await expect(come(['agent'], { gty: 'client-credentials' })).rejects.toMatchObject(refused)
  })
})

describe('the tenant', () => {
  it('is the one that the token names: people of two are two', async () => {
    const { principalId, come } = person()
    const ours = await come(['agent'])
    const theirs = await come(['admin'], { org: 'acme' })

    expect([ours.tenantId, theirs.tenantId]).toEqual(['default', 'acme'])
    expect(await stored(principalId)).toMatchObject({ roles: ['agent'] })
    expect(await stored(principalId, 'acme')).toMatchObject({ roles: ['admin'] })
  })

  it.each(['nobody', undefined, "x'; --", 'default '])(
    'that is none (%s) lets nobody in',
    async (org) => {
      await expect(person().come(['admin'], { org })).rejects.toMatchObject(refused)
    },
  )

  it('of a shut out person is no other', async () => {
    const { principalId, come } = person()
    await come()
    await operations.changePrincipal.invoke(app, root, { principalId, disabled: true })

    await expect(come()).rejects.toMatchObject(refused)
    expect(await come(['agent'], { org: 'acme' })).toMatchObject({ tenantId: 'acme' })
  })
})

it('why a token is refused nobody is told, but whoever reads the log at debug', async () => {
  const lines: string[] = []
  const log = createLogger('debug', { write: (line) => void lines.push(line) })
  const told = { ...app, log }
  const { principalId, token } = person()
  await authenticate(app, await token())
  await operations.changePrincipal.invoke(app, root, { principalId, disabled: true })
  const tokens = [
    await token(['agent'], { org: 'nobody' }),
    await token(['agent'], { aud: 'other' }),
    await token(),
    'a.b.c',
  ]

  const errors = await Promise.all(
    tokens.map((shown) => authenticate(told, shown).catch((error: unknown) => error)),
  )

  expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1)
  expect(new Set(errors.map(String)).size).toBe(1)
  expect(lines.join('')).toMatch('there is no such tenant')
  expect(lines.join('')).toMatch('whom it is of is shut out')
  for (const shown of tokens.slice(0, 3)) expect(lines.join('')).not.toMatch(shown.slice(-40))
})

it('a token lets nobody in where no issuer is set', async () => {
  const { tokens: _tokens, ...without } = app

  await expect(authenticate(without, await person().token())).rejects.toMatchObject(refused)
})

it('a token that cannot be judged now is no refusal', async () => {
  const iss = 'http://127.0.0.1:1'
  using tokens = createTokenReader({ ...oidc, issuer: iss }, { log: app.log })
  const token = await issuer.token(now, { iss, org: 'default' })

  await expect(authenticate({ ...app, tokens }, token)).rejects.toMatchObject({
    ...{ code: 'ISSUER_UNAVAILABLE', kind: 'unavailable', retryable: true },
  })
})

describe('the work of people with tokens', () => {
  const definition = (key: string) => ({
    ...{ key, name: key, description: 'For tests.', internal: true },
    steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }],
    completionConditions: [{ text: 'Known', when: 'steps.known.output.known' }],
  })
  const origin = 'http' as const

  async function draft(author = callerOf('writer', ['author'])) {
    made += 1
    const procedureKey = `PLAYBOOK_${made}`
    await operations.createProcedure.invoke(app, author, { definition: definition(procedureKey) })
    const named = { procedureKey, versionNumber: 1 }
    const { digest } = await operations.getApproval.invoke(app, root, named)
    return { named, verdict: { ...named, digest, verdict: 'approve' as const } }
  }

  beforeAll(() => db.requireApprovals(1))

  it('is approved by others, and their approvals count', async () => {
    const [author, approver] = [person(), person()]
    const writer = { principal: await author.come(['author', 'approver']), origin }
    const { named, verdict } = await draft(writer)

    const own = operations.reviewVersion.invoke(app, writer, verdict)
    await expect(own).rejects.toMatchObject({ code: 'REVIEW_OWN_WORK' })
    const caller = { principal: await approver.come(['approver']), origin }
    await operations.reviewVersion.invoke(app, caller, verdict)
    const live = await operations.activateVersion.invoke(app, caller, {
      ...named,
      seenActive: null,
    })
    expect(live).toMatchObject({ status: 'active' })
  })

  it('is not approved by a program', async () => {
    const { verdict } = await draft()
    const principal = await person().come(['approver'], { gty: 'client-credentials' })

    const attempt = operations.reviewVersion.invoke(app, { principal, origin }, verdict)
    await expect(attempt).rejects.toMatchObject({ code: 'REVIEW_NEEDS_PERSON' })
  })

  it('that they scheduled is carried out with the roles that they have by then', async () => {
    const approver = person()
    const { named, verdict } = await draft()
    const caller = { principal: await approver.come(['approver']), origin }
    await operations.reviewVersion.invoke(app, caller, verdict)
    const at = new Date(now + 60_000).toISOString()
    await operations.scheduleActivation.invoke(app, caller, {
      ...named,
      at,
      seenActive: null,
    })
    now += 30_000
    await approver.come(['agent'])
    now += 60_000
    await carryOutSchedules(app)

    const { items } = await operations.listSchedules.invoke(app, caller, {})
    expect(items[0]).toMatchObject({ status: 'refused', problem: { code: 'ROLE_MISSING' } })
  })
})

describe('the database', () => {
  it.each([
    [
      'makes an old principal one of the issuer',
      `UPDATE principals SET token_issued_at = now() WHERE id = 'plain'`,
    ],
    [
      'makes one of the issuer an old principal',
      `UPDATE principals SET token_issued_at = NULL WHERE id LIKE 'oidc:%' AND token_issued_at IS NOT NULL`,
    ],
    [
      'lets an older token count',
      `UPDATE principals SET token_issued_at = '2020-01-01' WHERE token_issued_at IS NOT NULL`,
    ],
    [
      'gives them a key',
      `INSERT INTO api_keys (tenant_id, id, principal_id, name, key_hash, created_at) SELECT tenant_id, 'k', id, 'k', repeat('a', 64), now() FROM principals WHERE token_issued_at IS NOT NULL LIMIT 1`,
    ],
    [
      'puts them under another name',
      `INSERT INTO principals VALUES ('default', 'plain2', 'human', 'P', '{}', '{}', now(), NULL, now())`,
    ],
  ])('guards it: no statement %s', async (_what, statement) => {
    await operations.createPrincipal
      .invoke(app, root, { principalId: 'plain', roles: [] })
      .catch(() => {})

    const attempt = db.asOwner('default', (client) => client.query(statement))
    await expect(attempt).rejects.toMatchObject({ code: expect.stringMatching(/^23/) })
  })
})
