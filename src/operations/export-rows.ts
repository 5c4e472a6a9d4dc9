import type { ExportedRun, ExportedStep } from '../db/queries/export-runs.ts'
import { storedValue } from '../domain/canonical.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { withoutMarks } from '../domain/sensitive-value.ts'

/** The rows of an export, flat: a column each, in the order in which a table of them shows them. */

/** Sensitive values are shown as everywhere else. */
function shown(value: unknown): Json {
  return value === null || value === undefined ? null : withoutMarks(storedValue(value))
}

function time(at: Date | null): string | null {
  return at === null ? null : at.toISOString()
}

export function toExportedRun(row: ExportedRun): JsonObject {
  const requester = Object(row.requester)
  return {
    id: row.id,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    versionId: row.version_id,
    definitionHash: row.definition_hash,
    status: row.status,
    outcome: row.outcome,
    reasonCode: row.reason_code,
    reason: shown(row.reason),
    requesterId: String(requester.id),
    requesterKind: String(requester.kind),
    onBehalfOf: row.on_behalf_of,
    customerId: row.customer_id,
    ticketId: row.ticket_id,
    parentId: row.parent_id,
    rootId: row.root_id,
    createdAt: row.created_at.toISOString(),
    startedAt: time(row.started_at),
    endedAt: time(row.ended_at),
    dueAt: time(row.due_at),
    erasedAt: time(row.erased_at),
    takeOverCount: row.take_over_count,
    ticket: shown(row.ticket),
    input: shown(row.input),
    inputSources: shown(row.input_sources),
    selection: shown(row.selection),
    conditions: shown(row.conditions),
    result: shown(row.result),
    reply: row.reply_text,
  }
}

export function toExportedStep(row: ExportedStep): JsonObject {
  return {
    executionId: row.execution_id,
    procedureKey: row.procedure_key,
    versionNumber: row.version_number,
    ordinal: row.ordinal,
    stepKey: row.step_key,
    iteration: row.iteration,
    kind: row.kind,
    tool: row.tool,
    status: row.status,
    attempt: row.attempt,
    startedAt: row.started_at.toISOString(),
    endedAt: time(row.ended_at),
    input: shown(row.input),
    output: shown(row.output),
    error: shown(row.error),
    attempts: shown(row.attempts),
    exchange: shown(row.exchange),
  }
}
