import type { AppContext } from '../context.ts'
import type { Db, Transaction } from '../db/connect.ts'
import { lockProcedure, updateNextVersionNumber } from '../db/queries/procedures.ts'
import { listScenarios, replaceScenarios } from '../db/queries/scenarios.ts'
import {
  findVersion,
  findVersionTexts,
  insertVersion,
  type ProcedureVersion,
  type VersionTexts,
} from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { type Id, newId } from '../domain/ids.ts'
import type { Scenario } from '../domain/scenario.ts'
import type { AuditEntry, Caller } from './define.ts'
import { procedureNotFound } from './find-version.ts'
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
  { prepared, scenarios, texts, basedOn, authorIds }: NextVersion,
): Promise<{ readonly version: ProcedureVersion; readonly audit: readonly AuditEntry[] }> {
  const { tenantId } = caller.principal
  const now = app.clock.now()
  const procedure = await lockProcedure(transaction, key)
  if (procedure === undefined) throw await procedureNotFound(transaction, key)
  const { content } = prepared
  if (content.definition.key !== key) {
    throw new ServiceError('DEFINITION_KEY_DIFFERS', {
      procedureKey: key,
      found: content.definition.key,
    })
  }
  const number = await updateNextVersionNumber(transaction, procedure.id)
  const id = newId('version', now)
  await insertVersion(transaction, {
    ...content,
    ...texts,
    tenantId,
    id,
    procedureId: procedure.id,
    versionNumber: number,
    author: caller.principal,
    at: new Date(now),
    ...(basedOn && { basedOn }),
    ...(authorIds && { authorIds }),
  })
  await storeCompanions(transaction, app, { tenantId, versionId: id }, prepared)
  await replaceScenarios(transaction, tenantId, id, scenarios)
  const version = await findVersion(transaction, key, number)
  if (version === undefined) throw new TypeError('the version was inserted just now')
  return {
    version,
    audit: [
      {
        action: 'version.created',
        entityKind: 'version',
        entityId: id,
        afterHash: content.definitionHash,
        details: { procedureKey: key, versionNumber: number, basedOn: basedOn ?? null },
      },
    ],
  }
}
