import type { KyselyPlugin } from 'kysely'
import { describe, expect, it } from 'vitest'
import { apiKeyHash, newApiKey, tenantOfKey } from '../../src/domain/api-key.ts'
import { authenticate } from '../../src/operations/authenticate.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

let now = Date.parse('2026-11-30T12:00:00Z')
const { app, db } = await openTestApp({ clock: { now: () => now } })
const admin = callerOf('root', ['admin'])
let made = 0

async function somebody(more: object = {}) {
  made += 1
  const principalId = `person-${made}`
  const input = { principalId, roles: ['author'], ...more }
  await operations.createPrincipal.invoke(app, admin, input)
  return principalId
}

const keyOf = (principalId: string, more: object = {}) =>
  operations.createKey.invoke(app, admin, { principalId, ...more })

describe('a key', () => {
  it('lets its principal in, as they are at that moment', async () => {
    const id = await somebody({ kind: 'ai', groups: ['refund-desk'] })
    const { key } = await keyOf(id)

    expect(await authenticate(app, key)).toEqual({
      ...{ id, kind: 'ai', roles: ['author'], groups: ['refund-desk'], tenantId: 'default' },
    })
    await operations.changePrincipal.invoke(app, admin, { principalId: id, roles: ['auditor'] })
    expect(await authenticate(app, key)).toMatchObject({
      roles: ['auditor'],
      groups: ['refund-desk'],
    })
  })

  it('is kept nowhere', async () => {
    const { key } = await keyOf(await somebody())

    const held = await db.asOwner('default', async (client) => {
      const { rows } = await client.query<{ n: number }>(
        `SELECT (SELECT count(*) FROM api_keys k WHERE k::text LIKE '%' || $1 || '%')
          + (SELECT count(*) FROM audit_events e WHERE e::text LIKE '%' || $1 || '%') AS n`,
        [key.slice(-20)],
      )
      return Number(rows[0]?.n)
    })
    expect(held).toBe(0)
  })

  it('is refused from the moment it is revoked, and stays so', async () => {
    const { key, keyId } = await keyOf(await somebody())
    const { revokedAt } = await operations.revokeKey.invoke(app, admin, { keyId })
    now += 1_000

    await expect(authenticate(app, key)).rejects.toMatchObject({ code: 'KEY_REFUSED' })
    expect(await operations.revokeKey.invoke(app, admin, { keyId })).toMatchObject({ revokedAt })
  })

  it('is refused once it has expired', async () => {
    const { key } = await keyOf(await somebody(), { expiresInDays: 1 })
    now += 86_399_999
    expect(await authenticate(app, key)).toBeDefined()
    now += 1
    await expect(authenticate(app, key)).rejects.toMatchObject({ code: 'KEY_REFUSED' })
  })

  it('is refused while its principal is shut out', async () => {
    const id = await somebody()
    const { key } = await keyOf(id)
    await operations.changePrincipal.invoke(app, admin, { principalId: id, disabled: true })

    await expect(authenticate(app, key)).rejects.toMatchObject({ code: 'KEY_REFUSED' })
    await expect(keyOf(id)).rejects.toMatchObject({ code: 'PRINCIPAL_DISABLED' })
    await operations.changePrincipal.invoke(app, admin, { principalId: id, disabled: false })
    expect(await authenticate(app, key)).toMatchObject({ id })
  })

  it('is of one tenant, whatever it says', async () => {
    await db.addTenant('acme')
    const { key } = await keyOf(await somebody())

    await expect(authenticate(app, key.replace('sw_default_', 'sw_acme_'))).rejects.toMatchObject({
      code: 'KEY_REFUSED',
    })
  })

  it.each([
    'sw_default_',
    'default',
    '',
    `sw_default_${'a'.repeat(42)}`,
    `sw_default_${'a'.repeat(44)}`,
    `sw_DEFAULT_${'a'.repeat(43)}`,
    `sw_default_${"'".repeat(43)}`,
    newApiKey('default'),
    newApiKey('nobody'),
  ])('that is none (%s) lets nobody in', async (key) => {
    await expect(authenticate(app, key)).rejects.toMatchObject({
      code: 'KEY_REFUSED',
      kind: 'unauthenticated',
    })
  })

  it('says whose tenant it is of, also where the secret has underscores', () => {
    expect(tenantOfKey(`sw_a-b_${'_-'.repeat(21)}_`)).toBe('a-b')
    expect(newApiKey('default')).not.toBe(newApiKey('default'))
    expect(apiKeyHash('x')).toMatch(/^[0-9a-f]{64}$/)
  })
})

