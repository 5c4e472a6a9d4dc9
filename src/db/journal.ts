import { ServiceError } from '../domain/errors.ts'
import type { ExecutionEnd, StepRow } from '../domain/execution.ts'
import { newId } from '../domain/ids.ts'
import type { Clock, Commit, Flags, Journal } from '../executor/ports.ts'
import type { Database } from './connect.ts'

/**
 * The runner's journal over the database.
 *
 * Each commit is one statement. Its first part updates the execution row under the claim's fence and takes the row's
 * lock; all other parts select from what it returned, so a stale claim writes nothing at all. (`WHERE EXISTS (… fence
 * = $3)` would not do: it reads a snapshot and let one write of two through.)
 */
export function createJournal(database: Database, clock: Clock): Journal {
  return {
    async commit(claim, commit): Promise<Flags> {
      const { tenantId, executionId, fence } = claim
      const { name, text } = statementFor(commit)
      const [row] = await database
        .forTenant(tenantId)
        .query<{ cancel_requested_at: Date | null; pause_requested_at: Date | null }>(name, text, [
          tenantId,
          executionId,
          fence,
          ...commitValues(commit, clock.now()),
        ])
      if (row === undefined) throw new ServiceError('LEASE_LOST', { executionId, fence })
      return {
        cancelRequested: row.cancel_requested_at !== null,
        pauseRequested: row.pause_requested_at !== null,
      }
    },
  }
}

/** The columns that a new step row is written with, and what its parameters are cast to. */
const stepColumns = [
  ['ordinal', 'int'],
  ['step_key', 'text'],
  ['iteration', 'text'],
  ['kind', 'text'],
  ['status', 'text'],
  ['attempt', 'int'],
  ['tool', 'text'],
  ['input', 'jsonb'],
  ['output', 'jsonb'],
  ['error', 'jsonb'],
  ['attempts', 'jsonb'],
  ['started_at', 'timestamptz'],
  ['ended_at', 'timestamptz'],
] as const

const columnNames = stepColumns.map(([name]) => name).join(', ')
const recordType = stepColumns.map((column) => column.join(' ')).join(', ')

/** Up to so many new rows travel as plain parameters, which cost the server a third less than one JSON text. */
const maxPlainRows = 8

interface Statement {
  readonly name: string
  readonly text: string
}

const statements = new Map<string, Statement>()

/** The statement for a commit of this shape, made once, so that it stays prepared under its name. */
function statementFor({ added, changed, end, leave, intent }: Commit): Statement {
  const rows = added.length > maxPlainRows ? 'json' : String(added.length)
  const ending = endingOf(end, leave)
  const hasChanged = changed.length > 0
  const hasIntent = intent !== undefined
  const name = `journal_${ending}_${rows}${hasChanged ? '_changed' : ''}${hasIntent ? '_intent' : ''}`
  const known = statements.get(name)
  if (known !== undefined) return known
  const made = { name, text: statementText(ending, added.length, hasChanged, hasIntent) }
  statements.set(name, made)
  return made
}

/** What a commit does to the execution besides counting its revision up. */
type Ending = 'go' | 'leave' | 'end' | 'escalate'

function endingOf(end: Commit['end'], leave: Commit['leave']): Ending {
  if (end !== undefined) return end.status === 'escalated' ? 'escalate' : 'end'
  return leave === undefined ? 'go' : 'leave'
}

