import type { Db } from '../db/connect.ts'
import { findProcedure } from '../db/queries/procedures.ts'
import {
  findActiveVersion,
  findVersion,
  listVersions,
  type ProcedureVersion,
} from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'

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
  if (procedure === undefined) throw new ServiceError('PROCEDURE_NOT_FOUND', { procedureKey })
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