/** The app, and what it asks the database for with `forTenant`: each statement as it is, values and all. */
function observed() {
  const statements: string[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      statements.push(JSON.stringify(node))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const forTenant: typeof app.database.forTenant = (tenantId) => {
    const tenant = app.database.forTenant(tenantId)
    return { ...tenant, kysely: tenant.kysely.withPlugin(plugin) }
  }
  return { statements, app: { ...app, database: { ...app.database, forTenant } } }
}

describe('what is compared of a key', () => {
  it('is its digest, by the database: the same one statement for whatever has the form of a key', async () => {
    const { key } = await keyOf(await somebody())
    const revoked = await keyOf(await somebody())
    await operations.revokeKey.invoke(app, admin, { keyId: revoked.keyId })
    const nearly = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
    const shown = [key, nearly, revoked.key, newApiKey('default'), newApiKey('nobody')]

    const seen = new Set<string>()
    for (const one of shown) {
      const { app: watched, statements } = observed()
      await authenticate(watched, one).catch(() => {})
      expect(statements).toHaveLength(1)
      const [statement = ''] = statements
      expect(statement).toContain(apiKeyHash(one))
      expect(statement).not.toContain(one.slice(-43))
      seen.add(statement.replace(apiKeyHash(one), ''))
    }
    // Nothing of the text decides what is asked, so nothing of it shows in how long that takes.
    expect(seen.size).toBe(1)
  })

  it('is nothing at all of what has not the form of one', async () => {
    const { app: watched, statements } = observed()

    await expect(authenticate(watched, 'sw_default_short')).rejects.toThrow()
    expect(statements).toEqual([])
  })
})

describe('principals', () => {
  it('keep their id and kind, and are never made twice', async () => {
    const id = await somebody()
    await expect(somebody({ principalId: id })).rejects.toMatchObject({ code: 'PRINCIPAL_EXISTS' })
    await expect(
      operations.changePrincipal.invoke(app, admin, { principalId: 'nobody', roles: [] }),
    ).rejects.toMatchObject({ code: 'PRINCIPAL_NOT_FOUND' })
    await expect(
      operations.changePrincipal.invoke(app, admin, { principalId: id, kind: 'human' }),
    ).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    for (const principalId of ['deployment', 'stepwarden', 'two words', '']) {
      const attempt = operations.createPrincipal.invoke(app, admin, { principalId, roles: [] })
      await expect(attempt).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    }
    await expect(
      operations.changePrincipal.invoke(app, admin, { principalId: id }),
    ).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it.each([
    ['deletes a principal', `DELETE FROM principals`],
    ['makes a person of an AI agent', `UPDATE principals SET kind = 'human'`],
    ['gives an unknown role', `UPDATE principals SET roles = ARRAY['root']`],
    ['deletes a key', `DELETE FROM api_keys`],
    ['gives a key to somebody else', `UPDATE api_keys SET principal_id = 'person-1'`],
    [
      'brings a revoked key back',
      `UPDATE api_keys SET revoked_at = NULL WHERE revoked_at IS NOT NULL`,
    ],
  ])('are guarded by the database: no statement %s', async (_what, statement) => {
    const attempt = db.asOwner('default', async (client) => client.query(statement))
    await expect(attempt).rejects.toThrow()
  })

  it('are listed by page, and keys without their text', async () => {
    const ids = new Set<string>()
    let cursor: string | undefined
    do {
      const page = await operations.listPrincipals.invoke(app, admin, { limit: 2, cursor })
      for (const { principalId } of page.items) ids.add(principalId)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(ids.size).toBe(made - 1)

    const { items } = await operations.listKeys.invoke(app, admin, { principalId: 'person-1' })
    expect(items).toEqual([expect.objectContaining({ principalId: 'person-1' })])
    expect(items[0]).not.toHaveProperty('key')
  })
})

describe('the last admin who can come in', () => {
  const boss = callerOf('boss', ['admin'], 'alone')
  const letIn = async (principalId: string) => {
    await operations.createPrincipal.invoke(app, boss, { principalId, roles: ['admin'] })
    return operations.createKey.invoke(app, boss, { principalId })
  }
  const last = { code: 'PRINCIPAL_LAST_ADMIN' }

  it('is neither shut out nor deprived of the role or of the key, and somebody else is', async () => {
    await db.addTenant('alone')
    const first = await letIn('first')
    const shutOut = { principalId: 'first', disabled: true }
    const noRole = { principalId: 'first', roles: ['auditor'] }

    for (const change of [shutOut, noRole]) {
      await expect(operations.changePrincipal.invoke(app, boss, change)).rejects.toMatchObject(last)
    }
    const { keyId } = first
    await expect(operations.revokeKey.invoke(app, boss, { keyId })).rejects.toMatchObject(last)
    expect(await authenticate(app, first.key)).toMatchObject({ id: 'first', roles: ['admin'] })

    const second = await letIn('second')
    await operations.changePrincipal.invoke(app, boss, shutOut)
    await expect(authenticate(app, first.key)).rejects.toMatchObject({ code: 'KEY_REFUSED' })
    const lastKey = { keyId: second.keyId }
    await expect(operations.revokeKey.invoke(app, boss, lastKey)).rejects.toMatchObject(last)
  })

  it('may be given another key, and then loses the old one', async () => {
    const { keyId: old } = await letIn('third')
    await operations.changePrincipal.invoke(app, boss, { principalId: 'second', disabled: true })
    await operations.createKey.invoke(app, boss, { principalId: 'third' })

    expect(await operations.revokeKey.invoke(app, boss, { keyId: old })).toMatchObject({
      principalId: 'third',
    })
  })
})