function statementText(
  ending: Ending,
  addedCount: number,
  hasChanged: boolean,
  hasIntent: boolean,
): string {
  let last = 3
  const next = (type: string): string => {
    last += 1
    return `$${last}::${type}`
  }
  const set = {
    go: () => '',
    leave: () => `, worker_id = NULL, status = ${next('text')}, wake_at = ${next('timestamptz')}`,
    end: () =>
      `, worker_id = NULL, status = ${next('text')}, outcome = ${next('text')}, reason = ${next('jsonb')},
        result = ${next('jsonb')}, conditions = ${next('jsonb')}, ended_at = ${next('timestamptz')}`,
  }[ending === 'escalate' ? 'end' : ending]()
  const parts = [
    `e AS (
      UPDATE executions SET revision = revision + 1${set}
      WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND status = 'running'
      RETURNING revision, cancel_requested_at, pause_requested_at, reason, ticket, ended_at)`,
  ]
  // An intent is not written once somebody wants the run to stop, so that none is there of a call that is never made.
  const mayBegin = hasIntent
    ? `(r.ordinal <> ${next('int')} OR
        (e.pause_requested_at IS NULL AND (${next('boolean')} OR e.cancel_requested_at IS NULL)))`
    : undefined
  if (ending === 'escalate') {
    parts.push(`x AS (
      INSERT INTO escalations (tenant_id, id, execution_id, reason, queue, priority, ticket, opened_at,
        assignee, status, assigned_at)
      SELECT $1, ${next('text')}, $2, e.reason, ${next('text')}, ${next('text')}, e.ticket, e.ended_at,
        a.name, CASE WHEN a.name IS NULL THEN 'open' ELSE 'assigned' END,
        CASE WHEN a.name IS NULL THEN NULL ELSE e.ended_at END
      FROM e CROSS JOIN (VALUES (${next('text')})) AS a(name))`)
  }
  if (hasChanged) {
    parts.push(`c AS (
      UPDATE step_executions s SET status = r.status, attempt = r.attempt, output = r.output, error = r.error,
        attempts = r.attempts, ended_at = r.ended_at, revision = e.revision
      FROM e CROSS JOIN jsonb_to_recordset(${next('jsonb')}) AS r(${recordType})
      WHERE s.tenant_id = $1 AND s.execution_id = $2 AND s.ordinal = r.ordinal AND ${mayBegin ?? 'true'})`)
  }
  const answer = 'SELECT cancel_requested_at, pause_requested_at FROM e'
  if (addedCount === 0) return `WITH ${parts.join(',\n    ')}\n  ${answer}`
  const row = (): string => `(${stepColumns.map(([, type]) => next(type)).join(', ')})`
  const source =
    addedCount > maxPlainRows
      ? `jsonb_to_recordset(${next('jsonb')}) AS r(${recordType})`
      : `(VALUES ${Array.from({ length: addedCount }, row).join(', ')}) AS r(${columnNames})`
  const insert = `INSERT INTO step_executions (tenant_id, execution_id, ${columnNames}, revision)
      SELECT $1, $2, r.*, e.revision FROM e CROSS JOIN ${source}`
  // Where a row may be left out, the answer cannot come with it.
  if (mayBegin !== undefined) {
    parts.push(`a AS (${insert} WHERE ${mayBegin})`)
    return `WITH ${parts.join(',\n    ')}\n  ${answer}`
  }
  // The insert as the statement itself, and not as one of its parts, costs a twentieth less.
  return `WITH ${parts.join(',\n    ')}\n  ${insert}
      RETURNING (SELECT cancel_requested_at FROM e) AS cancel_requested_at,
        (SELECT pause_requested_at FROM e) AS pause_requested_at`
}

/** The parameters after the claim's, in the order in which `statementText` numbers them. */
function commitValues(
  { added, changed, end, leave, intent }: Commit,
  now: number,
): readonly unknown[] {
  return [
    ...(leave === undefined ? [] : [leave.status, timeText(leave.wakeAt)]),
    ...(end === undefined ? [] : endValues(end, now)),
    ...(intent === undefined ? [] : [intent.ordinal, intent.despiteCancel]),
    ...(changed.length > 0 ? [JSON.stringify(changed.map(toRecord))] : []),
    ...(added.length > maxPlainRows
      ? [JSON.stringify(added.map(toRecord))]
      : added.flatMap((row) => Object.values(toParameters(row)))),
  ]
}

function endValues(end: ExecutionEnd, now: number): readonly unknown[] {
  const { reason } = end
  const values = [
    end.status,
    end.outcome,
    jsonText(reason),
    jsonText(end.result),
    JSON.stringify(end.conditions),
    instantText(end.endedAt),
  ]
  if (end.status !== 'escalated') return values
  const { queue = 'support', priority = 'normal', assignee = null } = reason?.escalateTo ?? {}
  return [...values, newId('escalation', now), queue, priority, assignee]
}

type ColumnName = (typeof stepColumns)[number][0]

/** A row as a member of a JSON list. */
function toRecord(row: StepRow): { readonly [C in ColumnName]: unknown } {
  return {
    ordinal: row.ordinal,
    step_key: row.stepKey,
    iteration: row.iteration,
    kind: row.kind,
    status: row.status,
    attempt: row.attempt,
    tool: row.tool,
    input: row.input,
    output: row.output,
    error: row.error,
    attempts: row.attempts,
    started_at: instantText(row.startedAt),
    ended_at: timeText(row.endedAt),
  }
}

/** A row as parameters of its own, in the order of the columns. */
function toParameters(row: StepRow): { readonly [C in ColumnName]: unknown } {
  return {
    ...toRecord(row),
    input: jsonText(row.input),
    output: jsonText(row.output),
    error: jsonText(row.error),
    attempts: jsonText(row.attempts),
  }
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}

function timeText(at: number | null): string | null {
  return at === null ? null : instantText(at)
}

function instantText(at: number): string {
  return new Date(at).toISOString()
}
