import { canonicalJson } from '../../domain/canonical.ts'
import { ServiceError } from '../../domain/errors.ts'
import {
  type Due,
  type Durability,
  type ExecutionStart,
  semanticsVersion,
} from '../../domain/execution.ts'
import type { Id } from '../../domain/ids.ts'
import type { JsonObject } from '../../domain/json.ts'
import { stoppedBy } from '../../domain/kill-switch.ts'
import type { SelectionRecord } from '../../domain/selection.ts'
import type { SensitiveValue } from '../../domain/sensitive-value.ts'
import type { Claim } from '../../executor/ports.ts'
import type { TenantDb } from '../connect.ts'
import { constraintOf } from '../database-errors.ts'
import type { HotStatement, TextValue } from '../hot-statement.ts'
import type { InputSources } from './executions.ts'
import { findStoppingSwitch } from './kill-switches.ts'
import { sensitiveColumns } from './sensitive-values.ts'

/** What starting an execution stores. */
export interface NewExecution {
  readonly start: ExecutionStart
  readonly version: {
    readonly id: Id<'version'>
    readonly procedureId: Id<'procedure'>
    readonly procedureKey: string
    readonly versionNumber: number
    readonly definitionHash: string
    readonly toolContracts: Readonly<Record<string, string>>
  }
  readonly durability: Durability
  /** Null: it is left for any worker to begin. */
  readonly workerId: Id<'worker'> | null
  readonly context: JsonObject | null
  readonly ticketId: string | null
  readonly onBehalfOf: string | null
  readonly idempotencyKey: string | null
  readonly requestHash: string | null
  readonly selection?: SelectionRecord | undefined
  readonly inputSources?: InputSources | undefined
  /** When the case is to be done; absent where its playbook does not say. */
  readonly due?: Due | undefined
}

/**
 * The statement of a new execution. `isPlain`: it is not called, calls nothing, has no mode or calendar of its own, and is
 * not due at any time.
 */
function insertText(isPlain: boolean): string {
  const more = isPlain
    ? ''
    : ', pins, calendar, parent_id, parent_ordinal, root_id, call_path, due_at, due_warn_at'
  const moreValues = isPlain
    ? ''
    : ', $25::jsonb, $26::jsonb, $27, $28, $29, $30::jsonb, $31::timestamptz, $32::timestamptz'
  return `
  INSERT INTO executions (
    tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash, status,
    semantics_version, durability, mode, input, ticket, context, customer_id, ticket_id, requester, on_behalf_of,
    idempotency_key, request_hash, tool_contracts, fence, worker_id, revision, created_at, started_at,
    selection, input_sources${more})
  VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $20::text IS NULL THEN 'pending' ELSE 'running' END, $8, $9,
    ${isPlain ? "'automatic'" : '$24'}, $10::jsonb, $11::jsonb, $12::jsonb, $13, $14, $15::jsonb, $16, $17, $18, $19::jsonb,
    1, $20, 1, $21, CASE WHEN $20::text IS NOT NULL THEN $21::timestamptz END, $22::jsonb, $23::jsonb${moreValues})`
}

function statement(name: string, isPlain: boolean, isOnce: boolean): HotStatement {
  // Finding out that a key, or the place that a run is called from, is taken costs a record of the log: it is asked only
  // where there is one.
  const text = insertText(isPlain) + (isOnce ? '\n  ON CONFLICT DO NOTHING' : '')
  return { name, text }
}

/** The statement of one of which something is stored apart: that is written only if the execution is. */
function sealedStatement(name: string, isOnce: boolean): HotStatement {
  const insert = statement(name, false, isOnce)
  const text = `WITH e AS (${insert.text} RETURNING id)
  INSERT INTO sensitive_values (tenant_id, execution_id, ordinal, part, pointer, is_whole, digest, salt, value)
  SELECT $1, $2, r.*
  FROM e CROSS JOIN jsonb_to_recordset($33::jsonb) AS r(${sensitiveColumns})`
  return { name, text }
}

const plainInsert = statement('execution_insert', true, false)
const plainInsertOnce = statement('execution_insert_once', true, true)
const fullInsert = statement('execution_insert_full', false, false)
const fullInsertOnce = statement('execution_insert_full_once', false, true)
const sealedInsert = sealedStatement('execution_insert_sealed', false)
const sealedInsertOnce = sealedStatement('execution_insert_sealed_once', true)

