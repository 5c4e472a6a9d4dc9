import type { AppContext } from '../context.ts'
import type { Db, Transaction } from '../db/connect.ts'
import {
  insertProcedure,
  lockProcedure,
  updateNextVersionNumber,
} from '../db/queries/procedures.ts'
import { listScenarios, replaceScenarios } from '../db/queries/scenarios.ts'
import {
  findVersion,
  findVersionTexts,
  insertVersion,
  type ProcedureVersion,
  type VersionTexts,
} from '../db/queries/versions.ts'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { type Id, newId } from '../domain/ids.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { AuditEntry, Caller } from './define.ts'
import { findProcedureVersion, procedureNotFound } from './find-version.ts'
import { type PreparedVersion, prepareVersion, storeCompanions } from './prepare-version.ts'

/** What the next draft of a procedure is made of. */
export interface NextVersion {
  readonly prepared: PreparedVersion
  readonly scenarios: readonly Scenario[]
  readonly texts: VersionTexts
  /** The version that it is a copy of, if it is one. */
  readonly basedOn?: Id<'version'> | undefined
  /** Who wrote it, where that was not whoever stores it. */
  readonly authorIds?: readonly string[] | undefined
  /** The proposal that was accepted for it, with the id that the acceptance names. */
  readonly proposed?:
    | { readonly proposalId: Id<'proposal'>; readonly id: Id<'version'> }
    | undefined
}

/** A copy of a version, made ready before any transaction: checked and pinned anew, against the tools of today. */
export async function prepareCopy(
  app: AppContext,
  db: Db,
  basis: ProcedureVersion,
): Promise<NextVersion> {
  return {
    prepared: await prepareVersion(app, db, basis.definition),
    scenarios: await listScenarios(db, basis.id),
    texts: await findVersionTexts(db, basis.id),
    basedOn: basis.id,
    authorIds: basis.authorIds,
  }
}

/**
 * Stores the next draft of a procedure, under the procedure's lock.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`, `DEFINITION_KEY_DIFFERS`, `EMBEDDING_MODEL_CHANGED`.
 */
export async function insertNextVersion(
  app: AppContext,
  caller: Caller,
  transaction: Transaction,
  key: string,
  next: NextVersion,
): Promise<Inserted> {
  const procedure = await lockProcedure(transaction, key)
  if (procedure === undefined) throw await procedureNotFound(transaction, key)
  const { definition } = next.prepared.content
  if (definition.key !== key) {
    throw new ServiceError('DEFINITION_KEY_DIFFERS', {
      procedureKey: key,
      found: definition.key,
    })
  }
  const number = await updateNextVersionNumber(transaction, procedure.id)
  return insertDraft(app, caller, transaction, { id: procedure.id, number }, next)
}

/**
 * Stores a procedure with its first draft.
 *
 * @throws ServiceError `PROCEDURE_EXISTS`, `EMBEDDING_MODEL_CHANGED`.
 */
export async function insertFirstVersion(
  app: AppContext,
  caller: Caller,
  transaction: Transaction,
  next: NextVersion,
): Promise<Inserted> {
  const now = app.clock.now()
  const { key } = next.prepared.content.definition
  const procedure = { id: newId('procedure', now), key, createdAt: new Date(now) }
  if (!(await insertProcedure(transaction, caller.principal.tenantId, procedure))) {
    throw new ServiceError('PROCEDURE_EXISTS', { procedureKey: key })
  }
  return insertDraft(app, caller, transaction, { id: procedure.id, number: 1 }, next)
}

export interface Inserted {
  readonly version: ProcedureVersion
  readonly audit: readonly AuditEntry[]
}

async function insertDraft(
  app: AppContext,
  { principal }: Caller,
  transaction: Transaction,
  of: { readonly id: Id<'procedure'>; readonly number: number },
  { prepared, scenarios, texts, basedOn, authorIds, proposed }: NextVersion,
): Promise<Inserted> {
  const { tenantId } = principal
  const { content } = prepared
  const { key } = content.definition
  const now = app.clock.now()
  const id = proposed?.id ?? newId('version', now)
  await insertVersion(transaction, {
    ...content,
    ...texts,
    tenantId,
    id,
    procedureId: of.id,
    versionNumber: of.number,
    author: principal,
    at: new Date(now),
    ...(basedOn && { basedOn }),
    ...(authorIds && { authorIds }),
    ...(proposed && { proposalId: proposed.proposalId }),
  })
  await storeCompanions(transaction, app, { tenantId, versionId: id }, prepared)
  await replaceScenarios(transaction, tenantId, id, scenarios)
  const version = await findVersion(transaction, key, of.number)
  if (version === undefined) throw new TypeError('the version was inserted just now')
  const details = { procedureKey: key, versionNumber: of.number }
  return {
    version,
    audit: [
      {
        action: 'version.created',
        entityKind: 'version',
        entityId: id,
        afterHash: content.definitionHash,
        details: of.number === 1 ? details : { ...details, basedOn: basedOn ?? null },
      },
    ],
  }
}

/** All who wrote any of it, in the order in which they came. */
export function withAuthor(authorIds: readonly string[], { principal }: Caller): readonly string[] {
  return [...new Set([...authorIds, principal.id])]
}

export interface Inherited {
  readonly scenarios: readonly Scenario[]
  readonly source: string | null
  /** Who wrote the version that they are of. */
  readonly authorIds: readonly string[]
}

/** The scenarios of the version that would be copied, with their text; none where there is no version to copy. */
export async function findInherited(db: Db, procedureKey: string): Promise<Inherited> {
  try {
    const { id, authorIds } = await findProcedureVersion(db, procedureKey)
    const { scenariosSource } = await findVersionTexts(db, id)
    return { scenarios: await listScenarios(db, id), source: scenariosSource, authorIds }
  } catch (error) {
    // A procedure whose drafts were all deleted has none, and one that is not there is refused by the change.
    const none = { scenarios: [], source: null, authorIds: [] }
    if (isServiceError(error, 'VERSION_NOT_FOUND')) return none
    if (isServiceError(error, 'PROCEDURE_NOT_FOUND')) return none
    throw error
  }
}
