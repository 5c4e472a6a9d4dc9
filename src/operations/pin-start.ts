import type { AppContext } from '../context.ts'
import type { TenantDb } from '../db/connect.ts'
import { findCalendar } from '../db/queries/tenants.ts'
import { findActiveVersion } from '../db/queries/versions.ts'
import { ServiceError } from '../domain/errors.ts'
import type { ExecutionStart, Pin } from '../domain/execution.ts'
import type { Plan } from '../executor/plan.ts'
import { planOfVersion } from './execution-plan.ts'

/**
 * What a run depends on besides its version, as it is now: the version of every procedure that it may call, and those
 * that these may call; the working days of its tenant. It stays so for the run, whatever is activated meanwhile.
 *
 * @throws ServiceError `PROCEDURE_NOT_ACTIVE` for a procedure that is called and has no active version.
 */
export async function pinStart(
  app: AppContext,
  db: TenantDb,
  plan: Plan,
): Promise<Pick<ExecutionStart, 'pins' | 'calendar'>> {
  const pins: Record<string, Pin> = {}
  let { countsWorkdays } = plan
  const open = [...plan.calls]
  for (let key = open.shift(); key !== undefined; key = open.shift()) {
    if (Object.hasOwn(pins, key)) continue
    const version = await findActiveVersion(db.kysely, key)
    if (version === undefined) throw new ServiceError('PROCEDURE_NOT_ACTIVE', { procedureKey: key })
    const { id: versionId, versionNumber, definitionHash } = version
    pins[key] = { versionId, versionNumber, definitionHash }
    const called = await planOfVersion(app, db, version)
    countsWorkdays ||= called.countsWorkdays
    open.push(...called.calls)
  }
  const calendar = countsWorkdays ? await findCalendar(db.kysely, db.tenantId) : undefined
  return { ...(plan.calls.length > 0 && { pins }), ...(calendar !== undefined && { calendar }) }
}
