import { z } from 'zod'
import { insertAuditEvent } from '../db/queries/audit.ts'
import { listAuditEvents } from '../db/queries/audit-list.ts'
import { listRunsToExport, listStepsToExport } from '../db/queries/export-runs.ts'
import { hasRecentRead } from '../db/queries/reads.ts'
import { canonicalJson } from '../domain/canonical.ts'
import { ServiceError } from '../domain/errors.ts'
import { rowTables } from '../domain/evidence.ts'
import { isId } from '../domain/ids.ts'
import type { JsonObject } from '../domain/json.ts'
import { toAuditEventOutput } from './audit-event-output.ts'
import { defineOperation, type OperationContext } from './define.ts'
import { executionListItem } from './execution-output.ts'
import { toExportedRun, toExportedStep } from './export-rows.ts'
import { type EvidencePlace, readEvidence } from './read-evidence.ts'
import { instant, jsonObject, procedureKey, versionNumber } from './shapes.ts'

const filters = z.strictObject({
  from: instant.optional().describe('At or after; of runs: started'),
  to: instant.optional().describe('Before'),
  procedureKey: procedureKey.optional(),
  versionNumber: versionNumber.optional(),
  status: executionListItem.shape.status.optional(),
  reasonCode: z.string().max(100).optional(),
  tool: z.string().max(200).optional().describe('Runs that have called it; of steps: those'),
  principal: z.string().max(200).optional().describe('Who acted, or requested the run'),
  customerId: z.string().max(200).optional(),
  ticketId: z.string().max(200).optional(),
})

type Filters = z.infer<typeof filters>

const pageSize = 1_000
/** After how long a further page is an export of its own in the audit log. */
const pagesWithinMs = 3_600_000

/** What filters mean nothing for. */
const notFor: Readonly<Record<string, readonly (keyof Filters)[]>> = {
  events: ['versionNumber', 'status', 'reasonCode', 'tool', 'customerId', 'ticketId'],
  evidence: [...filters.keyof().options],
}

/**
 * A page of an export, oldest first. Give `nextCursor` back, with the same input, until it is null. The audit log is told
 * that it was asked for, and with which filters: by its first page, and by any other that none of the last hour went before.
 */
export const exportAudit = defineOperation({
  name: 'exportAudit',
  administrative: true,
  summary: 'Export events, runs, steps, or all evidence',
  input: z.strictObject({
    what: z
      .enum(['events', 'executions', 'steps', 'evidence'])
      .describe('evidence: all that a verification needs'),
    filters: filters.default({}),
    cursor: z.string().max(1_000).optional().describe('`nextCursor` of the page before'),
  }),
  output: z.object({
    rows: z.array(jsonObject).describe('Flat, with the same members in each; lines of evidence'),
    nextCursor: z.string().nullable(),
  }),
  errors: [],
  roles: ['auditor'],
  async run(context, { what, filters: filter, cursor }) {
    const wrong = (notFor[what] ?? []).filter((name) => filter[name] !== undefined)
    if (wrong.length > 0) {
      const problems = wrong.map((name) => ({
        path: `filters.${name}`,
        message: `means nothing for an export of ${what}`,
      }))
      throw new ServiceError('REQUEST_INVALID', { operation: 'exportAudit', problems })
    }
    await record(context, what, filter, cursor !== undefined)
    switch (what) {
      case 'events':
        return exportEvents(context, filter, cursor)
      case 'executions':
        return exportRuns(context, filter, cursor)
      case 'steps':
        return exportSteps(context, filter, cursor)
      case 'evidence':
        return exportEvidence(context, cursor)
      default:
        return what satisfies never
    }
  },
})

export interface ExportPage {
  readonly rows: JsonObject[]
  readonly nextCursor: string | null
}

