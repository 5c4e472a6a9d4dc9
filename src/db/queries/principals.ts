import type { Selectable } from 'kysely'
import type { Id } from '../../domain/ids.ts'
import type { Principal, Role } from '../../domain/principal.ts'
import type { Db, Transaction } from '../connect.ts'
import type { ApiKeysTable, PrincipalsTable } from '../rows/access.ts'

/** Somebody who may act in the tenant, as stored. */
export interface StoredPrincipal {
  readonly id: string
  readonly kind: Principal['kind']
  readonly name: string
  readonly roles: readonly Role[]
  readonly groups: readonly string[]
  readonly createdAt: Date
  readonly disabledAt: Date | null
  /** Of whom an issuer lets in: when the newest token that was seen was issued. Null for whom an admin has made. */
  readonly tokenIssuedAt: Date | null
}

/** A key without its text, which nobody has. */
export interface ApiKey {
  readonly id: Id<'key'>
  readonly principalId: string
  readonly name: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** False when the id is taken. */
export async function insertPrincipal(
  transaction: Transaction,
  tenantId: string,
  principal: Omit<StoredPrincipal, 'disabledAt'>,
): Promise<boolean> {
  const row = await transaction
    .insertInto('principals')
    .values({
      tenant_id: tenantId,
      id: principal.id,
      kind: principal.kind,
      name: principal.name,
      roles: [...principal.roles],
      groups: [...principal.groups],
      created_at: principal.createdAt,
      token_issued_at: principal.tokenIssuedAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function findPrincipal(db: Db, id: string): Promise<StoredPrincipal | undefined> {
  const row = await db.selectFrom('principals').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toPrincipal(row)
}

/** Those of some ids whose principals are shut out. */
export async function listShutOut(db: Db, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('principals')
    .select('id')
    .where('id', 'in', ids)
    .where('disabled_at', 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Writes what may change of somebody; what is left out stays. Undefined when there is nobody of this id. */
export async function updatePrincipal(
  transaction: Transaction,
  id: string,
  change: Partial<Pick<StoredPrincipal, 'name' | 'roles' | 'groups' | 'disabledAt'>>,
): Promise<StoredPrincipal | undefined> {
  const row = await transaction
    .updateTable('principals')
    .set({
      ...(change.name !== undefined && { name: change.name }),
      ...(change.roles && { roles: [...change.roles] }),
      ...(change.groups && { groups: [...change.groups] }),
      ...(change.disabledAt !== undefined && { disabled_at: change.disabledAt }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && toPrincipal(row)
}

/**
 * Takes over what a newer token says of somebody whom the issuer lets in. Undefined when there is nobody of this id, they
 * are disabled, or a token that is as new was seen.
 */
export async function updateIssued(
  transaction: Transaction,
  id: string,
  {
    name,
    roles,
    groups,
    issuedAt,
  }: Pick<StoredPrincipal, 'name' | 'roles' | 'groups'> & {
    readonly issuedAt: Date
  },
): Promise<StoredPrincipal | undefined> {
  const row = await transaction
    .updateTable('principals')
    .set({ name, roles: [...roles], groups: [...groups], token_issued_at: issuedAt })
    .where('id', '=', id)
    .where('token_issued_at', '<', issuedAt)
    .where('disabled_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && toPrincipal(row)
}

/** A page by id. `after` is the last id of the page before. */
export async function listPrincipals(
  db: Db,
  page: { readonly limit: number; readonly after?: string },
): Promise<readonly StoredPrincipal[]> {
  const rows = await db
    .selectFrom('principals')
    .selectAll()
    .$if(page.after !== undefined, (query) => query.where('id', '>', page.after ?? ''))
    .orderBy('id')
    .limit(page.limit)
    .execute()
  return rows.map(toPrincipal)
}

export async function insertApiKey(
  transaction: Transaction,
  tenantId: string,
  key: Omit<ApiKey, 'revokedAt'> & { readonly keyHash: string },
): Promise<void> {
  await transaction
    .insertInto('api_keys')
    .values({
      tenant_id: tenantId,
      id: key.id,
      principal_id: key.principalId,
      name: key.name,
      key_hash: key.keyHash,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
    })
    .execute()
}

/** Newest first; `before` is the last id of the page before. */
export async function listApiKeys(
  db: Db,
  page: { readonly limit: number; readonly before?: string; readonly principalId?: string },
): Promise<readonly ApiKey[]> {
  const { before, principalId } = page
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(principalId !== undefined, (query) => query.where('principal_id', '=', principalId ?? ''))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(toApiKey)
}

/** Revokes a key for ever; one that is revoked stays as it was. Undefined when there is none of this id. */
export async function updateRevokedAt(
  transaction: Transaction,
  id: Id<'key'>,
  at: Date,
): Promise<ApiKey | undefined> {
  await transaction
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return findApiKey(transaction, id)
}

export async function findApiKey(db: Db, id: Id<'key'>): Promise<ApiKey | undefined> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toApiKey(row)
}

/** Whom a key lets in: undefined for one that is not there, revoked, expired, or of somebody who is disabled. */
export async function findPrincipalByKey(
  db: Db,
  keyHash: string,
  at: Date,
): Promise<StoredPrincipal | undefined> {
  const row = await usableKeys(db, at)
    .where('k.key_hash', '=', keyHash)
    .selectAll('p')
    .executeTakeFirst()
  return row && toPrincipal(row)
}

/** Whether anybody can come in as an admin with a key. */
export async function hasAdminKey(db: Db, at: Date): Promise<boolean> {
  const row = await usableKeys(db, at)
    .where((eb) => eb(eb.val('admin'), '=', eb.fn.any('p.roles')))
    .select('k.id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether anybody can come in as an admin, with a key or with tokens of the issuer. */
export async function hasAdmin(db: Db, at: Date): Promise<boolean> {
  if (await hasAdminKey(db, at)) return true
  const row = await admins(db)
    .where('token_issued_at', 'is not', null)
    .where('disabled_at', 'is', null)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Has whoever else takes an admin away wait until this transaction has ended. */
export async function lockAdmins(transaction: Transaction): Promise<void> {
  await admins(transaction).select('id').orderBy('id').forNoKeyUpdate().execute()
}

function admins(db: Db) {
  return db
    .selectFrom('principals')
    .where((eb) => eb(eb.val('admin'), '=', eb.fn.any('principals.roles')))
}

function usableKeys(db: Db, at: Date) {
  return db
    .selectFrom('api_keys as k')
    .innerJoin('principals as p', 'p.id', 'k.principal_id')
    .where('k.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', at)]))
    .where('p.disabled_at', 'is', null)
}

function toPrincipal(row: Selectable<PrincipalsTable>): StoredPrincipal {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    // A constraint holds them to the five.
    roles: row.roles as Role[],
    groups: row.groups,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    tokenIssuedAt: row.token_issued_at,
  }
}

function toApiKey(row: Selectable<ApiKeysTable>): ApiKey {
  return {
    id: row.id as Id<'key'>,
    principalId: row.principal_id,
    name: row.name,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}