/**
 * Stores a new execution in one commit: running and claimed by the worker (`firstClaim`), or pending for any, with what
 * is stored `apart` of it. Answers false when the idempotency key, or the step that calls it, has one already.
 *
 * @throws ServiceError `PROCEDURE_NOT_ACTIVE` when the version is not active any more, `PROCEDURE_STOPPED` when a switch
 *   stops it: the database refuses it.
 */
export async function insertExecution(
  db: TenantDb,
  execution: NewExecution,
  apart: readonly SensitiveValue[] = [],
): Promise<boolean> {
  const { start, version } = execution
  const isSealed = apart.length > 0
  const more = furtherValues(execution, isSealed)
  const isOnce = execution.idempotencyKey !== null || start.calledFrom !== undefined
  const insert = insertOf(more.length === 0 ? 'plain' : isSealed ? 'sealed' : 'full', isOnce)
  const count = await db
    .run(insert, [
      start.tenantId,
      start.executionId,
      version.procedureId,
      version.procedureKey,
      version.id,
      String(version.versionNumber),
      version.definitionHash,
      String(semanticsVersion),
      execution.durability,
      canonicalJson(start.input),
      start.ticket === null ? null : canonicalJson(start.ticket),
      execution.context === null ? null : canonicalJson(execution.context),
      execution.start.customerId ?? null,
      execution.ticketId,
      // Whose tenant is the row's own.
      canonicalJson({ ...start.requester, tenantId: undefined }),
      execution.onBehalfOf,
      execution.idempotencyKey,
      execution.requestHash,
      canonicalJson(version.toolContracts),
      execution.workerId,
      new Date(start.startedAt).toISOString(),
      jsonOrNull(execution.selection),
      jsonOrNull(execution.inputSources),
      ...more,
      ...(isSealed ? [JSON.stringify(apart)] : []),
    ])
    .catch((error: unknown) => {
      const { procedureKey } = version
      switch (constraintOf(error)) {
        case 'executions_of_active_version':
          throw new ServiceError('PROCEDURE_NOT_ACTIVE', { procedureKey }, { cause: error })
        case 'executions_not_stopped':
          return undefined
        default:
          throw error
      }
    })
  if (count !== undefined) return count > 0
  const { pins } = start
  const found = await findStoppingSwitch(db.kysely, db.tenantId, { ...version, pins })
  if (found !== undefined) {
    const { procedureKey } = version
    throw new ServiceError('PROCEDURE_STOPPED', { procedureKey, stopped: stoppedBy(found) })
  }
  // It was lifted in the meantime.
  return insertExecution(db, execution, apart)
}

function insertOf(kind: 'plain' | 'full' | 'sealed', isOnce: boolean): HotStatement {
  switch (kind) {
    case 'plain':
      return isOnce ? plainInsertOnce : plainInsert
    case 'full':
      return isOnce ? fullInsertOnce : fullInsert
    case 'sealed':
      return isOnce ? sealedInsertOnce : sealedInsert
    default:
      return kind satisfies never
  }
}

/** The parameters of a full insert beyond those of a plain one; none where all of them have their default. */
function furtherValues({ start, due }: NewExecution, isFull: boolean): TextValue[] {
  const { mode, pins, calendar, calledFrom } = start
  const isPlain = mode === undefined && calendar === undefined && calledFrom === undefined
  if (isPlain && pins === undefined && due === undefined && !isFull) return []
  return [
    mode ?? 'automatic',
    jsonOrNull(pins),
    jsonOrNull(calendar),
    calledFrom?.parentId ?? null,
    calledFrom === undefined ? null : String(calledFrom.parentOrdinal),
    calledFrom?.rootId ?? null,
    calledFrom === undefined ? null : JSON.stringify(calledFrom.path),
    instantOrNull(due?.at),
    instantOrNull(due?.warnAt),
  ]
}

/** The claim that whoever stores an execution for itself has on it. */
export function firstClaim({ tenantId, executionId }: ExecutionStart): Claim {
  return { tenantId, executionId, fence: 1 }
}

function instantOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** What says nothing is not stored. */
function jsonOrNull(value: object | undefined): string | null {
  return value === undefined || Object.keys(value).length === 0 ? null : canonicalJson(value)
}