async function record(
  { app, caller, db }: OperationContext,
  what: string,
  filter: Filters,
  isFurther: boolean,
): Promise<void> {
  const at = app.clock.now()
  const { principal, origin } = caller
  const entry = { action: 'audit.exported', entityKind: 'tenant', entityId: db.tenantId } as const
  const details = { what, filters: givenOf(filter) }
  // A cursor is a text that anybody can write: it is no proof that the export was begun.
  const begun = { ...entry, actorId: principal.id, since: new Date(at - pagesWithinMs) }
  if (isFurther && (await hasRecentRead(db.kysely, { ...begun, details: canonicalJson(details) })))
    return
  await db.kysely
    .transaction()
    .execute((transaction) =>
      insertAuditEvent(transaction, { ...entry, details, at, principal, origin }),
    )
}

/** Events are never erased, so whose data was exported is not in them, only that it was that of one customer or ticket. */
function givenOf(filter: Filters): JsonObject {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => {
      if (value === undefined) return []
      return [[name, name === 'customerId' || name === 'ticketId' ? true : value] as const]
    }),
  )
}

/** With the bounds as instants. */
function bounded({ from, to, ...rest }: Filters) {
  return {
    ...rest,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  }
}

async function exportEvents(
  { db }: OperationContext,
  filter: Filters,
  cursor = '0',
): Promise<ExportPage> {
  const { from, to, principal, procedureKey: key } = bounded(filter)
  const events = await listAuditEvents(
    db.kysely,
    { from, to, principal, procedureKey: key },
    { limit: pageSize, after: numberOf(cursor) },
  )
  return {
    rows: events.map((event) => ({ ...toAuditEventOutput(event) })),
    nextCursor: events.length < pageSize ? null : String(events.at(-1)?.seq),
  }
}

async function exportRuns(
  { db }: OperationContext,
  filter: Filters,
  cursor = '',
): Promise<ExportPage> {
  if (cursor !== '' && !isId('execution', cursor)) throw cursorInvalid()
  const page = { after: cursor, limit: pageSize }
  const runs = await listRunsToExport(db.kysely, bounded(filter), page)
  return {
    rows: runs.map(toExportedRun),
    nextCursor: runs.length < pageSize ? null : (runs.at(-1)?.id ?? null),
  }
}

async function exportSteps(
  { db }: OperationContext,
  filter: Filters,
  cursor = ':0',
): Promise<ExportPage> {
  const [executionId = '', ordinal = ''] = cursor.split(':')
  if (executionId !== '' && !isId('execution', executionId)) throw cursorInvalid()
  const steps = await listStepsToExport(db.kysely, bounded(filter), {
    after: { executionId, ordinal: numberOf(ordinal) },
    limit: pageSize,
  })
  const last = steps.at(-1)
  return {
    rows: steps.map(toExportedStep),
    nextCursor:
      last === undefined || steps.length < pageSize ? null : `${last.execution_id}:${last.ordinal}`,
  }
}

async function exportEvidence(
  { app, db }: OperationContext,
  cursor: string | undefined,
): Promise<ExportPage> {
  const place = cursor === undefined ? undefined : placeOf(cursor)
  const { lines, next } = await readEvidence(app, db.tenantId, place, false)
  return {
    rows: lines.map((line) => ({ ...line }) as JsonObject),
    nextCursor: next === undefined ? null : JSON.stringify(next),
  }
}

const after = z.int().min(0)
const place: z.ZodType<EvidencePlace> = z.discriminatedUnion('part', [
  z.object({ part: z.literal('rows'), table: z.enum(rowTables), after: z.string() }),
  z.object({ part: z.literal('checkpoints'), after }),
  z.object({ part: z.literal('events'), after, seals: after }),
  z.object({
    part: z.literal('seals'),
    after,
    seals: after,
    head: z.object({ seq: after, hash: z.string().nullable() }),
  }),
])

function placeOf(cursor: string): EvidencePlace {
  try {
    const parsed = place.safeParse(JSON.parse(cursor))
    if (parsed.success) return parsed.data
  } catch {
    // Refused below, as anything else that no page has answered.
  }
  throw cursorInvalid()
}

function numberOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw cursorInvalid()
  return Number(text)
}

function cursorInvalid(): ServiceError {
  const problems = [{ path: 'cursor', message: 'is none that a page has answered' }]
  return new ServiceError('REQUEST_INVALID', { operation: 'exportAudit', problems })
}
