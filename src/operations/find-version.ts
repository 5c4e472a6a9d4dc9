import type { Db } from '../db/connect.ts'
import { findActiveAt } from '../db/queries/activations.ts'
import { findProcedure, listProcedureKeys } from '../db/queries/procedures.ts'
import {
  findActiveVersion,
  findVersion,
  findVersionById,
  listVersions,
  type ProcedureVersion,
} from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import { nearestName } from '../domain/nearest-name.ts'

/**
 * The version of that number, or without a number the one that people mean: the active one, else the newest.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`, `VERSION_NOT_FOUND`.
 */
export async function findProcedureVersion(
  db: Db,
  procedureKey: string,
  versionNumber?: number,
): Promise<ProcedureVersion> {
  const procedure = await findProcedure(db, procedureKey)
  if (procedure === undefined) throw await procedureNotFound(db, procedureKey)
  const version =
    versionNumber === undefined
      ? await findActiveVersion(db, procedureKey)
      : await findVersion(db, procedureKey, versionNumber)
  if (version !== undefined) return version
  const known = await listVersions(db, procedure.id)
  const newest = known[0]?.versionNumber
  const fallback =
    versionNumber === undefined && newest !== undefined
      ? await findVersion(db, procedureKey, newest)
      : undefined
  if (fallback !== undefined) return fallback
  throw new ServiceError('VERSION_NOT_FOUND', {
    procedureKey,
    versionNumber: versionNumber ?? null,
    known: known.map((item) => item.versionNumber),
  })
}

/**
 * The version that served a procedure at an instant.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`, `VERSION_NOT_ACTIVE_THEN`.
 */
export async function getVersionAsOf(
  db: Db,
  procedureKey: string,
  at: Date,
): Promise<ProcedureVersion> {
  const procedure = await findProcedure(db, procedureKey)
  if (procedure === undefined) throw await procedureNotFound(db, procedureKey)
  const id = await findActiveAt(db, procedure.id, at)
  const version = id && (await findVersionById(db, id))
  if (version !== undefined) return version
  throw new ServiceError('VERSION_NOT_ACTIVE_THEN', { procedureKey, at: at.toISOString() })
}

/**
 * The version that serves a procedure now.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`, `PROCEDURE_NOT_ACTIVE`.
 */
export async function getActiveVersion(db: Db, procedureKey: string): Promise<ProcedureVersion> {
  const version = await findActiveVersion(db, procedureKey)
  if (version !== undefined) return version
  if ((await findProcedure(db, procedureKey)) === undefined) {
    throw await procedureNotFound(db, procedureKey)
  }
  throw new ServiceError('PROCEDURE_NOT_ACTIVE', { procedureKey })
}

/** Says that there is no such procedure, with the name of one that may have been meant. */
export async function procedureNotFound(db: Db, procedureKey: string): Promise<ServiceError> {
  const nearest = nearestName(procedureKey, await listProcedureKeys(db))
  return new ServiceError('PROCEDURE_NOT_FOUND', {
    procedureKey,
    ...(nearest !== undefined && { nearest }),
  })
}
