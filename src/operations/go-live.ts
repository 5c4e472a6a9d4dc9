import type { AppContext } from '../context.ts'
import type { Transaction } from '../db/connect.ts'
import { insertActivation, updateOpenActivation } from '../db/queries/activations.ts'
import { insertCalls } from '../db/queries/calls.ts'
import { insertLiteralPatterns } from '../db/queries/embeddings.ts'
import { keepProcedures, lockProcedure } from '../db/queries/procedures.ts'
import {
  findActiveVersion,
  type ProcedureVersion,
  updateActivated,
  updateFindings,
  updateVersionStatus,
} from '../db/queries/versions.ts'
import type { Definition } from '../domain/definition.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { nextVersionStatus } from '../domain/version.ts'
import { literalPatterns } from '../search/literal.ts'
import { callsOf, checkVersion } from './check-version.ts'
import type { AuditEntry, Caller } from './define.ts'
import { findProcedureVersion, procedureNotFound } from './find-version.ts'
import { listMissingModels } from './prepare-version.ts'
import { requireApproval } from './require-approval.ts'
import { requireAcknowledged } from './routing-findings.ts'

/** What is to go live, and what the caller saw serving when they decided so. */
export interface GoLive {
  readonly procedureKey: string
  readonly versionNumber: number
  /** Number of the version that the caller saw active, or null for none. */
  readonly seenActive: number | null
  /** Ids of the routing findings that are accepted as they are, where no approval says so; default none. */
  readonly acknowledge?: readonly string[]
}

/**
 * The one way in which a version goes live: everything that activates comes through here. In the caller's transaction
 * and under the procedure's lock it checks that the version may, deprecates the one that served, and opens the new
 * range. On any error both stay as they were.
 *
 * @throws ServiceError `PROCEDURE_NOT_FOUND`, `VERSION_NOT_FOUND`, `VERSION_NOT_DRAFT`, `ACTIVATION_STALE`,
 *   `VERSION_HAS_ERRORS`, `VERSION_TOOL_CHANGED`, `VERSION_NOT_EMBEDDED`, `SCENARIOS_FAILED`, `APPROVAL_DECLINED`,
 *   `APPROVAL_MISSING`, `ROUTING_NOT_ACKNOWLEDGED`.
 */
export async function goLive(
  app: AppContext,
  caller: Caller,
  transaction: Transaction,
  request: GoLive,
): Promise<{ readonly version: ProcedureVersion; readonly audit: readonly AuditEntry[] }> {
  const { procedureKey, versionNumber, seenActive } = request
  const { principal } = caller
  const procedure = await lockProcedure(transaction, procedureKey)
  if (procedure === undefined) throw await procedureNotFound(transaction, procedureKey)
  const version = await findProcedureVersion(transaction, procedureKey, versionNumber)
  const predecessor = await findActiveVersion(transaction, procedureKey)
  const current = predecessor?.versionNumber ?? null
  if (current !== seenActive) {
    throw new ServiceError('ACTIVATION_STALE', { procedureKey, seen: seenActive, current })
  }
  const status = nextVersionStatus(version.status, 'activate')
  await lockCalled(transaction, version.definition)
  const checked = await checkMayGoLive(app, transaction, version)
  const models = await listMissingModels(transaction, app, version)
  if (models.length > 0) {
    throw new ServiceError('VERSION_NOT_EMBEDDED', { procedureKey, versionNumber, models })
  }
  const approval = await requireApproval(app, transaction, version)
  const acknowledged =
    approval.digest === null ? (request.acknowledge ?? []) : approval.acknowledged
  const routed = await requireAcknowledged(transaction, version, acknowledged)
  const findings = [...checked, ...routed]

  // Taken under the lock, so that of two activations the later one has the later time.
  const at = await updateOpenActivation(
    transaction,
    procedure.id,
    principal,
    new Date(app.clock.now()),
  )
  if (predecessor !== undefined) {
    await updateVersionStatus(
      transaction,
      predecessor.id,
      nextVersionStatus(predecessor.status, 'supersede'),
    )
  }
  // While it is a draft still: what it goes live with is what this check found, not what the last save did.
  await updateFindings(transaction, version.id, findings)
  await updateActivated(transaction, version.id, approval.digest)
  if (version.definition.internal !== true) {
    const patterns = literalPatterns(version.definition.issuePatterns ?? [])
    await insertLiteralPatterns(transaction, principal.tenantId, version.id, patterns)
  }
  await insertCalls(transaction, principal.tenantId, version.id, callsOf(version.definition))
  await insertActivation(transaction, {
    tenantId: principal.tenantId,
    procedureId: procedure.id,
    versionId: version.id,
    activeFrom: at,
    by: principal,
  })
  return {
    version: { ...version, status, findings, approvalDigest: approval.digest },
    audit: [
      {
        action: 'version.activated',
        entityKind: 'version',
        entityId: version.id,
        ...(predecessor && { beforeHash: predecessor.definitionHash }),
        afterHash: version.definitionHash,
        details: {
          procedureKey,
          versionNumber,
          replaced: current,
          approvalDigest: approval.digest,
          approvedBy: approval.approvedBy,
        },
        ungoverned: approval.digest === null,
      },
    ],
  }
}

/**
 * Keeps all that a definition calls, by itself or through others, as it is: of a caller and a change of what it calls that
 * go live at once, whichever comes second sees the other.
 */
async function lockCalled(transaction: Transaction, definition: Definition): Promise<void> {
  const seen = new Set([definition.key])
  let keys = callsOf(definition).filter((key) => !seen.has(key))
  while (keys.length > 0) {
    await keepProcedures(transaction, keys)
    const below = new Set<string>()
    for (const key of keys) {
      seen.add(key)
      const version = await findActiveVersion(transaction, key)
      for (const called of version === undefined ? [] : callsOf(version.definition))
        below.add(called)
    }
    keys = [...below].filter((key) => !seen.has(key))
  }
}

/** Checks again what was checked at saving, against the tools and procedures of this moment, and gives what is no error. */
async function checkMayGoLive(
  app: AppContext,
  transaction: Transaction,
  version: ProcedureVersion,
): Promise<readonly Finding[]> {
  const { procedureKey, versionNumber } = version
  const findings = await checkVersion(app, transaction, version.definition)
  const problems = findings.filter(({ severity }) => severity === 'error')
  if (problems.length > 0) {
    throw new ServiceError('VERSION_HAS_ERRORS', { procedureKey, versionNumber, problems })
  }
  const changed = Object.entries(version.toolContracts)
    .filter(([name, hash]) => app.tools.find(name, hash) === undefined)
    .map(([name]) => name)
  if (changed.length > 0) {
    throw new ServiceError('VERSION_TOOL_CHANGED', { procedureKey, versionNumber, tools: changed })
  }
  return findings
}
